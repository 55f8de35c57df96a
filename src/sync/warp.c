/* Runs the warp check on each core. See warp.h. */
#include "sync/warp.h"

/*
 * maximum number of pauses while a core waits for the lock; needed because a host may preempt the core that holds the
 * lock
 */
#define LOCK_PAUSES    (1u << 20)
#define ROUND_TURNS    8
/*
 * Maximum number of pauses while a core waits at the end of a round, for each core of the check. The wait is limited
 * because a host may preempt a core, and a core may stop answering.
 */
#define ROUND_PAUSES   1024
/* if this many waits at the end of a round have timed out, no core waits there any more */
#define ROUNDS_MISSED  4
/*
 * maximum number of attempts to replace the shared stamp; each failure means that another core has just replaced it
 */
#define RAISE_TRIES    64
/*
 * A core pauses up to this often after its turn, so that another core can have the next turn. Only a turn directly
 * after another core's turn can show a warp.
 */
#define POLITE_PAUSES  64
#define TURNS_FRACTION 10 /* if a core has less than a tenth of its turns, the check proves nothing */
/* if a core had fewer turns than this directly after another core's turn, the check proves nothing */
#define HANDOVERS_MIN  8
#define STAMP_MAX      (UINT64_MAX >> WARP_CORE_BITS)
/*
 * Stamps start in the middle of their range, which has 64 - WARP_CORE_BITS bits. At 5 GHz the range extends five days
 * in both directions.
 */
#define STAMP_MIDDLE   (STAMP_MAX / 2)

struct turn { /* Result of one core's turn in the warp check. */
	uint64_t now_tsc;
	uint64_t from;         /* the core that left the last stamp; the number of cores if there was no stamp */
	uint64_t behind_ticks; /* size of the warp in ticks; 0 if the stamp was not ahead */
};

size_t
warp_table_bytes(size_t cores)
{
	return sizeof(struct warp_table) + cores * sizeof(struct warp_slot);
}

void
warp_begin(struct warp_table *table, enum warp_kind kind, size_t cores, uint64_t turns,
	   uint64_t now_tsc)
{
	__builtin_memset(table, 0, warp_table_bytes(cores));
	table->kind = kind;
	table->cores = cores;
	table->turns = turns;
	table->base_tsc = now_tsc - STAMP_MIDDLE;
	table->last_core = cores;
}

static bool
take_lock(struct warp_table *table, void (*pause)(void))
{
	for (unsigned i = 0; i < LOCK_PAUSES && !barrier_is_stopped(&table->barrier); i++) {
		/*
		 * The lock is read before it is written, so that waiting cores do not take the cache line from the
		 * core that holds the lock.
		 */
		if (!__atomic_load_n(&table->lock, __ATOMIC_RELAXED) &&
		    !__atomic_exchange_n(&table->lock, 1, __ATOMIC_ACQUIRE))
			return true;
		pause();
	}
	return false;
}

static bool
take_turn_locked(struct warp_table *table, size_t core, struct warp_reader reader, void (*pause)(void),
		 struct turn *turn)
{
	if (!take_lock(table, pause))
		return false;

	uint64_t before = table->last_tsc;
	uint64_t from = table->last_core;
	uint64_t now = reader.read(reader.context);

	table->last_tsc = now;
	__atomic_store_n(&table->last_core, core, __ATOMIC_RELAXED);
	__atomic_store_n(&table->lock, 0, __ATOMIC_RELEASE);
	*turn = (struct turn){ now, from, now < before ? before - now : 0 };
	return true;
}

/*
 * Returns the stamp for the TSC reading NOW_TSC: its distance from base_tsc, limited to the range from 1 to
 * STAMP_MAX.
 */
static uint64_t
make_stamp(const struct warp_table *table, uint64_t now_tsc)
{
	int64_t ahead = (int64_t)(now_tsc - table->base_tsc - STAMP_MIDDLE);

	if (ahead > (int64_t)(STAMP_MAX - STAMP_MIDDLE))
		return STAMP_MAX;
	if (ahead < 1 - (int64_t)STAMP_MIDDLE)
		return 1;
	return STAMP_MIDDLE + (uint64_t)ahead;
}

/*
 * Returns the core in the low bits of PACKED, a stamp with its core. Returns the number of cores if PACKED is 0 (no
 * stamp).
 */
static uint64_t
unpack_core(const struct warp_table *table, uint64_t packed)
{
	return packed ? packed & (WARP_CORES_MAX - 1) : table->cores;
}

static bool
take_turn_lock_free(struct warp_table *table, size_t core, struct warp_reader reader, struct turn *turn)
{
	uint64_t seen = __atomic_load_n(&table->last_packed, __ATOMIC_ACQUIRE);
	uint64_t now = reader.read(reader.context);
	uint64_t stamp = make_stamp(table, now), before = seen >> WARP_CORE_BITS;
	uint64_t packed = stamp << WARP_CORE_BITS | core;

	*turn = (struct turn){ now, unpack_core(table, seen), stamp < before ? before - stamp : 0 };
	for (unsigned i = 0; i < RAISE_TRIES && seen < packed; i++)
		if (__atomic_compare_exchange_n(&table->last_packed, &seen, packed, false, __ATOMIC_ACQ_REL,
						__ATOMIC_RELAXED))
			break;
	return !barrier_is_stopped(&table->barrier);
}

static bool
take_turn(struct warp_table *table, size_t core, struct warp_reader reader, void (*pause)(void),
	  struct turn *turn)
{
	return table->kind == WARP_LOCKED ? take_turn_locked(table, core, reader, pause, turn) :
		take_turn_lock_free(table, core, reader, turn);
}

static uint64_t
get_core_of_last_turn(const struct warp_table *table)
{
	return table->kind == WARP_LOCKED ? __atomic_load_n(&table->last_core, __ATOMIC_RELAXED) :
		unpack_core(table, __atomic_load_n(&table->last_packed, __ATOMIC_RELAXED));
}

/* Pauses until another core has had a turn. Without this pause one core might take all turns. */
static void
let_others_go_first(const struct warp_table *table, size_t core, void (*pause)(void))
{
	for (unsigned i = 0; i < POLITE_PAUSES && !barrier_is_stopped(&table->barrier); i++) {
		pause();
		if (get_core_of_last_turn(table) != core)
			return;
	}
}

/*
 * Waits at the end of a round until all cores have had their turns of this round. Without this wait, a core near the
 * lock's cache line would get the lock again and again, and cores of another socket might never get it.
 */
static void
wait_for_other_cores(struct warp_table *table, uint64_t turns, size_t expected, void (*pause)(void))
{
	uint64_t ended_by_all = turns / ROUND_TURNS * expected;

	if (table->kind != WARP_LOCKED || turns % ROUND_TURNS)
		return;
	__atomic_add_fetch(&table->rounds_ended, 1, __ATOMIC_ACQ_REL);
	for (size_t i = 0; i < ROUND_PAUSES * expected; i++) {
		if (__atomic_load_n(&table->rounds_ended, __ATOMIC_ACQUIRE) >= ended_by_all ||
		    __atomic_load_n(&table->rounds_missed, __ATOMIC_RELAXED) >= ROUNDS_MISSED ||
		    barrier_is_stopped(&table->barrier))
			return;
		pause();
	}
	__atomic_add_fetch(&table->rounds_missed, 1, __ATOMIC_RELAXED);
}

static void
record_turn(struct warp_slot *slot, const struct turn *turn, size_t core, size_t cores)
{
	slot->turns++;
	slot->handovers += turn->from != core && turn->from < cores;
	slot->warps += turn->behind_ticks > 0;
	if (turn->behind_ticks > slot->worst_ticks) {
		slot->worst_ticks = turn->behind_ticks;
		slot->worst_ahead = turn->from;
	}
}

void
warp_run_core(struct warp_table *table, size_t core, size_t expected, struct warp_reader reader,
	  void (*pause)(void))
{
	struct warp_slot *slot = &table->slots[core];
	uint64_t start = 0, spent = 0, now;
	struct turn turn;

	barrier_wait(&table->barrier, expected, pause);
	while (slot->turns < table->turns && !(table->bound_ticks && spent > table->bound_ticks) &&
	       take_turn(table, core, reader, pause, &turn)) {
		now = reader.tsc ? reader.tsc() : turn.now_tsc;
		start = slot->turns ? start : now;
		spent = now > start ? now - start : 0;
		record_turn(slot, &turn, core, table->cores);
		let_others_go_first(table, core, pause);
		wait_for_other_cores(table, slot->turns, expected, pause);
	}
}

void
warp_stop(struct warp_table *table)
{
	barrier_stop(&table->barrier);
}

struct warp_result
warp_get_result(const struct warp_table *table, size_t expected)
{
	struct warp_result result = { 0 };
	bool few_handovers = false;

	for (size_t i = 0; i < table->cores; i++) {
		const struct warp_slot *slot = &table->slots[i];

		if (!slot->turns)
			continue;
		result.cores++;
		result.turns += slot->turns;
		result.warps += slot->warps;
		result.starved |= slot->turns < table->turns / TURNS_FRACTION;
		few_handovers |= slot->handovers < HANDOVERS_MIN;
		if (slot->worst_ticks > result.worst_ticks) {
			result.worst_ticks = slot->worst_ticks;
			result.worst_ahead = (size_t)slot->worst_ahead;
			result.worst_behind = i;
		}
	}
	/*
	 * Without a lock, a core whose TSC is far ahead never sees another core's stamp, because no other core can
	 * replace its higher stamp. Its low number of handovers is then due to the warp, and not to too few turns of
	 * other cores.
	 */
	if (table->kind == WARP_LOCKED || !result.warps)
		result.starved |= few_handovers;
	result.starved |= result.cores < expected;
	return result;
}
