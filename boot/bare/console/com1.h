/* Bytes received by the console's serial line. */
#ifndef BARETICK_COM1_H
#define BARETICK_COM1_H

#include <stdbool.h>
#include <stdint.h>

/* Takes a byte that was received since console_open(). Returns false if there is none. */
bool com1_read(uint8_t *byte);

#endif
