/*
 * Lists the fields of all kinds of entries, in the order in which they are in the file. New fields may only be added
 * at the end of a kind.
 */
#include "record/record.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "fields are copied without a change of their byte order");

#define SIZE(type, member)  sizeof(((struct type *)0)->member)
#define FIELD(type, member) { offsetof(struct type, member), SIZE(type, member), 1 }
#define TEXT(type, member)  { offsetof(struct type, member), 1, SIZE(type, member) }

/*
 * All fields are in one object without pointers, because each pointer would take 32 bytes in the image, including its
 * relocation.
 */
static const struct all_fields {
	struct record_field run[3], scale[5], core[2], mark[4], batch[11], corner[3], latency[8], exchange[4], pingpong[8],
		pass[8], members[1], event[2], interrupts[12], watch[11], octave[1],
		gap[3], calibrated[2], calibration[4], end[2], timer[13], step[5], compared[15],
		stated[7], loop[2], taken[1], facts[3];
} fields = {
	.run = {
		TEXT(record_run, version), TEXT(record_run, commit), FIELD(record_run, start_tsc),
	},
	.scale = {
		FIELD(record_scale, hz_num), FIELD(record_scale, hz_den), FIELD(record_scale, low_microhz),
		FIELD(record_scale, high_microhz), FIELD(record_scale, step_ticks),
	},
	.core = { FIELD(record_core, core), FIELD(record_core, apic_id) },
	.mark = {
		FIELD(record_mark, tsc), FIELD(record_mark, what), FIELD(record_mark, value), TEXT(record_mark, text),
	},
	.batch = {
		FIELD(record_batch, clock), FIELD(record_batch, stage), FIELD(record_batch, window), FIELD(record_batch, flags),
		FIELD(record_batch, number), FIELD(record_batch, begin), FIELD(record_batch, ticks), FIELD(record_batch, end),
		FIELD(record_batch, unread_ticks), FIELD(record_batch, gcd_ticks), FIELD(record_batch, smallest_ticks),
	},
	.corner = { FIELD(record_corner, tsc), FIELD(record_corner, ticks), FIELD(record_corner, upper) },
	.latency = {
		FIELD(record_latency, clock), FIELD(record_latency, length), FIELD(record_latency, count),
		FIELD(record_latency, min_ns), FIELD(record_latency, max_ns), FIELD(record_latency, max_count),
		FIELD(record_latency, total_ticks), FIELD(record_latency, total_ns),
	},
	.exchange = {
		FIELD(record_exchange, pass), FIELD(record_exchange, concurrency), FIELD(record_exchange, begin_tsc),
		FIELD(record_exchange, end_tsc),
	},
	.pingpong = {
		FIELD(record_pingpong, first), FIELD(record_pingpong, second), FIELD(record_pingpong, trips),
		FIELD(record_pingpong, warps), FIELD(record_pingpong, best_trip_ticks),
		FIELD(record_pingpong, median_trip_ticks), FIELD(record_pingpong, least_to_second),
		FIELD(record_pingpong, least_to_first),
	},
	.pass = {
		FIELD(record_pass, pass), FIELD(record_pass, stage), FIELD(record_pass, schedule), FIELD(record_pass, reason),
		FIELD(record_pass, concurrency), FIELD(record_pass, rounds), FIELD(record_pass, begin_tsc),
		FIELD(record_pass, end_tsc),
	},
	.members = { FIELD(record_members, cores) },
	.event = { FIELD(record_event, count), FIELD(record_event, tsc) },
	.interrupts = {
		FIELD(record_interrupts, timer), FIELD(record_interrupts, what), FIELD(record_interrupts, gaps),
		FIELD(record_interrupts, due), FIELD(record_interrupts, asked), FIELD(record_interrupts, ticks),
		FIELD(record_interrupts, deadline),
		FIELD(record_interrupts, armed_before), FIELD(record_interrupts, armed_after),
		FIELD(record_interrupts, opened), FIELD(record_interrupts, closed), FIELD(record_interrupts, taken),
	},
	.watch = {
		FIELD(record_watch, core), FIELD(record_watch, begin_tsc), FIELD(record_watch, observed_ticks),
		FIELD(record_watch, threshold_ticks), FIELD(record_watch, gaps), FIELD(record_watch, total_ticks),
		FIELD(record_watch, worst_ticks), FIELD(record_watch, long_ticks), FIELD(record_watch, ran_ticks),
		FIELD(record_watch, reported_ns), FIELD(record_watch, reported_ticks),
	},
	.octave = { FIELD(record_octave, gaps) },
	.gap = {
		FIELD(record_gap, core), FIELD(record_gap, tsc), FIELD(record_gap, ticks),
	},
	.calibrated = { FIELD(record_calibrated, hz), FIELD(record_calibrated, refusal) },
	.calibration = {
		TEXT(record_calibration, loop), FIELD(record_calibration, ticks), FIELD(record_calibration, slack_ticks),
		FIELD(record_calibration, tsc_ticks),
	},
	.end = { FIELD(record_end, entries), FIELD(record_end, dropped) },
	.timer = {
		FIELD(record_timer, timer), FIELD(record_timer, flags), FIELD(record_timer, core),
		TEXT(record_timer, source), FIELD(record_timer, interval_ns), FIELD(record_timer, hz_num),
		FIELD(record_timer, hz_den), FIELD(record_timer, span_ticks), FIELD(record_timer, span_least),
		FIELD(record_timer, span_most), FIELD(record_timer, phase_ticks), FIELD(record_timer, count_mask),
		FIELD(record_timer, step_ticks),
	},
	.step = {
		FIELD(record_step, begin_tsc), FIELD(record_step, seen_tsc), FIELD(record_step, floor_ns),
		FIELD(record_step, cores), FIELD(record_step, more),
	},
	.compared = {
		FIELD(record_compared, clock), FIELD(record_compared, then_at_edge), FIELD(record_compared, now_at_edge),
		FIELD(record_compared, confirmed), FIELD(record_compared, then.begin), FIELD(record_compared, then.ticks),
		FIELD(record_compared, then.end), FIELD(record_compared, now.begin), FIELD(record_compared, now.ticks),
		FIELD(record_compared, now.end), FIELD(record_compared, resolution_ticks), FIELD(record_compared, hidden_ns),
		FIELD(record_compared, implied.value), FIELD(record_compared, implied.low), FIELD(record_compared, implied.high),
	},
	.stated = {
		FIELD(record_stated, is_msr), FIELD(record_stated, faulted), FIELD(record_stated, number),
		FIELD(record_stated, eax), FIELD(record_stated, ebx), FIELD(record_stated, ecx), FIELD(record_stated, edx),
	},
	.loop = { TEXT(record_loop, loop), FIELD(record_loop, run) },
	.taken = { FIELD(record_taken, value) },
	.facts = { FIELD(record_facts, list), FIELD(record_facts, length), FIELD(record_facts, first) },
};

_Static_assert(sizeof(struct record_timer) <= UINT8_MAX, "each offset within the largest struct fits in 8 bits");

#define SHAPE(name, bytes) \
	{ offsetof(struct all_fields, name) / sizeof(struct record_field), \
	  SIZE(all_fields, name) / sizeof(struct record_field), bytes }
#define PLAIN(name, bytes)          { SHAPE(name, bytes), { 0, 0, 0 } }
#define LIST(name, bytes, of, each) { SHAPE(name, bytes), SHAPE(of, each) }

const struct record_kind_row record_kinds[RECORD_KINDS] = {
	[RECORD_RUN] = PLAIN(run, 48),
	[RECORD_SCALE] = PLAIN(scale, 40),
	[RECORD_CORE] = PLAIN(core, 8),
	[RECORD_MARK] = PLAIN(mark, 42),
	[RECORD_BATCH] = LIST(batch, 64, corner, 18),
	[RECORD_LATENCY] = LIST(latency, 52, taken, 8),
	[RECORD_EXCHANGE] = LIST(exchange, 20, pingpong, 36),
	[RECORD_INTERRUPTS] = LIST(interrupts, 66, event, 16),
	[RECORD_WATCH] = LIST(watch, 84, octave, 8),
	[RECORD_GAP] = PLAIN(gap, 20),
	[RECORD_END] = PLAIN(end, 16),
	[RECORD_TIMER] = PLAIN(timer, 96),
	[RECORD_CALIBRATION] = LIST(calibration, 40, calibrated, 12),
	[RECORD_STEP] = LIST(step, 36, compared, 93),
	[RECORD_STATED] = PLAIN(stated, 24),
	[RECORD_LOOP] = LIST(loop, 20, taken, 8),
	[RECORD_FACTS] = LIST(facts, 8, taken, 8),
	[RECORD_PASS] = LIST(pass, 32, members, 8),
};

const struct record_field *
record_get_field(const struct record_shape *shape, size_t i)
{
	return (const struct record_field *)&fields + shape->first + i;
}
