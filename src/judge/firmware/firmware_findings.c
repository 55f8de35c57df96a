/*
 * Judges the figures of the firmware's time services. A host that delays its guest makes calls and events late, so a
 * late one is a fault only if no call of the same kind was in time. See judge_firmware.h.
 */
#include "judge/firmware/judge_firmware.h"

#include "base/number.h"
#include "base/offset.h"
#include "base/text.h"
#include "base/units.h"
#include "report/phrase.h"
#include "rules/rules.h"

#define STEP_NS       1677 /* two ticks of an 8254: a delay in whole ticks may be too short by as much */
/* A busy host does not delay all calls of a length up to this one, if there are at least as many calls. */
#define STEADY_NS     NS_PER_MS
#define STEADY_CALLS  4
/* Shortest call that may have measured the period of the CPU's timer: EDK II waits 100 us for it. */
#define CALIBRATED_NS 50000
#define CRYSTAL_PPM   ((int64_t)(REPORT_CRYSTAL_PPB / PPB_PER_PPM))
#define START_PERMILLE 50 /* largest difference between the TSC and the start in the FPDT */

/* Adds a row on the firmware. It is not determined until it gets a figure. Returns NULL if there is no space. */
static struct behaviour *
add_row(const struct report *report, struct outcomes *outcomes, const char *rule, enum firmware_service service)
{
	struct behaviour *row = behaviour_add_row(&outcomes->behaviours, rule, report_firmware_words[service].id);

	if (!row)
		return NULL;
	row->checked = row->open = true;
	if (!report->figures.tsc.den && !text_equal(rule, "efi-back")) {
		behaviour_mark_unchecked(row, UNCHECKED_NO_REFERENCE,
					 "The TSC's rate, which times the firmware, is not known.");
		return NULL;
	}
	return row;
}

static void
set_figure(struct behaviour *row, int64_t low, int64_t high)
{
	row->open = false;
	behaviour_set_bounds(row, (struct offset){ low, high });
}

static bool
is_event(const struct report_firmware *of)
{
	return of->service == FIRMWARE_RELATIVE || of->service == FIRMWARE_PERIODIC;
}

/* Returns how early or late an event may be in ns, because the firmware looks at its timers once per tick. */
static uint64_t
get_allowance_ns(const struct report_firmware *of)
{
	return is_event(of) ? of->stated : 0;
}

/* ---- too short ---- */

/* Returns by how much the shortest call or event of OF was shorter than requested, in ppm of the request. */
static int64_t
get_shortfall_ppm(const struct report_firmware *of)
{
	uint64_t allowed_ns = of->least_ns + STEP_NS + get_allowance_ns(of);

	return allowed_ns < of->asked_ns ? (int64_t)scale_mul_div(of->asked_ns - allowed_ns, PPM, of->asked_ns) : 0;
}

/*
 * Judges the rows of SERVICE and, for timers, of both kinds of events. The firmware's time stands still between ticks.
 * If a host delays a tick, the time until the next one is shorter than a period, and so may be an event that waits for
 * both.
 */
static void
judge_shortness(const struct report *report, struct outcomes *outcomes, enum firmware_service service)
{
	const struct report_firmware *worst = NULL;
	struct behaviour *row;
	bool is_known = true;
	int64_t ppm = 0;

	for (size_t i = 0; i < report->figures.firmware_count; i++) {
		const struct report_firmware *of = &report->figures.firmware[i];

		if (!text_equal(report_firmware_words[of->service].id, report_firmware_words[service].id) || !of->count)
			continue;
		is_known &= !is_event(of) || of->stated;
		if (!worst || get_shortfall_ppm(of) > ppm) {
			worst = of;
			ppm = get_shortfall_ppm(of);
		}
	}
	if (!worst || !(row = add_row(report, outcomes, "efi-short", service)))
		return;
	if (is_known)
		set_figure(row, ppm > CRYSTAL_PPM ? ppm - CRYSTAL_PPM : 0, ppm ? ppm + CRYSTAL_PPM : 0);
	row->open |= is_event(worst) && report_is_guest(report) && rules_has_check_failed(report, row);
	behaviour_set_text(row, "The firmware's %s of %s came after %s at the earliest%s.",
			   report_firmware_words[worst->service].name,
			   number_from_ns(worst->asked_ns).text, number_from_ns(worst->least_ns).text,
			   !is_known ? "; it does not state the period of its tick, by which an event may be early" :
			   row->open ? "; the host may have delayed the tick before" : "");
}

/* ---- too late ---- */

static int64_t
get_lateness_us(const struct report_firmware *of, uint64_t ns)
{
	uint64_t due_ns = of->asked_ns + get_allowance_ns(of);

	return ns > due_ns ? (int64_t)((ns - due_ns) / NS_PER_US) : 0;
}

/* Returns true if the shortest time of OF proves how late the firmware is, because a host cannot have delayed all. */
static bool
is_steady(const struct report_firmware *of)
{
	return is_event(of) ? of->count >= 2 : of->asked_ns <= STEADY_NS && of->count >= STEADY_CALLS;
}

static void
set_text_on_missing(struct behaviour *row, const struct report_firmware *of)
{
	if (of->service == FIRMWARE_STALL) {
		behaviour_set_text(row,
				   "The firmware's Stall() of %s was called, and had not returned when this was saved.",
				   number_from_ns(of->asked_ns).text);
		return;
	}
	row->open = of->count != 0;
	row->failed = !of->count;
	behaviour_set_text(row,
			   "%lu of %lu events of the firmware's timer did not come. The first was due %s after SetTimer().",
			   of->missing, of->missing + of->count, number_from_ns(of->asked_ns).text);
}

static void
judge_lateness(const struct report *report, struct outcomes *outcomes, enum firmware_service service)
{
	const struct report_firmware *missing = NULL, *latest = NULL;
	struct behaviour *row;
	int64_t low = 0, high = 0;

	for (size_t i = 0; i < report->figures.firmware_count; i++) {
		const struct report_firmware *of = &report->figures.firmware[i];
		int64_t most_us = get_lateness_us(of, of->most_ns), least_us = get_lateness_us(of, of->least_ns);

		if (!text_equal(report_firmware_words[of->service].id, report_firmware_words[service].id))
			continue;
		if (of->missing && (!missing || !of->count))
			missing = of;
		if (!latest || most_us > high)
			latest = of;
		high = most_us > high ? most_us : high;
		low = is_steady(of) && least_us > low ? least_us : low;
	}
	if (!latest || !(row = add_row(report, outcomes, "efi-late", service)))
		return;
	if (missing) {
		set_text_on_missing(row, missing);
		return;
	}
	behaviour_set_text(row, "The firmware's %s of %s came after %s at the latest%s.",
			   report_firmware_words[latest->service].name,
			   number_from_ns(latest->asked_ns).text, number_from_ns(latest->most_ns).text,
			   low ? ", and never in time" : "");
	set_figure(row, low, high);
}

/* ---- the rate ---- */

/* Returns why the figure of OF proves no fault of the firmware, as the end of a sentence, or "". */
static const char *
find_excuse(const struct report *report, const struct report_firmware *of)
{
	bool is_guest = report_is_guest(report);

	if (report->figures.discontinuity_count)
		return "; the clocks diverged in this run, so that no rate is certain";
	if (of->service == FIRMWARE_CPU && is_guest && of->first_ns >= CALIBRATED_NS)
		return "; the firmware measured its period in this call, in which the host may have stopped it";
	if (of->service == FIRMWARE_PERIODIC && is_guest && of->second.low > 0)
		return "; the host may have delayed the ticks";
	return "";
}

static void
set_rate(const struct report *report, struct behaviour *row, const struct report_firmware *of)
{
	struct interval_ppm ppm = interval_in_ppm(&of->second);
	const char *excuse = find_excuse(report, of);

	set_figure(row, ppm.low, ppm.high);
	row->open = excuse[0] && rules_get_outcome(row, &report->facts.options) != OUTCOME_PASSED;
	behaviour_set_text(row, "By the firmware's %s, a second lasts %s%s.", report_firmware_words[of->service].name,
			   phrase_firmware_second(&of->second).bytes, row->open ? excuse : "");
}

static void
judge_rate(const struct report *report, struct outcomes *outcomes, const struct report_firmware *of)
{
	struct behaviour *row = add_row(report, outcomes, "efi-rate", of->service);
	bool is_quick = report->facts.options.profile == PROFILE_QUICK;

	if (!row)
		return;
	if (of->second.known)
		set_rate(report, row, of);
	else if (of->missing)
		behaviour_set_text(row, "The firmware's %s gave too few times.", report_firmware_words[of->service].name);
	else if (of->back)
		behaviour_set_text(row, "The firmware's %s went back.", report_firmware_words[of->service].name);
	else if (of->service == FIRMWARE_TIME && of->count > 1)
		behaviour_set_text(row, "The firmware's %s does not advance evenly.", report_firmware_words[of->service].name);
	else
		behaviour_mark_unchecked(row, UNCHECKED_OTHER, "The firmware's %s states or shows no rate.",
					 report_firmware_words[of->service].name);
	if (of->service == FIRMWARE_TIME && is_quick &&
	    rules_get_outcome(row, &report->facts.options) == OUTCOME_NOT_DETERMINED && !of->back)
		behaviour_mark_unchecked(row, UNCHECKED_TIME,
					 "A quick run does not wait for the firmware's next second.");
}

/* Returns true if the boot core's TSC_ADJUST shows that nothing has set its TSC since the reset. */
static bool
counts_tsc_since_reset(const struct report *report)
{
	const struct report_core *core = report->facts.core_count ? &report->facts.cores[0] : NULL;

	return core && core->facts_known && core->facts.has_tsc_adjust && !core->facts.tsc_adjust;
}

/*
 * Judges the start of baretick in the FPDT. The TSC may have counted before the table's time, for example before a warm
 * reset. But if nothing has set the TSC, less time cannot have passed by it.
 */
static void
judge_start_time(const struct report *report, struct outcomes *outcomes, const struct report_firmware *of)
{
	int64_t permille = of->second.known ? of->second.value / (PPM * PPB_PER_PPM / 1000) : 0;
	struct behaviour *row = add_row(report, outcomes, "efi-rate", of->service);

	if (!row)
		return;
	behaviour_set_text(row,
			   "The firmware's table FPDT states that baretick started %s after the reset; by the TSC it was %s.",
			   number_from_ns(of->start_ns).text, number_from_ns(of->tsc_ns).text);
	if (!of->start_ns)
		behaviour_mark_unchecked(row, UNCHECKED_OTHER,
					 "The firmware's table FPDT has no time for the start of baretick.");
	else if (permille > START_PERMILLE)
		behaviour_mark_unchecked(row, UNCHECKED_NO_REFERENCE,
					 "The TSC counted before the firmware's table FPDT did: %s against %s.",
					 number_from_ns(of->tsc_ns).text, number_from_ns(of->start_ns).text);
	else if (permille >= -START_PERMILLE)
		row->open = false;
	else if (counts_tsc_since_reset(report))
		set_figure(row, of->second.low / PPB_PER_PPM, of->second.high / PPB_PER_PPM);
}

/* ---- steps back ---- */

static void
judge_steps_back(const struct report *report, struct outcomes *outcomes, const struct report_firmware *of)
{
	struct behaviour *row = add_row(report, outcomes, "efi-back", of->service);

	if (!row)
		return;
	behaviour_set_text(row, "%lu of %lu readings of the firmware's %s were %s the one before.", of->back, of->count,
			   report_firmware_words[of->service].name, of->service == FIRMWARE_COUNTER ? "not above" : "below");
	set_figure(row, (int64_t)of->back, (int64_t)of->back);
}

void
judge_firmware_times(const struct report *report, struct outcomes *outcomes)
{
	bool stalls = false;

	if (!report->figures.firmware_count)
		return;
	judge_shortness(report, outcomes, FIRMWARE_STALL);
	judge_shortness(report, outcomes, FIRMWARE_RELATIVE);
	judge_lateness(report, outcomes, FIRMWARE_STALL);
	judge_lateness(report, outcomes, FIRMWARE_RELATIVE);
	for (size_t i = 0; i < report->figures.firmware_count; i++) {
		const struct report_firmware *of = &report->figures.firmware[i];

		if (of->service == FIRMWARE_FPDT)
			judge_start_time(report, outcomes, of);
		else if (of->service != FIRMWARE_RELATIVE && of->service != FIRMWARE_COUNTER &&
			 !(of->service == FIRMWARE_STALL && stalls))
			judge_rate(report, outcomes, of);
		stalls |= of->service == FIRMWARE_STALL;
		if (of->service >= FIRMWARE_TIME && of->service != FIRMWARE_FPDT)
			judge_steps_back(report, outcomes, of);
	}
}
