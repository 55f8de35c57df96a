/*
 * The console of a Xen guest, which `xl console` shows, and the hypercalls that end a guest. They are needed because a
 * PVH guest of Xen has no 16550, no reset register and no sleep port.
 */
#ifndef BARETICK_XEN_CONSOLE_H
#define BARETICK_XEN_CONSOLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct xen_console {
	struct xen_ring *ring;
	uint32_t event_channel;
	bool is_given_up; /* true after a wait failed; no more bytes are sent */
};

/* Values of Xen's struct sched_shutdown. */
enum xen_end { XEN_POWEROFF = 0, XEN_REBOOT = 1 };

/*
 * Opens Xen's console. Returns false, and leaves CONSOLE unchanged, if this is no guest of Xen, or if the guest has no
 * console below 4 GiB.
 */
bool xen_console_open(struct xen_console *console);

/* Implements write() of struct serial_line. CONSOLE is a struct xen_console. */
bool xen_console_write(void *console, const char *bytes, size_t size);

/* Waits until Xen has read all bytes. Returns false if this takes too long, or if an earlier wait failed. */
bool xen_console_flush(struct xen_console *console);

/* Returns true and a received byte, or false if there is none. */
bool xen_console_read(struct xen_console *console, uint8_t *byte);

/* Ends this guest. Returns if there is no Xen, or if Xen refuses. */
void xen_end_guest(enum xen_end how);

#endif
