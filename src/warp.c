/* The contended warp check. See warp.h. */
#include "warp.h"

#define MEETING_PAUSES   (1u << 22) /* for the others to arrive */
#define LOCK_PAUSES      (1u << 20) /* for one turn: who holds the lock may be preempted, or dead */
#define POLITE_PAUSES    64 /* after a turn, for another core to take one: it alone is proof */
#define TURNS_FRACTION   10 /* a core with less than a tenth of its turns is starved */
#define HANDOVERS_MIN    8  /* and so is one that nearly never followed another */

size_t
warp_table_size(size_t cores)
{
	return sizeof(struct warp_table) + cores * sizeof(struct warp_slot);
}

void
warp_begin(struct warp_table *table, size_t cores, uint64_t turns)
{
	__builtin_memset(table, 0, warp_table_size(cores));
	table->cores = cores;
	table->turns = turns;
	table->last_core = cores;
}

static bool
stopped(const struct warp_table *table)
{
	return __atomic_load_n(&table->stop, __ATOMIC_RELAXED) != 0;
}

/* Begins together with the others where they come; their absence shows in the turns. */
static void
meet(struct warp_table *table, size_t expected, void (*pause)(void))
{
	__atomic_add_fetch(&table->arrived, 1, __ATOMIC_ACQ_REL);
	for (unsigned i = 0; i < MEETING_PAUSES && !stopped(table); i++) {
		if (__atomic_load_n(&table->arrived, __ATOMIC_ACQUIRE) >= expected)
			return;
		pause();
	}
}

static bool
take_lock(struct warp_table *table, void (*pause)(void))
{
	for (unsigned i = 0; i < LOCK_PAUSES && !stopped(table); i++) {
		/* Looked at before it is written: those who wait leave the line with the core that works. */
		if (!__atomic_load_n(&table->lock, __ATOMIC_RELAXED) &&
		    !__atomic_exchange_n(&table->lock, 1, __ATOMIC_ACQUIRE))
			return true;
		pause();
	}
	return false;
}

/* Lets another core go first, for a moment: it may be asleep. */
static void
be_polite(const struct warp_table *table, size_t core, void (*pause)(void))
{
	for (unsigned i = 0; i < POLITE_PAUSES && !stopped(table); i++) {
		pause();
		if (__atomic_load_n(&table->last_core, __ATOMIC_RELAXED) != core)
			return;
	}
}

void
warp_play(struct warp_table *table, size_t core, size_t expected, sample_bracket *tsc,
	  void (*pause)(void))
{
	struct warp_slot *slot = &table->slots[core];

	uint64_t start = 0, spent = 0;

	meet(table, expected, pause);
	while (slot->turns < table->turns && !(table->bound_ticks && spent > table->bound_ticks) &&
	       take_lock(table, pause)) {
		uint64_t before = table->last_tsc;
		uint64_t from = table->last_core;
		uint64_t now = tsc();

		table->last_tsc = now;
		__atomic_store_n(&table->last_core, core, __ATOMIC_RELAXED);
		__atomic_store_n(&table->lock, 0, __ATOMIC_RELEASE);
		start = slot->turns ? start : now;
		spent = now > start ? now - start : 0;
		slot->turns++;
		slot->handovers += from != core && from < table->cores;
		if (now < before) {
			slot->warps++;
			if (before - now > slot->worst_ticks) {
				slot->worst_ticks = before - now;
				slot->worst_ahead = from;
			}
		}
		be_polite(table, core, pause);
	}
}

void
warp_stop(struct warp_table *table)
{
	__atomic_store_n(&table->stop, 1, __ATOMIC_RELAXED);
}

struct warp_result
warp_result(const struct warp_table *table, size_t expected)
{
	struct warp_result result = { 0 };

	for (size_t i = 0; i < table->cores; i++) {
		const struct warp_slot *slot = &table->slots[i];

		if (!slot->turns)
			continue;
		result.cores++;
		result.turns += slot->turns;
		result.warps += slot->warps;
		result.starved |= slot->turns < table->turns / TURNS_FRACTION ||
				  slot->handovers < HANDOVERS_MIN;
		if (slot->worst_ticks > result.worst_ticks) {
			result.worst_ticks = slot->worst_ticks;
			result.worst_ahead = (size_t)slot->worst_ahead;
			result.worst_behind = i;
		}
	}
	result.starved |= result.cores < expected;
	return result;
}
