/*
 * The marker of a run that is not over: a file of one sector in \baretick, with a name for each machine, so that a
 * stick that is carried around keeps what happened where.
 */
#ifndef BARETICK_RUNNING_H
#define BARETICK_RUNNING_H

#include <stdbool.h>
#include <stddef.h>

#define RUNNING_NAME_SIZE 13 /* a name of the form 01234567.run, and the final 0 */

/* What was left in BYTES, SIZE at most. 0: nothing. */
size_t running_read(const char *name, char *bytes, size_t size);

/*
 * Writes the marker and has it on the volume by the time that it returns. FOLDER_MADE is set where \baretick had to be
 * made for it. False: the volume takes none.
 */
bool running_mark(const char *name, const char *bytes, size_t length, bool *folder_made);

/* Removes the marker, and \baretick if that was made for it and is empty. */
void running_end(const char *name, bool folder_made);

#endif
