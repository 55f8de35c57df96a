/*
 * A serial port with the registers of a 16550, at 115,200 baud, 8 bits, no parity. It is accessed directly, without the
 * firmware's driver.
 */
#ifndef BARETICK_COM_H
#define BARETICK_COM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COM1_PORT 0x3f8u

struct com {
	uint16_t port;
	unsigned burst; /* bytes that the port accepts at once when its queue is empty */
	bool is_given_up; /* true after a wait failed; no more bytes are sent */
	struct com_registers {
		uint8_t interrupts, line, modem, scratch, divisor_low, divisor_high;
		bool has_queue;
	} found; /* values of the registers before com_open() changed them */
};

/*
 * Opens the port. Returns false if there is no 16550 at PORT. In this case only the scratch register was written, and
 * it was restored.
 */
bool com_open(struct com *com, uint16_t port);

/* Waits until the last byte is sent, then restores the registers that com_open() changed. */
void com_close(struct com *com);

/*
 * Switches the loop-back mode on or off. In this mode the port receives each byte that is written to it, and sends
 * nothing.
 */
void com_set_loopback(const struct com *com, bool on);

/*
 * Waits some milliseconds for a received byte. Returns false if none was received. Otherwise discards it and all bytes
 * that follow.
 */
bool com_wait_for_received_byte(const struct com *com);

/* Implements write() of struct serial_line. COM is a struct com. */
bool com_write(void *com, const char *bytes, size_t size);

/* Waits until the last byte has left the port. Returns false if this takes too long, or if an earlier wait failed. */
bool com_flush(struct com *com);

/* Returns true and stores the next received byte in BYTE. Returns false if there is none. */
bool com_read(const struct com *com, uint8_t *byte);

#endif
