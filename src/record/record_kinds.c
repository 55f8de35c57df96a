/* Lists the sizes of all kinds of entries. */
#include "record/record.h"

#define PLAIN(name)      { sizeof(struct record_##name), 0 }
#define LIST(name, item) { sizeof(struct record_##name), sizeof(struct record_##item) }

const struct record_kind_row record_kinds[RECORD_KINDS] = {
	[RECORD_RUN] = PLAIN(run),
	[RECORD_SCALE] = PLAIN(scale),
	[RECORD_CORE] = PLAIN(core),
	[RECORD_MARK] = PLAIN(mark),
	[RECORD_BATCH] = LIST(batch, corner),
	[RECORD_LATENCY] = LIST(latency, taken),
	[RECORD_EXCHANGE] = LIST(exchange, pingpong),
	[RECORD_INTERRUPTS] = LIST(interrupts, event),
	[RECORD_WATCH] = LIST(watch, octave),
	[RECORD_GAP] = PLAIN(gap),
	[RECORD_END] = PLAIN(end),
	[RECORD_TIMER] = PLAIN(timer),
	[RECORD_CALIBRATION] = LIST(calibration, calibrated),
	[RECORD_STEP] = LIST(step, compared),
	[RECORD_STATED] = PLAIN(stated),
	[RECORD_LOOP] = LIST(loop, taken),
	[RECORD_FACTS] = LIST(facts, taken),
	[RECORD_PASS] = LIST(pass, members),
};
