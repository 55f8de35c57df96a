/* A serial port with the registers of a 16550, at 115,200 baud, 8 bits, no parity, without its firmware's driver. */
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
	struct com_registers {
		uint8_t interrupts, line, modem, scratch, divisor_low, divisor_high;
		bool has_queue;
	} found; /* before com_open() changed them */
};

/* Returns false if there is no such port at PORT. Then only its scratch register was written, and is as it was. */
bool com_open(struct com *com, uint16_t port);

/* Waits for the last byte, then restores the registers that com_open() found. */
void com_close(struct com *com);

/* In the loop-back mode each byte that is written comes back, and none leaves the port. */
void com_set_loop(const struct com *com, bool on);

/* Waits some milliseconds for a received byte, and drops it with all that follow it. Returns false if none came. */
bool com_hears(const struct com *com);

/* A write() of struct serial_line with a struct com as its device. */
bool com_write(void *com, const char *bytes, size_t size);

/* Waits until the last byte has left the port. Returns false if that takes too long, or if the port was given up. */
bool com_drain(struct com *com);

/* Takes a received byte. Returns false if there is none. */
bool com_read(const struct com *com, uint8_t *byte);

#endif
