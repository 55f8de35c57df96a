/* A sentence on each check of the cores' TSCs: drift, TSC_ADJUST and warps. See table_cores.h. */
#include "render/cores/table_cores.h"

#include "base/number.h"

static void
put_messages_received_before_sent(struct text *out, const struct report_skew *skew)
{
	if (skew->warps)
		table_put_sentence(out, "%lu ping-pong message%s arrived before being sent, by the time stamps, the worst by %lu ns "
				   "(%lu ticks): core %u was ahead of core %u.",
				   skew->warps, table_plural_ending(skew->warps), skew->worst_warp_ns, skew->worst_warp_ticks,
				   skew->worst_warp_a, skew->worst_warp_b);
}

/*
 * Drifts of the other cores' TSCs against the boot core's TSC. If the boot core's TSC drifts itself, the boot core
 * counts as a drifting core.
 */
struct drifts {
	size_t others;                  /* number of started cores, without the boot core */
	/* numbers of cores: with a known drift, with a drift that is surely not 0, and with a step instead of a drift */
	size_t known, drifting, stepped;
	struct offset within;           /* the range that includes all known drifts */
	const struct report_core *most; /* the drifting core with the largest drift */
	struct offset most_ppb;         /* drift of core MOST against a core that does not drift */
};

static struct drifts
collect_drifts(const struct report *report)
{
	struct drifts drifts = { .within = OFFSET_UNKNOWN };

	for (size_t i = 0; i < report->facts.core_count; i++) {
		const struct report_core *core = &report->facts.cores[i];
		const struct core_outcome *outcome = &report->outcomes.sync.cores[i];
		struct offset drift = report_get_core_drift(report, core);

		if (!core->started || (core->boot && !outcome->drifts))
			continue;
		drifts.others += !core->boot;
		if (!offset_is_known(drift))
			continue;
		drifts.known++;
		drifts.within = offset_hull(drifts.within, drift);
		drifts.stepped += outcome->stepped;
		if (!outcome->drifts || outcome->stepped)
			continue;
		drifts.drifting++;
		if (drifts.most && offset_min_abs(outcome->from_most) <= offset_min_abs(drifts.most_ppb))
			continue;
		drifts.most = core;
		drifts.most_ppb = outcome->from_most;
	}
	return drifts;
}

static void
put_drifts(struct text *out, const struct report *report)
{
	struct drifts drifts = collect_drifts(report);
	struct table_sentence sentence;
	struct text *text = table_begin_sentence(&sentence);

	if (!report->figures.skew.pass_count)
		return;
	text_put(text, drifts.drifting ? "Drift" : "Drift against the boot core's TSC");
	if (drifts.known)
		text_printf(text, " over %s: ", number_from_ns(report->figures.skew.drift_span_ns).text);
	else
		text_put(text, ": not measured");
	if (drifts.drifting) {
		text_printf(text, "%zu of %zu cores drift%s, core %u the most: ", drifts.drifting, drifts.known,
			    table_singular_verb_ending(drifts.drifting), drifts.most->apic_id);
		table_put_drift(text, drifts.most_ppb, 0);
		text_put(text, " ppm against a core that does not");
	} else if (drifts.stepped) {
		text_printf(text, "%zu of %zu cores stepped, and no other drift is proven", drifts.stepped, drifts.known);
	} else if (drifts.known) {
		if (report->outcomes.sync.any_moved)
			text_put(text, "drift is proven, but no majority shows which core drifts; all within ");
		else
			text_printf(text, "no drift proven on %zu of %zu other cores; all within ", drifts.known,
				    drifts.others);
		table_put_drift(text, drifts.within, 0);
		text_put(text, " ppm");
	}
	text_put_char(text, '.');
	table_end_sentence(out, &sentence);
}

static void
put_tsc_adjusts(struct text *out, const struct report *report)
{
	struct tsc_adjusts adjusts = report_collect_tsc_adjusts(report);

	if (!adjusts.known)
		table_put_sentence(out, "TSC_ADJUST: not read.");
	else if (!adjusts.cores)
		table_put_sentence(out, "TSC_ADJUST: not supported, by CPUID.");
	else if (adjusts.least->facts.tsc_adjust == adjusts.most->facts.tsc_adjust)
		table_put_sentence(out, "TSC_ADJUST: %ld on %s%zu core%s.", adjusts.least->facts.tsc_adjust,
				   adjusts.cores > 1 && adjusts.known >= report->facts.machine.cores_started ? "all " :
					   "", adjusts.cores,
				   table_plural_ending(adjusts.cores));
	else
		table_put_sentence(out, "TSC_ADJUST: not equal on %zu cores, from %ld ticks on core %u to %ld on core %u.",
				   adjusts.cores, adjusts.least->facts.tsc_adjust, adjusts.least->apic_id,
				   adjusts.most->facts.tsc_adjust, adjusts.most->apic_id);
}

static void
put_contended_warp_check(struct text *out, const struct report *report, const struct report_contended *check,
			 const char *how)
{
	struct table_sentence sentence;
	struct text *text = table_begin_sentence(&sentence);

	text_printf(text, "Contended warp check of the TSC, %s", how);
	if (check->measured)
		text_printf(text, " (%zu cores, %lu iterations)", check->cores, check->iterations);
	if (check->measured && check->warps)
		text_printf(text, ": %lu warp%s, the worst %lu ns (%lu ticks): core %u ", check->warps,
			    table_plural_ending(check->warps), report_get_worst_warp_ns(report, check), check->worst_ticks,
			    check->worst_a);
	if (!check->measured)
		text_put(text, ": not measured.");
	else if (!check->warps)
		text_put(text, check->starved ? ": inconclusive: no warp, but a core got too few iterations." : ": no warp.");
	else if (check->worst_a == check->worst_b)
		text_put(text, "read less than in its own earlier read.");
	else
		text_printf(text, "was ahead of core %u, which read later.", check->worst_b);
	table_end_sentence(out, &sentence);
}

void
table_put_skew_checks(struct text *out, const struct report *report)
{
	put_messages_received_before_sent(out, &report->figures.skew);
	put_drifts(out, report);
	put_tsc_adjusts(out, report);
	put_contended_warp_check(out, report, &report->facts.warp_checks.locked, "with a lock");
	put_contended_warp_check(out, report, &report->facts.warp_checks.lock_free, "without a lock");
}
