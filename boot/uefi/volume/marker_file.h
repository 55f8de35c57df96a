/*
 * The marker of a run that has not ended. It is a file of one sector in \baretick. Its name differs between machines,
 * so that a stick that is used on several machines keeps their markers apart.
 */
#ifndef BARETICK_MARKER_FILE_H
#define BARETICK_MARKER_FILE_H

#include <stdbool.h>
#include <stddef.h>

#define MARKER_FILE_NAME_SIZE 13 /* size of a name such as 01234567.run, with the final 0 */

/* Reads at most SIZE bytes of the marker into BYTES. Returns its length, or 0 if there is no marker. */
size_t marker_file_read(const char *name, char *bytes, size_t size);

/*
 * Writes the marker. It is on the volume when this function returns. Sets FOLDER_MADE if this call created \baretick.
 * Returns false if the marker cannot be written.
 */
bool marker_file_write(const char *name, const char *bytes, size_t length, bool *folder_made);

/* Removes the marker, and \baretick if it was created for the marker and is empty. */
void marker_file_remove(const char *name, bool folder_made);

#endif
