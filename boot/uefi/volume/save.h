/* A report on the boot volume: report.json, .txt, .html, .csv and .record in a folder of their own. */
#ifndef BARETICK_SAVE_H
#define BARETICK_SAVE_H

#include <stdbool.h>

#include "base/text.h"
#include "report/folders.h"

#define SAVE_FOLDER        "\\baretick"
#define SAVE_SENTENCE_SIZE 160

/*
 * To be asked before anything else here or in running.h: false, and SENTENCE says why, where the volume is damaged
 * so that the firmware would never come back.
 */
bool save_is_safe(char sentence[SAVE_SENTENCE_SIZE]);

/*
 * Writes TEXTS, by enum save_file, into the folder \baretick\NNNN of NUMBER (0 for the next one). Until all texts are
 * on the volume the folder is called NNNN.new, and no older file is opened for writing. So after a power cut each
 * folder without .new is complete, if writes come in order. Only the growth of \baretick may be cut off. SENTENCE names
 * the folder. If this returns false, SENTENCE has the reason, and the unfinished folder is removed if the volume allows
 * it.
 */
bool save_report(const struct text *const texts[SAVE_FILES], unsigned number, char sentence[SAVE_SENTENCE_SIZE]);

/* Likewise, but only where the volume has space for another one of that size: the run's own report is still to come. */
bool save_checkpoint(const struct text *const texts[SAVE_FILES], unsigned number);

/* Removes the folder of NUMBER, which this run has made: it is called NNNN.new before it stops to be whole. */
void save_drop(unsigned number);

/* Returns true if the folder of NUMBER is still called NNNN.new, as after a run on firmware that can't rename. */
bool save_is_unrenamed(unsigned number);

/* Returns true if the folder before the next number has JSON as its report.json. */
bool save_is_latest(const struct text *json);

/* Returns the number after all used numbers, or 0 if there is none or the volume cannot be read. */
unsigned save_next_number(void);

#endif
