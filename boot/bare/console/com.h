/* A serial port with the registers of a 16550, at 115,200 baud, 8 bits, no parity. */
#ifndef BARETICK_COM_H
#define BARETICK_COM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COM1_PORT 0x3f8u

struct com {
	uint16_t port;
	unsigned burst; /* bytes that it takes at once when it is empty */
	bool is_given_up; /* a wait for it failed: nothing more is sent, and nothing waited for */
};

/* Returns false if there is no such port at PORT. Then only its scratch register was written. */
bool com_open(struct com *com, uint16_t port);

/* A write() of struct serial_line with a struct com as its device. */
bool com_write(void *com, const char *bytes, size_t size);

/* Waits until the last byte has left the port. Returns false if that takes too long, or if the port was given up. */
bool com_drain(struct com *com);

/* Takes a received byte. Returns false if there is none. */
bool com_read(const struct com *com, uint8_t *byte);

#endif
