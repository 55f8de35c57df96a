/* A report on the boot volume: report.json, .txt, .html and .csv in a folder of their own. */
#ifndef BARETICK_SAVE_H
#define BARETICK_SAVE_H

#include <stdbool.h>

#include "text.h"

#define SAVE_SENTENCE_SIZE 160

enum save_file { SAVE_JSON, SAVE_TEXT, SAVE_HTML, SAVE_CSV, SAVE_FILES };

/*
 * Writes TEXTS, by enum save_file, into the next folder \baretick\NNNN. Until all of them are on the
 * volume the folder is called NNNN.new, and nothing that was there before is opened for writing: whenever the power
 * goes, what has no .new is whole, if the writes come in order. Only a \baretick that has to grow for the new folder
 * may be cut off within that write. SENTENCE says where the texts are or, with false, why they are not; then what was
 * begun is removed, unless the volume no longer answers or lets nothing be removed.
 */
bool save_report(const struct text *const texts[SAVE_FILES], char sentence[SAVE_SENTENCE_SIZE]);

#endif
