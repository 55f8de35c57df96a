/* The console's only serial line, with functions that only boot/bare needs. See console.h for the others. */
#ifndef BARETICK_SERIAL_LINE_H
#define BARETICK_SERIAL_LINE_H

#include <stdbool.h>
#include <stdint.h>

/* Returns true and the next byte that was received since console_open(). Returns false if there is none. */
bool serial_line_read_byte(uint8_t *byte);

/*
 * Waits until all bytes are sent, because a reset would lose the bytes in the queue. The wait has a limit. If the limit
 * is reached, the line is not used any more, so a run has at most one such wait.
 */
void serial_line_flush(void);

/* Returns the line's name for sentences, such as "the serial line". */
const char *serial_line_get_name(void);

#endif
