/* Draws the progress line, and checks the deadline. See progress.h. */
#include "console/progress.h"

#include "base/number.h"
#include "base/text.h"
#include "base/units.h"
#include "console/keys.h"
#include "guard/guard.h"
#include "hw/cpu.h"
#include "hw/hw.h"
#include "measure/survey_plan.h"
#include "render/sections/table_sections.h"

/*
 * Minimum time in ns between two drawings of the line, because drawing disturbs the measurements. It is less than 1 s,
 * so that a measurement of a clock that ticks once a second can draw the line at each tick.
 */
#define LINE_NS        UINT64_C(950000000)
#define KEYS_AT_ONCE   16 /* maximum number of keys that are read at once, so that a held key does not delay the run */
#define HINT_COLUMN    60
#define HEAD_EVERY     20 /* number of a soak's rows between two headings */

/*
 * Reads keys, and requests the end of the run at the key Q. Called only when the line is drawn, because the firmware
 * may take long to return a key.
 */
static void
read_quit_key(struct progress *progress)
{
	unsigned key;

	for (unsigned i = 0; i < KEYS_AT_ONCE && !progress->end_requested && keys_read_next(&key); i++)
		progress->end_requested = key == 'q' || key == 'Q';
}

static bool
is_line_due(const struct progress *progress, uint64_t now_tsc)
{
	return !progress->shown_tsc || scale_ns(&progress->scale, now_tsc - progress->shown_tsc) >= LINE_NS;
}

static void
show_progress(void *context, const char *what, uint64_t done_ns, uint64_t total_ns)
{
	struct progress *progress = context;
	uint64_t now = hw_tsc(), left_ns;
	char bytes[CONSOLE_LINE + 1];

	if (!is_line_due(progress, now))
		return;
	if (done_ns > total_ns)
		done_ns = total_ns;
	unsigned percent = total_ns ? (unsigned)(done_ns / (total_ns / 100 + 1)) : 0;
	/* The shown percentage never goes down, even if the run's planned duration increases. */
	if (progress->percent < percent)
		progress->percent = percent;
	left_ns = survey_remaining_time_ns(done_ns, total_ns, progress->end_requested ? 0 :
					   scale_ns(&progress->scale, now - progress->start_tsc));
	struct text line = text_start(bytes, CONSOLE_LINE);
	text_printf(&line, "progress: %u%% %s, %lu s left", progress->percent, what, (left_ns + NS_PER_S - 1) / NS_PER_S);
	console_print_serial(progress->console, bytes);
	console_print_serial(progress->console, "\n");
	text_printf(&line, "%*s%s", line.length < HINT_COLUMN ? (int)(HINT_COLUMN - line.length) : 2, "",
		    progress->end_requested ? "ending" : "Q ends it early");
	if (progress->console->rows)
		console_draw_row(progress->console, progress->console->rows - 1, INK_BAR, bytes);
	progress->shown_tsc = now;
	read_quit_key(progress);
	if (progress->on_draw)
		progress->on_draw(progress->on_draw_context);
}

void
progress_show_step(struct progress *progress, const char *what)
{
	uint64_t now = hw_tsc();
	char bytes[CONSOLE_LINE];

	if (!is_line_due(progress, now))
		return;
	text_format(bytes, sizeof(bytes), "progress: %u%% %s\n", progress->percent, what);
	console_print_serial(progress->console, bytes);
	progress->shown_tsc = now;
}

void
progress_print_phase(struct progress *progress, const char *phase)
{
	char bytes[CONSOLE_LINE];

	text_format(bytes, sizeof(bytes), "phase: %s\n", phase);
	console_print_serial(progress->console, bytes);
}

static void
print_measured_clock(void *context, const struct report *, const struct report_clock *entry)
{
	struct progress *progress = context;
	char bytes[CONSOLE_LINE];

	text_format(bytes, sizeof(bytes), "  %-12s  p50 %6s  p99 %6s  %lu reads\n", entry->clock.id,
		    number_in_cell_from_ns(latency_percentile_ns(entry->latency, 50000)).text,
		    number_in_cell_from_ns(latency_percentile_ns(entry->latency, 99000)).text, entry->latency->count);
	console_print(progress->console, bytes);
}

/*
 * Prints a soak's row above the progress line. Clears the progress line first, so that it does not scroll up with the
 * rows.
 */
static void
print_soak_row(void *context, const struct report *report)
{
	struct progress *progress = context;
	struct console *console = progress->console;
	char bytes[2 * CONSOLE_LINE];
	struct text text = text_start(bytes, sizeof(bytes));

	if (progress->rows++ % HEAD_EVERY == 0)
		table_put_series_heading(&text, report);
	table_put_latest_series_row(&text, report);
	if (console->rows)
		console_draw_row(console, console->rows - 1, INK_PLAIN, "");
	console_print(console, bytes);
	progress->shown_tsc = 0;
}

static uint64_t
calculate_ticks_until_deadline(void *context)
{
	struct progress *progress = context;
	uint64_t passed_ticks = hw_tsc() - progress->start_tsc;

	if (!progress->deadline_ticks)
		return UINT64_MAX;
	progress->passed |= passed_ticks >= progress->deadline_ticks || alarm_has_expired(&progress->deadline);
	return progress->passed ? 0 : progress->deadline_ticks - passed_ticks;
}

static bool
is_end_requested(void *context)
{
	const struct progress *progress = context;

	return progress->end_requested;
}

struct survey_hooks
progress_make_hooks(struct progress *progress, struct console *console, bool lfence_serialises)
{
	*progress = (struct progress){ .console = console, .start_tsc = hw_tsc() };
	scale_init(&progress->scale, (struct rate){ 0, 0 });
	keys_discard_all(); /* discards keys that were meant for the firmware */
	return (struct survey_hooks){
		.context = progress,
		.interrupts_mask = hw_interrupts_mask,
		.interrupts_restore = hw_interrupts_restore,
		.tsc_ordered = lfence_serialises ? hw_tsc_lfence : hw_tsc_mfence,
		.pause = hw_pause,
		.spin_ns = SURVEY_SPIN_NS,
		.core_facts = cpu_read_core_facts,
		.ticks_left = calculate_ticks_until_deadline,
		.asked = is_end_requested,
		.progress = show_progress,
		.measured = print_measured_clock,
		.row = print_soak_row,
		.guarded = guard_run,
	};
}

/* Sets the alarm to the deadline. Does nothing if, by the TSC, the deadline has already passed. */
static void
set_alarm_to_deadline(struct progress *progress)
{
	uint64_t passed_ticks = hw_tsc() - progress->start_tsc;

	if (passed_ticks < progress->deadline_ticks)
		alarm_set(&progress->deadline, scale_ns(&progress->scale, progress->deadline_ticks - passed_ticks));
}

void
progress_extend_deadline(struct progress *progress, uint64_t begin_tsc)
{
	uint64_t now = hw_tsc();

	progress->start_tsc += now - begin_tsc;
	if (progress->deadline.event && now != begin_tsc)
		set_alarm_to_deadline(progress);
}

void
progress_set_tsc_rate(struct progress *progress, struct rate hz, uint64_t deadline_ns)
{
	scale_init(&progress->scale, hz);
	if (progress->deadline_ticks)
		return;
	progress->deadline_ticks = scale_ns_to_ticks(&progress->scale, deadline_ns);
	set_alarm_to_deadline(progress);
}

void
progress_cancel_deadline(struct progress *progress)
{
	alarm_cancel(&progress->deadline);
}
