/* Runs one side of a ping-pong between two cores. See pingpong.h. */
#include "sync/pingpong.h"

/*
 * Number of polls of the other core's message before each pause. A message that was already sent arrives within the
 * time of a round trip, and a pause would delay its detection by up to 140 cycles on Skylake (Intel Optimization
 * Reference Manual, "Pause Latency in Skylake Client Microarchitecture"). If the message takes longer than all polls,
 * a pause does no harm.
 */
#define POLLS 64

/*
 * Lower bound of the ticks that POLLS polls, a read of the TSC and a pause take. The maximum number of pauses is the
 * time limit divided by this bound. With a TSC that works, the time limit is reached first.
 */
#define TURN_TICKS_MIN 16

#define TRIP_SUB_BITS   2 /* log2 of the number of buckets for each power of two */
#define TRIP_LINEAR_MAX ((UINT64_C(2) << TRIP_SUB_BITS) - 1) /* each duration up to this has its own bucket */
/* number of times that UINT64_MAX must be halved to be at most TRIP_LINEAR_MAX */
#define TRIP_HALVINGS   (63 - TRIP_SUB_BITS)

_Static_assert((TRIP_HALVINGS << TRIP_SUB_BITS) + TRIP_LINEAR_MAX < PINGPONG_BUCKETS,
	       "UINT64_MAX has a bucket");

_Static_assert(offsetof(struct pingpong, stop) == PINGPONG_LINE &&
	       offsetof(struct pingpong, slots) == 2 * PINGPONG_LINE,
	       "the boot core's fields share no cache line with the messages of the two cores");
_Static_assert(sizeof(struct pingpong_slot) == PINGPONG_LINE,
	       "each core's slot for messages fills a cache line");
_Static_assert(offsetof(struct pingpong, records) == 4 * PINGPONG_LINE &&
	       sizeof(struct pingpong_record) % PINGPONG_LINE == 0,
	       "each side's record fills whole cache lines");

/* The arguments of pingpong_run_side(), and the start time. */
struct side {
	struct pingpong *pingpong;
	enum pingpong_side which;
	uint64_t start_tsc;
	sample_bracket *tsc;
	void (*pause)(void);
};

void
pingpong_begin(struct pingpong *pingpong, uint64_t trips_max, uint64_t bound_ticks)
{
	__builtin_memset(pingpong, 0, sizeof(*pingpong));
	pingpong->trips_max = trips_max;
	pingpong->bound_ticks = bound_ticks;
	pingpong->pauses_max = bound_ticks / TURN_TICKS_MIN + 1;
	for (size_t side = 0; side < 2; side++) {
		pingpong->records[side].least_ticks = INT64_MAX;
		pingpong->records[side].best_trip_ticks = UINT64_MAX;
	}
}

/*
 * Returns true if the ping-pong was not stopped and its time is not over. If this side's TSC stepped back, the elapsed
 * time is unknown, and only the maximum numbers of round trips and pauses end the ping-pong.
 */
static bool
may_side_continue(const struct side *side, uint64_t now_tsc)
{
	const struct pingpong *pingpong = side->pingpong;
	uint64_t elapsed = now_tsc - side->start_tsc;

	return !__atomic_load_n(&pingpong->stop, __ATOMIC_RELAXED) &&
	       ((int64_t)elapsed < 0 || elapsed <= pingpong->bound_ticks);
}

/*
 * Waits for message NUMBER of the other side. Returns false if it did not arrive in time, or if the ping-pong was
 * stopped.
 */
static bool
await_message(const struct side *side, uint64_t number)
{
	const struct pingpong *pingpong = side->pingpong;
	const uint64_t *sent = &pingpong->slots[!side->which].number;

	for (uint64_t pauses = 0; pauses < pingpong->pauses_max; pauses++) {
		for (unsigned polls = 0; polls < POLLS; polls++)
			if (__atomic_load_n(sent, __ATOMIC_ACQUIRE) >= number)
				return true;
		if (!may_side_continue(side, side->tsc()))
			return false;
		side->pause();
	}
	return false;
}

/*
 * Sends a message. The stamp is written before the number, so a core that sees the new number also sees the new
 * stamp.
 */
static void
send_message(struct pingpong_slot *slot, uint64_t stamp)
{
	slot->stamp = stamp;
	__atomic_store_n(&slot->number, slot->number + 1, __ATOMIC_RELEASE);
}

static void
record_arrival(struct pingpong_record *record, uint64_t arrival, uint64_t stamp)
{
	int64_t ticks = (int64_t)(arrival - stamp);

	record->received++;
	record->warps += ticks < 0;
	if (ticks < record->least_ticks)
		record->least_ticks = ticks;
}

/* Returns how often TICKS must be halved until it has 3 significant bits, or fewer. These bits select the bucket. */
static unsigned
halvings_to_three_bits(uint64_t ticks)
{
	return TRIP_HALVINGS - (unsigned)__builtin_clzll(ticks | TRIP_LINEAR_MAX);
}

static void
record_trip(struct pingpong_record *record, uint64_t ticks)
{
	unsigned halvings = halvings_to_three_bits(ticks);

	if ((int64_t)ticks < 0)
		return; /* this core's TSC stepped back, so the difference is no duration */
	record->trips[(halvings << TRIP_SUB_BITS) + (ticks >> halvings)]++;
	if (ticks < record->best_trip_ticks)
		record->best_trip_ticks = ticks;
}

void
pingpong_record_message(struct pingpong *pingpong, enum pingpong_side side, uint64_t arrival, uint64_t stamp,
			uint64_t sent_tsc)
{
	record_arrival(&pingpong->records[side], arrival, stamp);
	if (side == PINGPONG_FIRST)
		record_trip(&pingpong->records[side], arrival - sent_tsc);
}

/*
 * When a message arrives, the TSC is read only once, and this reading is also the stamp of the answer. The arrival is
 * recorded after the answer was sent, so that recording does not prolong the round trip. The first round trips may be
 * long, because caches are cold and the other core may start later. They are recorded, too, because they are valid, and
 * a few long round trips change neither the minimum nor the median.
 */
void
pingpong_run_side(struct pingpong *pingpong, enum pingpong_side side, sample_bracket *tsc,
	      void (*pause)(void))
{
	const struct side self = { pingpong, side, tsc(), tsc, pause };
	const struct pingpong_slot *theirs = &pingpong->slots[!side];
	struct pingpong_slot *mine = &pingpong->slots[side];
	uint64_t sent_tsc = self.start_tsc, arrival = sent_tsc;

	if (side == PINGPONG_FIRST && pingpong->trips_max > 0)
		send_message(mine, sent_tsc);
	for (uint64_t number = 1; number <= pingpong->trips_max; number++) {
		if (!may_side_continue(&self, arrival) || !await_message(&self, number))
			return;
		arrival = tsc();

		/*
		 * The received stamp must be read before the answer is sent, because the other core may then
		 * overwrite it.
		 */
		uint64_t stamp = theirs->stamp;

		if (side == PINGPONG_SECOND || number < pingpong->trips_max)
			send_message(mine, arrival);
		pingpong_record_message(pingpong, side, arrival, stamp, sent_tsc);
		sent_tsc = arrival;
	}
}

void
pingpong_stop(struct pingpong *pingpong)
{
	__atomic_store_n(&pingpong->stop, 1, __ATOMIC_RELAXED);
}

/* Returns the upper end of the bucket that contains the median, or 0 if there were no round trips. */
static uint64_t
get_median_trip_ticks(const struct pingpong_record *record)
{
	uint64_t total = 0, seen = 0;

	for (unsigned i = 0; i < PINGPONG_BUCKETS; i++)
		total += record->trips[i];
	for (unsigned i = 0; i < PINGPONG_BUCKETS && total > 0; i++) {
		unsigned halvings = i <= TRIP_LINEAR_MAX ? 0 : (i >> TRIP_SUB_BITS) - 1;

		seen += record->trips[i];
		if (seen >= total - total / 2)
			return ((uint64_t)(i - (halvings << TRIP_SUB_BITS) + 1) << halvings) - 1;
	}
	return 0;
}

/* Returns the size of the largest warp of messages to one side. LEAST_TICKS is their smallest (arrival - stamp). */
static uint64_t
worst_warp_ticks(int64_t least_ticks)
{
	return least_ticks < 0 ? 0 - (uint64_t)least_ticks : 0;
}

static int64_t
add_saturating(int64_t a, int64_t b)
{
	int64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

/*
 * Returns the bounds of the offset. If a TSC is incremented in steps of RESOLUTION_TICKS, its true value is up to
 * RESOLUTION_TICKS above the value read. Two TSCs need not be incremented at the same time. Therefore the bounds are
 * widened by the resolution. The size of a warp is not reduced by the resolution, because even a step back by a single
 * tick is a warp.
 */
static struct offset
calculate_offset_bounds(const struct pingpong_result *result, uint64_t resolution_ticks)
{
	int64_t error_ticks = resolution_ticks < INT64_MAX ? (int64_t)resolution_ticks : INT64_MAX;

	return (struct offset){
		.low = offset_negate_bound(add_saturating(result->least_to_first, error_ticks)),
		.high = add_saturating(result->least_to_second, error_ticks),
	};
}

void
pingpong_complete_result(struct pingpong_result *result, uint64_t resolution_ticks)
{
	uint64_t first_ahead = worst_warp_ticks(result->least_to_second);
	uint64_t second_ahead = worst_warp_ticks(result->least_to_first);

	result->worst_ticks = first_ahead > second_ahead ? first_ahead : second_ahead;
	result->ahead = second_ahead > first_ahead ? PINGPONG_SECOND : PINGPONG_FIRST;
	result->offset = OFFSET_UNKNOWN;
	result->moved_ticks = 0;
	if (!result->played)
		return;
	result->offset = calculate_offset_bounds(result, resolution_ticks);
	if (result->offset.low > result->offset.high) {
		result->moved_ticks = (uint64_t)result->offset.low - (uint64_t)result->offset.high;
		result->offset = OFFSET_UNKNOWN;
	}
}

struct pingpong_result
pingpong_get_result(const struct pingpong *pingpong, uint64_t resolution_ticks)
{
	const struct pingpong_record *first = &pingpong->records[PINGPONG_FIRST];
	const struct pingpong_record *second = &pingpong->records[PINGPONG_SECOND];
	struct pingpong_result result = {
		.played = first->received > 0 && second->received > 0,
		.least_to_second = second->least_ticks,
		.least_to_first = first->least_ticks,
		.trips = first->received,
		.warps = first->warps + second->warps,
		.median_trip_ticks = get_median_trip_ticks(first),
	};

	if (result.median_trip_ticks > 0)
		result.best_trip_ticks = first->best_trip_ticks;
	pingpong_complete_result(&result, resolution_ticks);
	return result;
}
