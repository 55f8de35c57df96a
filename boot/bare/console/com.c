/* National's PC16550D data sheet, section 8, has the registers. See com.h. */
#include "bare/console/com.h"

#include "hw/hw.h"

enum {
	DATA, DIVISOR_LOW = 0, INTERRUPTS = 1, DIVISOR_HIGH = 1, FIFO = 2, LINE = 3, MODEM = 4, STATUS = 5, SCRATCH = 7
};

#define FIFO_CLEARED    0x07u /* on, and emptied */
#define FIFO_IS_ON      0xc0u /* as register 2 reads then */
#define FIFO_SIZE       16u
#define LINE_8N1        0x03u
#define LINE_DIVISOR    0x80u
#define DIVISOR_115200  1u
#define MODEM_READY     0x03u /* DTR, RTS */
#define STATUS_RECEIVED 0x01u
#define STATUS_EMPTY    0x20u /* its queue; a byte may still be on the line */
#define STATUS_SENT     0x40u /* that byte, too */
#define STATUS_NOTHING  0xffu /* the value of a port without a device */

/*
 * Sixteen bytes are sent within 1.4 ms. A read of the status takes about 1 us on a bus and up to 100 us in a guest.
 * Therefore this bound is 4 s or more, and minutes in a slow guest. A port that is not ready by then is given up, so
 * that a run waits for it once.
 */
#define POLLS_MAX 4000000u

static uint8_t
get(const struct com *com, unsigned at)
{
	return hw_in8((uint16_t)(com->port + at));
}

static void
set(const struct com *com, unsigned at, uint8_t value)
{
	hw_out8((uint16_t)(com->port + at), value);
}

static bool
keeps(const struct com *com, uint8_t value)
{
	set(com, SCRATCH, value);
	return get(com, SCRATCH) == value;
}

bool
com_open(struct com *com, uint16_t port)
{
	*com = (struct com){ port, 1, false };
	if (!keeps(com, 0x5a) || !keeps(com, 0xa5) || get(com, STATUS) == STATUS_NOTHING)
		return false;
	set(com, INTERRUPTS, 0);
	set(com, LINE, LINE_DIVISOR);
	set(com, DIVISOR_LOW, DIVISOR_115200);
	set(com, DIVISOR_HIGH, 0);
	set(com, LINE, LINE_8N1);
	set(com, FIFO, FIFO_CLEARED);
	set(com, MODEM, MODEM_READY);
	if ((get(com, FIFO) & FIFO_IS_ON) == FIFO_IS_ON)
		com->burst = FIFO_SIZE;
	return true;
}

/* Waits for BIT of the status, at most POLLS_MAX reads. Returns false if it does not come, or if COM was given up. */
static bool
has(struct com *com, uint8_t bit)
{
	for (unsigned polls = 0; polls < POLLS_MAX && !com->is_given_up; polls++) {
		if (get(com, STATUS) & bit)
			return true;
		hw_pause();
	}
	com->is_given_up = true;
	return false;
}

bool
com_write(void *device, const char *bytes, size_t size)
{
	struct com *com = device;

	for (size_t i = 0; i < size; i++) {
		if (i % com->burst == 0 && !has(com, STATUS_EMPTY))
			return false;
		set(com, DATA, (uint8_t)bytes[i]);
	}
	return true;
}

bool
com_drain(struct com *com)
{
	return has(com, STATUS_SENT);
}

bool
com_read(const struct com *com, uint8_t *byte)
{
	uint8_t status = get(com, STATUS);

	if (status == STATUS_NOTHING || !(status & STATUS_RECEIVED))
		return false;
	*byte = get(com, DATA);
	return true;
}
