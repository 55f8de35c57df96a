/* Calculates a complete report from a record. See replay.h. */
#include "analysis/analysis.h"
#include "analysis/sleep/analysis_sleeps.h"
#include "base/text.h"
#include "judge/coverage/coverage.h"
#include "judge/judge.h"
#include "advice/recommend.h"
#include "replay/replay.h"
#include "report/boots_results.h"

void
replay_calculate_results(struct report *report, void *record, size_t length, uint64_t entries, uint64_t dropped)
{
	struct text given = text_start(report->options_given, sizeof(report->options_given));

	options_put_changed_options(&given, &report->facts.options);
	report->record = (struct report_record){ .bytes = record, .length = length, .dropped = dropped };
	if (length)
		sha256_hex(record, length, report->record.sha256);
	if (dropped)
		notes_add(&report->notes, "The record of the run had no space for %lu of %lu entries: results that need them "
			  "are missing.", dropped, entries + dropped);
	(void)analysis_calculate_rates(record, length, judge_rate_limit_ppb(report), report, &report->figures);
	analysis_calculate_gaps(record, length, report, &report->figures);
	analysis_calculate_discontinuities(record, length, report, &report->figures);
	analysis_calculate_offsets(record, length, report, &report->figures);
	analysis_calculate_timers(record, length, report, &report->figures);
	analysis_calculate_calibrations(record, length, report, &report->figures);
	analysis_calculate_firmware(record, length, report, &report->figures);
	analysis_calculate_sleeps(record, length, report, &report->figures);
	analysis_calculate_costs(report, &report->figures);
	judge_report(report, &report->outcomes);
	notes_add_all(&report->notes, &report->outcomes.notes);
	coverage_list_other_rules(report, &report->outcomes);
	recommend_clocks(report, &report->advice);
	boots_add_results(report);
}
