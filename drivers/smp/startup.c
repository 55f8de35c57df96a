/* Starts cores by INIT-SIPI-SIPI. Order and times are from the MP Specification 1.4, B.4. See startup.h. */
#include "smp/startup.h"

#include "hw/wait.h"

#define INIT_NS          (10 * WAIT_NS_PER_MS) /* wait from INIT to SIPI: MP Specification 1.4, B.4 */
#define SIPI_NS          UINT64_C(200000)      /* wait from the first SIPI to the second: MP Specification 1.4, B.4 */
/* maximum wait for the next core while fewer cores than expected have checked in */
#define ARRIVAL_NS       WAIT_NS_PER_S
/* maximum wait for another core after all expected cores have checked in */
#define QUIET_NS         (20 * WAIT_NS_PER_MS)
#define TRIES            2 /* if a core is in SMM, it may miss both SIPIs, so the sequence is repeated */
/* used while the TSC's rate is not known; above the rate of any TSC, so that no wait is too short */
#define UNKNOWN_TSC_HZ   UINT64_C(10000000000)

struct rate
startup_get_tsc_rate_or_default(struct rate tsc)
{
	if (tsc.num == 0 || tsc.den == 0)
		return (struct rate){UNKNOWN_TSC_HZ, 1};
	return tsc;
}

static void
startup_wait_ns(const struct startup *startup, uint64_t ns)
{
	struct wait wait = wait_begin(&startup->scale, ns);

	while (wait_has_time_left(&wait))
		;
}

static bool
has_core_arrived(const struct core_slot *slot)
{
	return __atomic_load_n(&slot->arrived, __ATOMIC_ACQUIRE) != 0;
}

/* Returns the number of cores with state CORE_REQUESTED that have checked in. */
static size_t
startup_count_arrived_cores(const struct startup *startup)
{
	size_t arrived = 0;

	for (size_t i = 1; i < startup->count; i++)
		if (startup->slots[i].state == CORE_REQUESTED && has_core_arrived(&startup->slots[i]))
			arrived++;
	return arrived;
}

static size_t
startup_send_inits(const struct startup *startup)
{
	size_t sent = 0;

	for (size_t i = 1; i < startup->count; i++) {
		struct core_slot *slot = &startup->slots[i];

		if (slot->state != CORE_REQUESTED || has_core_arrived(slot))
			continue;
		if (!lapic_can_address(&startup->lapic, slot->apic_id))
			slot->state = CORE_UNADDRESSABLE;
		else if (!lapic_send_init(&startup->lapic, slot->apic_id))
			slot->state = CORE_UNSENT;
		else
			sent++;
	}
	return sent;
}

/*
 * Sends a SIPI to each core in state CORE_REQUESTED that has not checked in. If the LAPIC fails to send it, sets the
 * core's state to UNSENT. Returns the number of cores that are still in state CORE_REQUESTED.
 */
static size_t
startup_send_sipis(const struct startup *startup, enum core_state unsent)
{
	size_t expected = 0;

	for (size_t i = 1; i < startup->count; i++) {
		struct core_slot *slot = &startup->slots[i];

		if (slot->state != CORE_REQUESTED)
			continue;
		if (!has_core_arrived(slot) &&
		    !lapic_send_startup(&startup->lapic, slot->apic_id, startup->page))
			slot->state = unsent;
		expected += slot->state == CORE_REQUESTED;
	}
	return expected;
}

/* Waits until EXPECTED cores have checked in, but at most for BOUND_NS after the latest of them. */
static void
startup_await_arrivals(const struct startup *startup, size_t expected, uint64_t bound_ns)
{
	struct wait wait = wait_begin(&startup->scale, bound_ns);
	size_t seen = startup_count_arrived_cores(startup);

	while (seen < expected && wait_has_time_left(&wait)) {
		size_t arrived = startup_count_arrived_cores(startup);

		if (arrived > seen)
			wait = wait_begin(&startup->scale, bound_ns);
		seen = arrived;
	}
}

/* Sends INIT-SIPI-SIPI to the cores that have not checked in, and waits until they check in. */
static void
startup_start_cores_once(const struct startup *startup)
{
	if (startup_send_inits(startup) == 0)
		return;
	startup_wait_ns(startup, INIT_NS);
	size_t expected = startup_send_sipis(startup, CORE_UNSENT);

	startup_wait_ns(startup, SIPI_NS);
	/* If the second SIPI cannot be sent, the state stays CORE_REQUESTED, because the first SIPI may be enough. */
	startup_send_sipis(startup, CORE_REQUESTED);
	startup_await_arrivals(startup, expected, ARRIVAL_NS);
}

size_t
startup_start_cores(const struct startup *startup)
{
	size_t alive = 0;

	for (unsigned tries = 0; tries < TRIES; tries++)
		startup_start_cores_once(startup);
	for (size_t i = 1; i < startup->count; i++) {
		struct core_slot *slot = &startup->slots[i];

		if (slot->state == CORE_REQUESTED && has_core_arrived(slot)) {
			slot->state = CORE_ALIVE;
			alive++;
		}
	}
	startup_stop_cores(startup, 1, startup->count, CORE_REQUESTED, CORE_SILENT);
	return alive;
}

void
startup_start_by_broadcast(const struct startup *startup, const uint32_t *arrived, size_t expected)
{
	if (!lapic_broadcast_init(&startup->lapic))
		return;
	startup_wait_ns(startup, INIT_NS);
	lapic_broadcast_startup(&startup->lapic, startup->page);
	startup_wait_ns(startup, SIPI_NS);
	lapic_broadcast_startup(&startup->lapic, startup->page); /* a core that has started ignores the second SIPI */
	for (uint32_t seen = 0;; seen = __atomic_load_n(arrived, __ATOMIC_ACQUIRE)) {
		/* more than EXPECTED cores may come, because EXPECTED may include only the cores of one package */
		bool may_come = !seen || seen < expected;
		struct wait wait = wait_begin(&startup->scale, may_come ? ARRIVAL_NS : QUIET_NS);

		while (__atomic_load_n(arrived, __ATOMIC_ACQUIRE) == seen)
			if (!wait_has_time_left(&wait))
				return;
	}
}

void
startup_clear_apic_ids(uint32_t *ids, size_t space)
{
	for (size_t i = 0; i < space; i++)
		ids[i] = STARTUP_NO_ID;
}

size_t
startup_compact_apic_ids(uint32_t *ids, size_t count)
{
	size_t written = 0;

	for (size_t i = 0; i < count; i++) {
		uint32_t id = __atomic_load_n(&ids[i], __ATOMIC_ACQUIRE);

		if (id != STARTUP_NO_ID)
			ids[written++] = id;
	}
	return written;
}

void
startup_print_unlisted_apic_id(struct text *text, const uint32_t *first_id)
{
	uint32_t id = __atomic_load_n(first_id, __ATOMIC_ACQUIRE);

	text_put(text, "Some core started with an APIC id that the MADT does not list");
	if (id != STARTUP_NO_ID)
		text_printf(text, ", the first with %u", id);
	text_put(text, ".");
}

void
startup_stop_cores(const struct startup *startup, size_t first, size_t end,
		   enum core_state before, enum core_state after)
{
	size_t stopped = 0;

	for (size_t i = first; i < end; i++) {
		struct core_slot *slot = &startup->slots[i];

		if (i == 0 || slot->state != before)
			continue;
		lapic_send_init(&startup->lapic, slot->apic_id);
		slot->state = after;
		stopped++;
	}
	if (stopped > 0)
		startup_wait_ns(startup, INIT_NS);
}

const char *const startup_explanations[] = {
	[CORE_NOT_REQUESTED] = "left out: fewer cores were requested",
	[CORE_REQUESTED] = "was not started",
	[CORE_ALIVE] = "",
	[CORE_UNADDRESSABLE] = "its APIC id is above 254, which xAPIC mode can't address",
	[CORE_UNSENT] = "the boot core's local APIC did not send INIT or SIPI to this core",
	[CORE_SILENT] = "did not answer INIT-SIPI-SIPI",
	[CORE_LATE] = "did not finish a job in time, and was stopped",
	[CORE_EXCEPTION] = "took an exception in a job",
	[CORE_STOPPED] = "",
};
