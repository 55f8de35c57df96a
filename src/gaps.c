/* The watch for gaps. See gaps.h. */
#include "gaps.h"

void
gaps_clear(struct gaps *gaps)
{
	*gaps = (struct gaps){ 0 };
}

static void
record(struct gaps *gaps, uint64_t at_tsc, uint64_t ticks)
{
	gaps->count++;
	gaps->total_ticks += ticks;
	gaps->octave[63 - __builtin_clzll(ticks)]++;
	if (ticks > gaps->worst_ticks) {
		gaps->worst_ticks = ticks;
		gaps->worst_at_tsc = at_tsc;
	}
	if (gaps->event_count < GAPS_EVENTS_MAX)
		gaps->events[gaps->event_count++] = (struct gap_event){ at_tsc, ticks };
}

void
gaps_watch(struct gaps *gaps, uint64_t threshold_ticks, uint64_t duration_ticks, uint64_t turns_max,
	   sample_bracket *tsc)
{
	uint64_t last = tsc(), watched_ticks = 0, turns = 0;

	while (watched_ticks < duration_ticks && turns < turns_max) {
		uint64_t now = tsc();
		uint64_t ticks = now - last;

		turns++;
		if (now < last) {
			gaps->backward++;
		} else {
			watched_ticks += ticks;
			if (ticks > threshold_ticks)
				record(gaps, last, ticks);
		}
		last = now;
	}
	gaps->watched_ticks += watched_ticks;
	gaps->turns += turns;
}
