/* The console's serial line, in addition to console.h. */
#ifndef BARETICK_COM1_H
#define BARETICK_COM1_H

#include <stdbool.h>
#include <stdint.h>

/* Takes a byte that was received since console_open(). Returns false if there is none. */
bool com1_read(uint8_t *byte);

/*
 * Waits until all bytes are sent, because a reset would lose those in the port's queue. The wait is bounded. The port
 * is given up after one wait in vain, so that a run has one such wait at most.
 */
void com1_drain(void);

#endif
