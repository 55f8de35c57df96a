/* How a run ended, as isa-debug-exit and the caller get it. */
#ifndef BARETICK_RESULT_H
#define BARETICK_RESULT_H

#include "report/report.h"

#define DEBUG_EXIT_PORT 0x501 /* QEMU isa-debug-exit at iobase=0x501; written only when asked to */

enum exit_result { EXIT_PASS = 0x10, EXIT_FAIL, EXIT_INCOMPLETE, EXIT_ERROR }; /* on isa-debug-exit */

enum exit_result exit_result_of(enum verdict verdict);

#endif
