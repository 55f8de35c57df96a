/* A sentence on how wrong Linux's calibration loops were here. See recommend.h. */
#include "judge/recommend/recommend.h"

#include "base/number.h"
#include "base/text.h"

static const struct report_calibration *
find(const struct report *report, const char *id)
{
	for (size_t i = 0; i < report->calibration_count; i++)
		if (text_equal(report->calibrations[i].loop->id, id) && report->calibrations[i].runs)
			return &report->calibrations[i];
	return NULL;
}

static void
put_reasons(struct text *text, const struct report_calibration *row)
{
	for (size_t i = 0; i < row->refusal_count; i++)
		text_printf(text, "%s%s", i ? ", or " : "", row->refusals[i].reason);
}

static const char *
worst_ppm(const struct report_calibration *row, struct number *number)
{
	*number = number_ppm(row->worst.value < 0 ? -row->worst.value : row->worst.value);
	return number->text;
}

/* Linux takes the rate of its quick loop, or of the slower one if the quick one gives none. */
void
recommend_calibrations(struct report *report)
{
	const struct report_calibration *quick = find(report, "linux_pit"), *slow = find(report, "linux_reference");
	const struct report_calibration *used = quick && quick->worst.known ? quick : slow;
	struct number number;
	struct text text;

	text_init(&text, report->calibrated, sizeof(report->calibrated));
	if (used && used->worst.known)
		text_printf(&text, "Linux's calibration loop for the TSC, run here, is wrong by up to %s ppm in %lu "
				   "run%s%s.",
			    worst_ppm(used, &number), used->runs - used->refused, used->runs - used->refused == 1 ? "" : "s",
			    used == quick ? "" : ", by the slower loop");
	if (!quick || !quick->refused)
		return;
	text_printf(&text, "%sThe quick loop gives no rate in %lu of %lu runs: ", text.length ? " " : "", quick->refused,
		    quick->runs);
	put_reasons(&text, quick);
	text_put_char(&text, '.');
	if (used == quick && slow && slow->worst.known)
		text_printf(&text, " Linux then uses the slower loop, which is wrong by up to %s "
				   "ppm.", worst_ppm(slow, &number));
}
