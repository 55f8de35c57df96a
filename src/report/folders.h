/*
 * The numbered folders of saved reports: NNNN, and NNNN.new while its files are written. Only a folder that is whole
 * loses the .new. A number is taken by whatever bears it, and none is used twice.
 */
#ifndef BARETICK_FOLDERS_H
#define BARETICK_FOLDERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FOLDERS_MAX       9999u
#define FOLDERS_NAME_SIZE 9 /* NNNN.new and the final 0 */

/* The files in such a folder. */
enum save_file { SAVE_JSON, SAVE_TEXT, SAVE_HTML, SAVE_CSV, SAVE_FILES };

/* The number that the file or folder NAME takes: 1 to FOLDERS_MAX; 0: none. */
unsigned folders_number(const char *name);

void folders_name(char name[FOLDERS_NAME_SIZE], unsigned number, bool whole);

/*
 * The bytes that a new folder with COUNT files of LENGTHS takes at most on a volume of blocks of BLOCK bytes: each file
 * in blocks of its own, and a block for each directory that is made or may have to grow.
 */
uint64_t folders_size_bytes(const size_t *lengths, size_t count, uint64_t block);

#endif
