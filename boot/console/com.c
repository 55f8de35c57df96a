/* Drives a serial port. See com.h. The registers are described in National's PC16550D data sheet, section 8. */
#include "console/com.h"

#include "hw/hw.h"

enum {
	DATA, DIVISOR_LOW = 0, INTERRUPTS = 1, DIVISOR_HIGH = 1, FIFO = 2, LINE = 3, MODEM = 4, STATUS = 5, SCRATCH = 7
};

#define FIFO_CLEARED    0x07u /* switches the queues on and empties them */
#define FIFO_IS_ON      0xc0u /* bits of the interrupt identification register (IIR), set if the queues are on */
#define FIFO_SIZE       16u
#define LINE_8N1        0x03u
#define LINE_DIVISOR    0x80u
#define DIVISOR_115200  1u
#define MODEM_READY     0x03u /* the signals DTR and RTS: this port is ready */
#define MODEM_LOOP      0x10u
#define STATUS_RECEIVED 0x01u
#define STATUS_EMPTY    0x20u /* THRE: the send queue is empty, but its last byte may not be sent yet */
#define STATUS_SENT     0x40u /* TEMT: the last byte is sent */
#define STATUS_NOTHING  0xffu /* value that a port without a device returns */

/*
 * Maximum number of status reads in one wait. The 16 bytes of the queue are sent within 1.4 ms. A read takes about 1 us
 * on a bus and up to 100 us in a guest. So the wait ends after 4 s on hardware, and after minutes in a slow guest.
 * Afterwards the port is not used any more.
 */
#define POLLS_MAX 4000000u

/*
 * Maximum number of status reads in a wait for a received byte. They take 10 ms or more. A byte takes 87 us at 115,200
 * baud.
 */
#define RECEIVE_POLLS 10000u
#define DROPPED_MAX   64u /* maximum number of received bytes that are discarded at once; more than the queue holds */

static uint8_t
read_register(const struct com *com, unsigned at)
{
	return hw_in8((uint16_t)(com->port + at));
}

static void
write_register(const struct com *com, unsigned at, uint8_t value)
{
	hw_out8((uint16_t)(com->port + at), value);
}

static bool
scratch_register_keeps_value(const struct com *com, uint8_t value)
{
	write_register(com, SCRATCH, value);
	return read_register(com, SCRATCH) == value;
}

static bool
is_16550_present(const struct com *com)
{
	return scratch_register_keeps_value(com, 0x5a) && scratch_register_keeps_value(com, 0xa5) &&
	       read_register(com, STATUS) != STATUS_NOTHING;
}

static void
set_baud_divisor(const struct com *com, uint8_t low, uint8_t high, uint8_t line)
{
	write_register(com, LINE, LINE_DIVISOR);
	write_register(com, DIVISOR_LOW, low);
	write_register(com, DIVISOR_HIGH, high);
	write_register(com, LINE, line);
}

static void
store_found_registers(struct com *com)
{
	struct com_registers *found = &com->found;

	found->interrupts = read_register(com, INTERRUPTS);
	found->line = read_register(com, LINE);
	found->modem = read_register(com, MODEM);
	found->has_queue = (read_register(com, FIFO) & FIFO_IS_ON) == FIFO_IS_ON;
	write_register(com, LINE, LINE_DIVISOR);
	found->divisor_low = read_register(com, DIVISOR_LOW);
	found->divisor_high = read_register(com, DIVISOR_HIGH);
	write_register(com, LINE, found->line);
}

bool
com_open(struct com *com, uint16_t port)
{
	*com = (struct com){ .port = port, .burst = 1 };
	com->found.scratch = read_register(com, SCRATCH);
	bool there = is_16550_present(com);

	write_register(com, SCRATCH, com->found.scratch);
	if (!there)
		return false;
	store_found_registers(com);
	write_register(com, INTERRUPTS, 0);
	set_baud_divisor(com, DIVISOR_115200, 0, LINE_8N1);
	write_register(com, FIFO, FIFO_CLEARED);
	write_register(com, MODEM, MODEM_READY);
	if ((read_register(com, FIFO) & FIFO_IS_ON) == FIFO_IS_ON)
		com->burst = FIFO_SIZE;
	return true;
}

/*
 * Waits until BIT of the status is set, with at most POLLS_MAX reads. Returns false if the bit is not set by then, or
 * if an earlier wait failed.
 */
static bool
wait_for_status(struct com *com, uint8_t bit)
{
	for (unsigned polls = 0; polls < POLLS_MAX && !com->is_given_up; polls++) {
		if (read_register(com, STATUS) & bit)
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
		if (i % com->burst == 0 && !wait_for_status(com, STATUS_EMPTY))
			return false;
		write_register(com, DATA, (uint8_t)bytes[i]);
	}
	return true;
}

bool
com_flush(struct com *com)
{
	return wait_for_status(com, STATUS_SENT);
}

bool
com_read(const struct com *com, uint8_t *byte)
{
	uint8_t status = read_register(com, STATUS);

	if (status == STATUS_NOTHING || !(status & STATUS_RECEIVED))
		return false;
	*byte = read_register(com, DATA);
	return true;
}

void
com_close(struct com *com)
{
	(void)com_flush(com);
	set_baud_divisor(com, com->found.divisor_low, com->found.divisor_high, com->found.line);
	write_register(com, FIFO, com->found.has_queue ? FIFO_CLEARED : 0);
	write_register(com, MODEM, com->found.modem);
	write_register(com, INTERRUPTS, com->found.interrupts);
}

void
com_set_loopback(const struct com *com, bool on)
{
	write_register(com, MODEM, on ? MODEM_READY | MODEM_LOOP : MODEM_READY);
}

bool
com_wait_for_received_byte(const struct com *com)
{
	uint8_t byte;
	bool heard = false;

	for (unsigned polls = 0; polls < RECEIVE_POLLS && !heard; polls++)
		heard = com_read(com, &byte);
	for (unsigned i = 0; i < DROPPED_MAX && com_read(com, &byte); i++)
		;
	return heard;
}
