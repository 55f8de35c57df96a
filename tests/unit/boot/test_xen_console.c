/*
 * Xen's console, and how a guest of Xen ends itself. The simulated Xen reads the console's bytes at an event, later,
 * or never.
 */
#include "test.h"
#include <setjmp.h>
#include <sys/mman.h>
#include "bare/console/xen_console.h"
#include "hw/cpuid.h"
#include "sim.h"

enum { IN = 1024, OUT = 2048, SHUTDOWN_NONE = 99 };

/* The console's ring is in a page below 4 GiB, as in Xen. */
static struct {
	uint8_t in[IN], out[OUT];
	uint32_t in_consumer, in_producer, out_consumer, out_producer;
} *ring;

static struct {
	bool takes;      /* true if the console's daemon reads the ring when an event comes */
	bool late;       /* true if the daemon reads the ring only after a yield */
	uint64_t page;   /* parameter 17 */
	char taken[3 * OUT];
	size_t length;
	unsigned events, yields;
	uint32_t shutdown;
} xen;

static void
take(void)
{
	for (; ring->out_consumer != ring->out_producer; ring->out_consumer++)
		xen.taken[xen.length++] = (char)ring->out[ring->out_consumer % OUT];
}

static int64_t
answer_param(uint64_t address)
{
	struct {
		uint16_t domain, padding;
		uint32_t index;
		uint64_t value;
	} *param = (void *)(uintptr_t)address;

	if (param->domain != 0x7ff0 || param->index < 17 || param->index > 18)
		return -22; /* EINVAL */
	param->value = param->index == 17 ? xen.page : 7;
	return 0;
}

static int64_t
hypercall(uint64_t number, uint64_t first, uint64_t second, uint64_t third)
{
	const uint32_t *argument = (const void *)(uintptr_t)second;

	if (number == 34 && first == 1)
		return answer_param(second);
	if (number == 32 && first == 4) {
		assert_int_equal(*argument, 7);
		xen.events++;
		if (xen.takes && !xen.late)
			take();
	} else if (number == 29 && first == 0) {
		xen.yields++;
		if (xen.takes)
			take();
	} else if (number == 29 && first == 2) {
		xen.shutdown = *argument;
	} else {
		return -38; /* ENOSYS */
	}
	return 0;
}

/* Starts a guest whose CPUID leaves list another interface before Xen's, as with Xen's option viridian=1. */
static void
start_xen(void)
{
	sim_reset();
	if (!ring)
		ring = mmap(NULL, sizeof(*ring), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	assert_ptr_not_equal(ring, MAP_FAILED);
	memset(ring, 0, sizeof(*ring));
	memset(&xen, 0, sizeof(xen));
	xen.takes = true;
	xen.shutdown = SHUTDOWN_NONE;
	xen.page = (uintptr_t)ring >> 12;
	sim_cpuid_set(LEAF_FEATURES, 0, (struct hw_cpuid){ .ecx = FEATURES_ECX_HYPERVISOR });
	sim_cpuid_set(0x40000000, 0, (struct hw_cpuid){ 0x40000005, 0x7263694d, 0x666f736f, 0x76482074 });
	sim_cpuid_set(0x40000100, 0, (struct hw_cpuid){ 0x40000105, 0x566e6558, 0x65584d4d, 0x4d4d566e });
	sim.hypercall = hypercall;
}

/* Lets each further hypercall cause an exception. */
static void
start_without_xen(void)
{
	start_xen();
	sim_cpuid_set(0x40000100, 0, (struct hw_cpuid){ 0 });
	sim.hypercall = NULL;
}

static struct xen_console
opened(void)
{
	struct xen_console console;

	assert_true(xen_console_open(&console));
	return console;
}

/* Fills TEXT with SIZE letters, in the order of the alphabet. */
static void
fill(char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		text[i] = (char)('a' + i % 26);
}

TEST_FIXTURE(start_xen, NULL);

TEST(without_xen_no_hypercall_is_made, start_without_xen, NULL)
{
	struct xen_console console;

	assert_false(xen_console_open(&console));
	xen_end_guest(XEN_POWEROFF);
}

TEST(a_xen_without_a_console_for_this_guest_is_not_opened)
{
	struct xen_console console;

	xen.page = 0;
	assert_false(xen_console_open(&console));
	xen.page = UINT64_C(1) << 20;
	assert_false(xen_console_open(&console));
}

TEST(a_complete_line_sends_one_event_and_a_part_of_a_line_none)
{
	struct xen_console console = opened();

	assert_true(xen_console_write(&console, "phase: ", 7));
	assert_int_equal(xen.events, 0);
	assert_true(xen_console_write(&console, "rates\r\n", 7));
	assert_int_equal(xen.events, 1);
	assert_int_equal(xen.length, 14);
	assert_memory_equal(xen.taken, "phase: rates\r\n", 14);
}

TEST(a_full_ring_waits_for_the_console_and_loses_no_byte)
{
	struct xen_console console = opened();
	static char text[2 * OUT + 100];

	xen.late = true;
	ring->out_consumer = ring->out_producer = UINT32_MAX - 10; /* both counters will soon wrap at 32 bits */
	fill(text, sizeof(text));
	assert_true(xen_console_write(&console, text, sizeof(text)));
	assert_int_equal(xen.yields, 2);
	assert_int_equal(xen.length, 2 * OUT);
	assert_true(xen_console_flush(&console));
	assert_int_equal(xen.length, sizeof(text));
	assert_memory_equal(xen.taken, text, sizeof(text));
}

TEST(a_console_that_reads_nothing_is_awaited_once)
{
	struct xen_console console = opened();
	static char text[OUT + 1];

	xen.takes = false;
	fill(text, sizeof(text));
	assert_false(xen_console_write(&console, text, sizeof(text)));
	assert_in_range(xen.yields, 1, 10000000);
	xen.yields = xen.events = 0;
	assert_false(xen_console_flush(&console));
	assert_false(xen_console_write(&console, text, 1));
	assert_int_equal(xen.yields + xen.events, 0);
}

TEST(received_bytes_are_read_once)
{
	struct xen_console console = opened();
	uint8_t byte = 0;

	assert_false(xen_console_read(&console, &byte));
	ring->in_consumer = IN - 1;
	ring->in_producer = IN + 1;
	ring->in[IN - 1] = 'q';
	ring->in[0] = 'w';
	assert_true(xen_console_read(&console, &byte));
	assert_int_equal(byte, 'q');
	assert_true(xen_console_read(&console, &byte));
	assert_int_equal(byte, 'w');
	assert_false(xen_console_read(&console, &byte));
	assert_int_equal(ring->in_consumer, IN + 1);
}

TEST(the_guest_ends_with_a_power_off_or_a_reboot)
{
	xen_end_guest(XEN_POWEROFF);
	assert_int_equal(xen.shutdown, 0);
	xen_end_guest(XEN_REBOOT);
	assert_int_equal(xen.shutdown, 1);
}

static jmp_buf faulted;
static unsigned faults;

static int64_t
fault(uint64_t number, uint64_t first, uint64_t second, uint64_t third)
{
	faults++;
	longjmp(faulted, 1);
}

/* This must be the last test, because hypercalls stay disabled after it. */
TEST(after_a_hypercall_that_faults_there_are_no_more)
{
	struct xen_console console;

	sim.hypercall = fault;
	if (!setjmp(faulted))
		xen_console_open(&console);
	assert_false(xen_console_open(&console));
	xen_end_guest(XEN_REBOOT);
	assert_int_equal(faults, 1);
}
