/*
 * Saved reports are in numbered folders with names NNNN. While the files of a folder are being written, its name is
 * NNNN.new. A number is in use if any file or folder has it as its name, and no number is used twice.
 */
#ifndef BARETICK_FOLDERS_H
#define BARETICK_FOLDERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FOLDERS_MAX       9999u
#define FOLDERS_NAME_SIZE 9 /* size of the name NNNN.new with its final 0 */

/* The files in a folder. */
enum save_file { SAVE_JSON, SAVE_TEXT, SAVE_HTML, SAVE_CSV, SAVE_RECORD, SAVE_FILES };

/* Returns the number, 1 to FOLDERS_MAX, if NAME is NNNN or NNNN.new. Otherwise returns 0. */
unsigned folders_parse_number(const char *name);

/* Writes the name of folder NUMBER: NNNN if WHOLE is true, otherwise NNNN.new. */
void folders_make_name(char name[FOLDERS_NAME_SIZE], unsigned number, bool whole);

/*
 * Returns an upper bound of the bytes that a new folder needs on a volume with blocks of BLOCK bytes. The folder has
 * COUNT files with the sizes LENGTHS. Each file needs whole blocks. Each directory that is created or extended needs
 * another block.
 */
uint64_t folders_max_size_bytes(const size_t *lengths, size_t count, uint64_t block);

#endif
