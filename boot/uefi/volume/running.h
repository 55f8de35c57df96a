/*
 * The marker of a run that has not ended. It is a file of one sector in \baretick. Its name differs between machines,
 * so that a stick that is used on several machines keeps their markers apart.
 */
#ifndef BARETICK_RUNNING_H
#define BARETICK_RUNNING_H

#include <stdbool.h>
#include <stddef.h>

#define RUNNING_NAME_SIZE 13 /* size of a name such as 01234567.run, with the final 0 */

/* Reads at most SIZE bytes of the marker into BYTES. Returns its length, or 0 if there is no marker. */
size_t running_read_file(const char *name, char *bytes, size_t size);

/*
 * Writes the marker. It is on the volume when this function returns. Sets FOLDER_MADE if this call created \baretick.
 * Returns false if the marker cannot be written.
 */
bool running_write_file(const char *name, const char *bytes, size_t length, bool *folder_made);

/* Removes the marker, and \baretick if it was created for the marker and is empty. */
void running_remove_file(const char *name, bool folder_made);

#endif
