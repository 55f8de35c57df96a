/* Files on the volume that the application was started from: options in, reports out. */
#ifndef BARETICK_FILES_H
#define BARETICK_FILES_H

#include "firmware.h"

#define FILES_REASON_SIZE 160
#define FILES_FOLDER_SIZE 32

/*
 * Reads baretick.cfg, beside the application or else at the root of its volume, into BUFFER. Returns false
 * where there is none. A file that is longer than SIZE gives LENGTH = its true length, and the first SIZE bytes.
 */
bool files_read_options(char *buffer, size_t size, size_t *length);

/*
 * Makes the next folder \baretick\NNNN, whose name goes to FOLDER. False, and REASON a sentence, where the
 * volume can't be written to; then no report can.
 */
bool files_make_folder(char folder[FILES_FOLDER_SIZE], char reason[FILES_REASON_SIZE]);

/* Writes one file into a folder that files_make_folder made; false, and REASON a sentence, where not all of it
 * landed. */
bool files_write(const char *folder, const char *name, const char *bytes, size_t length,
		 char reason[FILES_REASON_SIZE]);

#endif
