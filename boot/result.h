/* The result of a run as an exit value, for QEMU's isa-debug-exit and for the caller of the application. */
#ifndef BARETICK_RESULT_H
#define BARETICK_RESULT_H

#include "report/report.h"

#define DEBUG_EXIT_PORT 0x501 /* port of QEMU's isa-debug-exit at iobase=0x501; written only with exit=debug-exit */

enum exit_result { EXIT_PASS = 0x10, EXIT_FAIL, EXIT_INCOMPLETE, EXIT_ERROR }; /* values written to isa-debug-exit */

enum exit_result get_exit_result(enum verdict verdict);

#endif
