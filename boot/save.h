/* A report on the boot volume: report.json, .txt, .html and .csv in a folder of their own. */
#ifndef BARETICK_SAVE_H
#define BARETICK_SAVE_H

#include "files.h"
#include "plan.h"

/*
 * Writes the texts of PLAN, which were rendered, into the next folder, whose name goes to FOLDER. False, and REASON a
 * sentence, where not all of them landed.
 */
bool save_report(const struct plan *plan, char folder[FILES_FOLDER_SIZE], char reason[FILES_REASON_SIZE]);

#endif
