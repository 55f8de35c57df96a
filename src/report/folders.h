/*
 * The numbered folders of saved reports: NNNN, and NNNN.new while its files are written. Only a complete folder
 * loses the .new. Any file or folder with a number takes that number, and no number is used twice.
 */
#ifndef BARETICK_FOLDERS_H
#define BARETICK_FOLDERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FOLDERS_MAX       9999u
#define FOLDERS_NAME_SIZE 9 /* NNNN.new and the final 0 */

/* Files in such a folder. */
enum save_file { SAVE_JSON, SAVE_TEXT, SAVE_HTML, SAVE_CSV, SAVE_RECORD, SAVE_FILES };

/* The number that the file or folder NAME takes, 1 to FOLDERS_MAX; 0 if none. */
unsigned folders_number(const char *name);

void folders_name(char name[FOLDERS_NAME_SIZE], unsigned number, bool whole);

/*
 * Upper bound of the bytes that a new folder with COUNT files of LENGTHS takes on a volume with blocks of BLOCK
 * bytes. Each file starts a new block, and each directory that is made or grows takes a block.
 */
uint64_t folders_size_bytes(const size_t *lengths, size_t count, uint64_t block);

#endif
