/*
 * Reads and writes the ring buffers of Xen's console, by hypercalls. All layouts and numbers are from Xen's headers in
 * xen/include/public: xen.h, event_channel.h, sched.h, io/console.h, hvm/hvm_op.h and hvm/params.h.
 */
#include "bare/console/xen_console.h"

#include "hw/cpuid.h"
#include "hw/hw.h"

/* range of CPUID leaves that hypervisors use; their interfaces start at multiples of LEAVES_STEP (arch-x86/cpuid.h) */
#define LEAVES_BEGIN 0x40000000u
#define LEAVES_END   0x40010000u
#define LEAVES_STEP  0x100u
#define XEN_EBX      0x566e6558u /* EBX, ECX and EDX of Xen's first leaf: "XenVMMXenVMM" */
#define XEN_ECX      0x65584d4du
#define XEN_EDX      0x4d4d566eu

#define SCHED_OP         29u
#define SCHED_YIELD      0u
#define SCHED_SHUTDOWN   2u
#define EVENT_CHANNEL_OP 32u
#define EVENT_SEND       4u
#define HVM_OP           34u
#define HVM_GET_PARAM    1u
#define CONSOLE_PAGE     17u
#define CONSOLE_EVENT    18u
#define DOMAIN_SELF      0x7ff0u
#define PAGE_SHIFT       12
#define PAGES_END        (UINT64_C(1) << 20) /* number of pages in the 4 GiB that boot/bare/entry.nasm maps */

#define IN_SIZE  1024u
#define OUT_SIZE 2048u

/*
 * Maximum number of yields in one wait. They take 0.8 s or more, because a yield takes 0.2 us or more. The wait must be
 * longer than 200 ms, because Xen's console daemon may pause a guest for 200 ms if it sends many events.
 */
#define YIELDS_MAX 4000000u

struct xen_ring {
	uint8_t in[IN_SIZE], out[OUT_SIZE];
	/* numbers of bytes read and written so far in the two rings; they wrap at 32 bits */
	uint32_t in_consumer, in_producer, out_consumer, out_producer;
};

struct hvm_param {
	uint16_t domain, padding;
	uint32_t index;
	uint64_t value; /* the parameter's value, which Xen sets */
};

/* True during a hypercall. Stays true if the instruction faults, so that no other hypercall is tried. */
static bool is_calling;

static bool
runs_under_xen(void)
{
	if (!(hw_cpuid(LEAF_FEATURES, 0).ecx & FEATURES_ECX_HYPERVISOR))
		return false;
	for (uint32_t leaf = LEAVES_BEGIN; leaf < LEAVES_END; leaf += LEAVES_STEP) {
		struct hw_cpuid found = hw_cpuid(leaf, 0);

		if (found.ebx == XEN_EBX && found.ecx == XEN_ECX && found.edx == XEN_EDX)
			return true;
	}
	return false;
}

/* Returns Xen's result: a negative number is an error. */
static int64_t
call_xen(uint64_t number, uint64_t operation, const void *argument)
{
	if (is_calling)
		return -1;
	is_calling = true;
	int64_t answer = hw_xen_hypercall(number, operation, (uintptr_t)argument, 0);

	is_calling = false;
	return answer;
}

/* Returns parameter INDEX of this guest, or 0 if Xen refuses. */
static uint64_t
read_guest_parameter(uint32_t index)
{
	struct hvm_param param = { .domain = DOMAIN_SELF, .index = index };

	return call_xen(HVM_OP, HVM_GET_PARAM, &param) ? 0 : param.value;
}

bool
xen_console_open(struct xen_console *console)
{
	uint64_t page = runs_under_xen() ? read_guest_parameter(CONSOLE_PAGE) : 0;

	if (!page || page >= PAGES_END)
		return false;
	*console = (struct xen_console){
		.ring = (struct xen_ring *)(uintptr_t)(page << PAGE_SHIFT),
		.event_channel = (uint32_t)read_guest_parameter(CONSOLE_EVENT),
	};
	return true;
}

/* Notifies Xen's console daemon that the ring has changed. */
static void
notify_console_daemon(const struct xen_console *console)
{
	(void)call_xen(EVENT_CHANNEL_OP, EVENT_SEND, &console->event_channel);
}

/* Waits until at most UNREAD_MAX bytes in the output ring are unread. Returns false after YIELDS_MAX yields. */
static bool
wait_until_ring_is_read(struct xen_console *console, uint32_t unread_max)
{
	const struct xen_ring *ring = console->ring;

	if (!console->is_given_up)
		notify_console_daemon(console);
	for (unsigned yields = 0; yields < YIELDS_MAX && !console->is_given_up; yields++) {
		if (ring->out_producer - __atomic_load_n(&ring->out_consumer, __ATOMIC_ACQUIRE) <= unread_max)
			return true;
		(void)call_xen(SCHED_OP, SCHED_YIELD, NULL);
	}
	console->is_given_up = true;
	return false;
}

/*
 * Writes to Xen's output ring. Notifies Xen's console daemon only at the end of a line and when the ring is full,
 * because the daemon limits the number of a guest's events.
 */
bool
xen_console_write(void *device, const char *bytes, size_t size)
{
	struct xen_console *console = device;
	struct xen_ring *ring = console->ring;

	for (size_t i = 0; i < size; i++) {
		uint32_t at = ring->out_producer;

		if (at - __atomic_load_n(&ring->out_consumer, __ATOMIC_ACQUIRE) >= OUT_SIZE &&
		    !wait_until_ring_is_read(console, OUT_SIZE - 1))
			return false;
		ring->out[at % OUT_SIZE] = (uint8_t)bytes[i];
		__atomic_store_n(&ring->out_producer, at + 1, __ATOMIC_RELEASE);
	}
	if (size && bytes[size - 1] == '\n')
		notify_console_daemon(console);
	return !console->is_given_up;
}

bool
xen_console_flush(struct xen_console *console)
{
	return wait_until_ring_is_read(console, 0);
}

bool
xen_console_read(struct xen_console *console, uint8_t *byte)
{
	struct xen_ring *ring = console->ring;
	uint32_t at = ring->in_consumer;

	if (at == __atomic_load_n(&ring->in_producer, __ATOMIC_ACQUIRE))
		return false;
	*byte = ring->in[at % IN_SIZE];
	__atomic_store_n(&ring->in_consumer, at + 1, __ATOMIC_RELEASE);
	return true;
}

void
xen_end_guest(enum xen_end how)
{
	uint32_t reason = how;

	if (runs_under_xen())
		(void)call_xen(SCHED_OP, SCHED_SHUTDOWN, &reason);
}
