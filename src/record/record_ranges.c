/* The table of ranges. See record_ranges.h. */
#include "record/record_ranges.h"

#define OF(kind, is_item, type, member, most) \
	{ kind, is_item, offsetof(struct type, member), sizeof(((struct type *)0)->member), most, #member },
#define ENTRY(kind, type, member, most) OF(kind, false, type, member, most)
#define ITEM(kind, type, member, most)  OF(kind, true, type, member, most)

const struct record_range record_ranges[] = {
	ENTRY(RECORD_SCALE, record_scale, low_microhz, RECORD_MICROHZ_MAX)
	ENTRY(RECORD_SCALE, record_scale, high_microhz, RECORD_MICROHZ_MAX)
	ENTRY(RECORD_SCALE, record_scale, step_ticks, RECORD_STEP_MAX)
	ENTRY(RECORD_LATENCY, record_latency, count, RECORD_COUNT_MAX)
	ENTRY(RECORD_LATENCY, record_latency, min_ns, RECORD_NS_MAX)
	ENTRY(RECORD_LATENCY, record_latency, max_ns, RECORD_NS_MAX)
	ENTRY(RECORD_LATENCY, record_latency, max_count, RECORD_COUNT_MAX)
	ENTRY(RECORD_LATENCY, record_latency, total_ticks, RECORD_TICKS_MAX)
	ENTRY(RECORD_LATENCY, record_latency, total_ns, RECORD_NS_MAX)
	ENTRY(RECORD_WATCH, record_watch, observed_ticks, RECORD_TICKS_MAX)
	ENTRY(RECORD_WATCH, record_watch, threshold_ticks, RECORD_TICKS_MAX)
	ENTRY(RECORD_WATCH, record_watch, gaps, RECORD_COUNT_MAX)
	ENTRY(RECORD_WATCH, record_watch, total_ticks, RECORD_TICKS_MAX)
	ENTRY(RECORD_WATCH, record_watch, worst_ticks, RECORD_TICKS_MAX)
	ENTRY(RECORD_WATCH, record_watch, long_ticks, RECORD_TICKS_MAX)
	ENTRY(RECORD_WATCH, record_watch, ran_ticks, RECORD_TICKS_MAX)
	ENTRY(RECORD_WATCH, record_watch, reported_ns, RECORD_NS_MAX)
	ENTRY(RECORD_WATCH, record_watch, reported_ticks, RECORD_TICKS_MAX)
	ITEM(RECORD_WATCH, record_octave, gaps, RECORD_COUNT_MAX)
	ENTRY(RECORD_GAP, record_gap, ticks, RECORD_TICKS_MAX)
	ENTRY(RECORD_TIMER, record_timer, interval_ns, RECORD_NS_MAX)
	ENTRY(RECORD_TIMER, record_timer, span_ticks, RECORD_TICKS_MAX)
	ENTRY(RECORD_TIMER, record_timer, span_least, RECORD_TICKS_MAX)
	ENTRY(RECORD_TIMER, record_timer, span_most, RECORD_TICKS_MAX)
	ENTRY(RECORD_TIMER, record_timer, phase_ticks, RECORD_STEP_MAX)
	ENTRY(RECORD_TIMER, record_timer, step_ticks, RECORD_STEP_MAX)
	ENTRY(RECORD_CALIBRATION, record_calibration, ticks, RECORD_TICKS_MAX)
	ENTRY(RECORD_CALIBRATION, record_calibration, slack_ticks, RECORD_TICKS_MAX)
	ENTRY(RECORD_CALIBRATION, record_calibration, tsc_ticks, RECORD_TICKS_MAX)
	ITEM(RECORD_CALIBRATION, record_calibrated, hz, RECORD_TICKS_MAX)
	ENTRY(RECORD_STEP, record_step, floor_ns, RECORD_NS_MAX)
	ENTRY(RECORD_STEP, record_step, more, RECORD_COUNT_MAX)
	ITEM(RECORD_STEP, record_compared, resolution_ticks, RECORD_TICKS_MAX)
	ITEM(RECORD_STEP, record_compared, hidden_ns, RECORD_NS_MAX)
	ITEM(RECORD_STEP, record_compared, implied.value, RECORD_MICROHZ_MAX)
	ITEM(RECORD_STEP, record_compared, implied.low, RECORD_MICROHZ_MAX)
	ITEM(RECORD_STEP, record_compared, implied.high, RECORD_MICROHZ_MAX)
	ENTRY(RECORD_FIRMWARE, record_firmware, asked_ns, RECORD_NS_MAX)
	{ 0 },
};
