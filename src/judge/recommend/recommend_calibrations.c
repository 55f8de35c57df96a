/* A sentence on how wrong Linux's calibration loops were here. See recommend.h. */
#include "judge/recommend/recommend.h"

#include "base/number.h"
#include "base/text.h"

const struct report_calibration *
recommend_find_calibration_loop(const struct report *report, const char *id)
{
	for (size_t i = 0; i < report->calibration_count; i++)
		if (text_equal(report->calibrations[i].loop->id, id) && report->calibrations[i].runs)
			return &report->calibrations[i];
	return NULL;
}

struct phrase
recommend_describe_worst_error(const struct report_calibration *row)
{
	return phrase("%s ppm", number_ppm_from_ppb(row->worst.value < 0 ? -row->worst.value : row->worst.value).text);
}

/* Linux takes the TSC's rate from its quick loop, or from its slower loop if the quick loop gives no rate. */
void
recommend_describe_calibrations(struct report *report)
{
	const struct report_calibration *quick = recommend_find_calibration_loop(report, "linux_pit");
	const struct report_calibration *slow = recommend_find_calibration_loop(report, "linux_reference");
	const struct report_calibration *used = quick && quick->worst.known ? quick : slow;
	struct phrase reasons = { "" };
	struct text text;
	uint64_t runs;

	text_init(&text, report->calibrated, sizeof(report->calibrated));
	if (used && used->worst.known) {
		runs = used->runs - used->refused;
		text_printf(&text, "Linux's calibration loop for the TSC, run here, is wrong by up to %s in %lu run%s%s.",
			    recommend_describe_worst_error(used).bytes, runs, runs == 1 ? "" : "s",
			    used == quick ? "" : ", by the slower loop");
	}
	if (!quick || !quick->refused)
		return;
	for (size_t i = 0; i < quick->refusal_count; i++)
		phrase_add(&reasons, "%s%s", i ? ", or " : "", quick->refusals[i].reason);
	text_printf(&text, "%sThe quick loop gives no rate in %lu of %lu runs: %s.", text.length ? " " : "", quick->refused,
		    quick->runs, reasons.bytes);
	if (used == quick && slow && slow->worst.known)
		text_printf(&text, " Linux then uses the slower loop, which is wrong by up to %s.",
			    recommend_describe_worst_error(slow).bytes);
}
