/* Saves a report on the boot volume: the files report.json, .txt, .html, .csv and .record in a new folder. */
#ifndef BARETICK_SAVE_H
#define BARETICK_SAVE_H

#include <stdbool.h>

#include "base/text.h"
#include "report/folders.h"

#define SAVE_FOLDER        "\\baretick"
#define SAVE_SENTENCE_SIZE 160

/*
 * Returns false if the volume is damaged so that the firmware would hang. Sets SENTENCE to the reason. Call this before
 * all other functions here and in marker_file.h.
 */
bool save_check_volume(char sentence[SAVE_SENTENCE_SIZE]);

/*
 * Writes TEXTS, indexed by enum save_file, into the folder \baretick\NNNN. NNNN is NUMBER, or the next free number if
 * NUMBER is 0. The folder is called NNNN.new until all texts are written, and no existing file is opened for writing.
 * If the device keeps the order of writes, each folder without .new is therefore complete even after a power cut. Only
 * the list of folders in \baretick may be incomplete after a power cut. SENTENCE names the folder. On failure this
 * function returns false, and SENTENCE is the reason. The incomplete folder is removed if the volume allows it.
 */
bool save_report(const struct text *const texts[SAVE_FILES], unsigned number, char sentence[SAVE_SENTENCE_SIZE]);

/*
 * Saves a checkpoint as save_report() does, but only if another report of the same size would fit afterwards, because
 * the run's final report follows.
 */
bool save_checkpoint(const struct text *const texts[SAVE_FILES], unsigned number);

/* Removes the folder NUMBER of this run. First renames it to NNNN.new, the name of an incomplete folder. */
void save_remove_report(unsigned number);

/* Returns true if the folder with NUMBER is still called NNNN.new, because the firmware cannot rename. */
bool save_has_incomplete_folder(unsigned number);

/* Returns true if the report.json in the folder with the highest number is equal to JSON. */
bool save_is_latest_report(const struct text *json);

/* Returns the number after the highest used number. Returns 0 if no number is free, or if the volume cannot be read. */
unsigned save_find_next_report_number(void);

#endif
