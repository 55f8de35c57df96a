/* Functions of the console's only serial line that only boot/bare uses. console.h declares the others. */
#ifndef BARETICK_SERIAL_LINE_H
#define BARETICK_SERIAL_LINE_H

#include <stdbool.h>
#include <stdint.h>

/* Returns true and the next byte that was received since console_open(). Returns false if there is none. */
bool serial_line_read_byte(uint8_t *byte);

/*
 * Waits until all bytes are sent, because a reset would lose the bytes in the queue. After a time-out the line is not
 * used any more.
 */
void serial_line_flush(void);

/* Returns the line's name for sentences, such as "the serial line". */
const char *serial_line_get_name(void);

#endif
