/* A sentence on how wrong Linux's calibration loops were here. See recommend.h. */
#include "advice/recommend.h"

#include "base/number.h"
#include "base/offset.h"
#include "base/text.h"
#include "report/phrase.h"

/* 1 %: Linux rejects a refined rate that differs by more, see tsc_refine_calibration_work() in arch/x86/kernel/tsc.c */
#define FAR_OFF_PPB UINT64_C(10000000)
#define MEDIAN_MIN  3 /* with fewer results, an interruption of one run may have caused the median error */

const struct calibration_figures *
recommend_find_calibration_loop(const struct report *report, const char *id)
{
	for (size_t i = 0; i < report->figures.calibration_count; i++)
		if (text_equal(report->figures.calibrations[i].loop->id, id) && report->figures.calibrations[i].runs)
			return &report->figures.calibrations[i];
	return NULL;
}

struct phrase
recommend_describe_worst_error(const struct calibration_figures *row)
{
	return phrase("%s ppm", number_ppm_from_ppb(row->worst.value < 0 ? -row->worst.value : row->worst.value).text);
}

/*
 * Explains a worst error above 1 %, or why the rate is of no use to a program on several cores. A loop masks interrupts
 * and polls clocks. If one of its runs takes at least twice as long as another, the core was preempted during this run,
 * or one of the polled clocks is faulty.
 */
static void
explain_far_off_result(const struct calibration_figures *row, struct core_faults faults, char remark[REPORT_SENTENCE])
{
	remark[0] = '\0';
	if (text_equal(row->loop->id, "valkey") && (faults.off_majority || faults.drifting || faults.stepping_back))
		/* its main thread reads the TSC of whichever core it runs on: valkey-io/valkey, src/monotonic.c */
		text_format(remark, REPORT_SENTENCE, "The cores' TSCs differ, so a program that moves between cores must "
		    "not use the TSC, however exact its rate is.");
	if (remark[0] || !row->worst.known || offset_abs(row->worst.value) <= FAR_OFF_PPB)
		return;
	if (row->worst_run_ns && row->worst_run_ns >= 2 * row->shortest_run_ns)
		text_format(remark, REPORT_SENTENCE, "The run of %s with the worst error took %s, and the shortest run "
		    "%s: it was interrupted, or a clock that it reads stopped or jumped.", row->loop->id,
		    number_from_ns(row->worst_run_ns).text, number_from_ns(row->shortest_run_ns).text);
	else if (row->runs - row->refused >= MEDIAN_MIN && offset_abs(row->median.value) > FAR_OFF_PPB)
		text_format(remark, REPORT_SENTENCE, "Even the median error of %s is above 1 %%: reads of the clocks "
		    "that it compares may be slow here.", row->loop->id);
	else
		text_format(remark, REPORT_SENTENCE, "The worst error of %s is above 1 %%, for an unknown reason.",
			    row->loop->id);
}

/* Linux takes the TSC's rate from its quick loop, or from its slower loop if the quick loop gives no rate. */
void
recommend_describe_calibrations(const struct report *report, struct advice *advice)
{
	const struct calibration_figures *quick = recommend_find_calibration_loop(report, "linux_pit");
	const struct calibration_figures *slow = recommend_find_calibration_loop(report, "linux_reference");
	const struct calibration_figures *used = quick && quick->worst.known ? quick : slow;
	uint64_t runs;

	for (size_t i = 0; i < report->figures.calibration_count; i++)
		explain_far_off_result(&report->figures.calibrations[i], report_count_core_faults(report),
				       advice->remarks[i]);
	struct text text = text_start(advice->calibrated, sizeof(advice->calibrated));
	if (used && used->worst.known) {
		runs = used->runs - used->refused;
		text_printf(&text, "Linux's calibration loop for the TSC, run here, is wrong by up to %s in %lu run%s%s.",
			    recommend_describe_worst_error(used).bytes, runs, runs == 1 ? "" : "s",
			    used == quick ? "" : ", by the slower loop");
	}
	if (!quick || !quick->refused)
		return;
	text_printf(&text, "%sThe quick loop gives no rate%s.", text.length ? " " : "",
		    phrase_in_count_of("run", quick->refused, quick->runs).bytes);
	if (used == quick && slow && slow->worst.known)
		text_printf(&text, " Linux then uses the slower loop, which is wrong by up to %s.",
			    recommend_describe_worst_error(slow).bytes);
}
