/* The console's serial line, with functions that only boot/bare needs. See console.h for the rest. */
#ifndef BARETICK_COM1_H
#define BARETICK_COM1_H

#include <stdbool.h>
#include <stdint.h>

/* Returns true and a byte that was received since console_open(), or false if there is none. */
bool com1_read(uint8_t *byte);

/*
 * Waits until all bytes are sent, because a reset would lose the bytes in the port's queue. The wait is bounded. After
 * a failed wait the port is not used any more, so that a run has at most one such wait.
 */
void com1_drain(void);

#endif
