/*
 * The numbered folders of saved reports: NNNN, or NNNN.new until all its files are written. A number counts as used if
 * any file or folder has it, and no number is used twice.
 */
#ifndef BARETICK_FOLDERS_H
#define BARETICK_FOLDERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FOLDERS_MAX       9999u
#define FOLDERS_NAME_SIZE 9 /* size of the name NNNN.new, with the final 0 */

/* The files in a folder. */
enum save_file { SAVE_JSON, SAVE_TEXT, SAVE_HTML, SAVE_CSV, SAVE_RECORD, SAVE_FILES };

/* Returns the number that the file or folder NAME uses, 1 to FOLDERS_MAX; 0 if it uses none. */
unsigned folders_number(const char *name);

/* Writes the name of folder NUMBER, with .new unless it is WHOLE. */
void folders_name(char name[FOLDERS_NAME_SIZE], unsigned number, bool whole);

/*
 * Returns an upper bound of the bytes that a new folder with COUNT files of LENGTHS takes on a volume with blocks of
 * BLOCK bytes. Each file starts a new block, and each directory that is made or grows takes a block.
 */
uint64_t folders_size_bytes(const size_t *lengths, size_t count, uint64_t block);

#endif
