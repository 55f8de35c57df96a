/* The console's only line, with functions that only boot/bare needs. See console.h for the rest. */
#ifndef BARETICK_LINE_H
#define BARETICK_LINE_H

#include <stdbool.h>
#include <stdint.h>

/* Returns true and a byte that was received since console_open(), or false if there is none. */
bool line_read(uint8_t *byte);

/*
 * Waits until all bytes are sent, because a reset would lose the bytes in the queue. The wait is bounded. After a
 * failed wait the line is not used any more, so that a run has at most one such wait.
 */
void line_drain(void);

/* Returns the name of the line in sentences. */
const char *get_line_name(void);

#endif
