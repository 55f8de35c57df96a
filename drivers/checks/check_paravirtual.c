/* Checks hypervisors' clocks: the TSC rate that their pages state, and Hyper-V's page against Hyper-V's MSR. */
#include "base/text.h"
#include "base/units.h"
#include "checks/check.h"
#include "checks/checks.h"
#include "clocks/pvclock.h"
#include "hw/wait.h"
#include "paravirtual/leaves.h"

#define HV_TICK_NS   100
#define APART_TRIES  1024u
#define APART_NS     (20 * WAIT_NS_PER_MS)
#define APART_NS_MIN (2 * WAIT_NS_PER_MS)
#define CLAIM_NS     WAIT_NS_PER_MS
#define LASTING_NS   (5 * WAIT_NS_PER_MS)

/*
 * Returns the difference between the TSC's rate that a page states and the measured rate, in ppm; positive if the
 * page's rate is higher. MULTIPLIER (the page's) and MEASURED are in ns per tick times 2^32. Rounds up if ROUND_UP is
 * set, otherwise down.
 */
static int64_t
get_rate_excess_ppm(uint64_t measured, uint64_t multiplier, bool round_up)
{
	uint64_t apart = measured > multiplier ? measured - multiplier : multiplier - measured;

	if (measured > multiplier)
		return (int64_t)(round_up ? scale_mul_div_up(apart, PPM, multiplier) :
				 scale_mul_div(apart, PPM, multiplier));
	return -(int64_t)(round_up ? scale_mul_div(apart, PPM, multiplier) : scale_mul_div_up(apart, PPM, multiplier));
}

static void
check_stated_rate(const struct checking *checking, struct behaviour *row, uint64_t multiplier)
{
	const struct scale *scale = checking->scale;

	if (checking->scale_by_tsc) {
		behaviour_set_text(row, "No clock that is independent of the TSC and the hypervisor measured the TSC's "
				   "rate.");
		return;
	}
	if (!multiplier) {
		behaviour_set_text(row, "The clock's page was being updated, or stated no rate, when it was read.");
		return;
	}
	uint64_t khz = scale_mul_div_nearest(UINT64_C(1) << 32, PPM, multiplier);
	check_set_figure(row, get_rate_excess_ppm(scale->least, multiplier, false),
			 get_rate_excess_ppm(scale->most, multiplier, true));
	behaviour_set_text(row,
			   "The clock's page states a TSC rate of %lu kHz, which differs from the measured rate by %ld to %ld "
			   "ppm.", khz, row->low,
			   row->high);
}

/*
 * Returns true if Xen has changed the rate in the page during the run. The rate then is not the TSC's true rate. If the
 * TSC is not constant, Xen recalculates the rate every second. It lowers the rate to correct a clock that is ahead
 * (xen/arch/x86/time.c, local_time_calibration()).
 */
static bool
was_rate_changed(const struct checking *checking, struct behaviour *row, uint64_t multiplier)
{
	uint64_t first = pvclock_get_multiplier_at_open(checking->device);

	if (!multiplier || multiplier == first)
		return false;
	behaviour_set_text(row,
			   "The hypervisor changed the TSC rate in the clock's page during the run, from %lu kHz to %lu kHz.",
			   scale_mul_div_nearest(UINT64_C(1) << 32, PPM, first),
			   scale_mul_div_nearest(UINT64_C(1) << 32, PPM, multiplier));
	return true;
}

static void
pvclock_check_stated_rate(const struct checking *checking, struct behaviour *row)
{
	uint64_t refused = pvclock_count_cores_without_page(checking->device), multiplier;
	struct pvclock taken;

	multiplier = pvclock_copy_page(checking->rows, &taken) ? pvclock_get_multiplier(&taken) : 0;
	if (!was_rate_changed(checking, row, multiplier))
		check_stated_rate(checking, row, multiplier);
	if (!refused)
		return;
	struct text text = text_continue(row->text, sizeof(row->text));
	text_printf(&text, " The hypervisor refused a page for %lu other core%s.", refused, refused == 1 ? "" : "s");
}

static void
hv_page_check_stated_rate(const struct checking *checking, struct behaviour *row)
{
	struct hv_tsc_page taken;
	uint64_t tsc;

	check_stated_rate(checking, row, hv_page_copy(checking->device, &taken, &tsc) && taken.sequence ?
			  hv_tsc_page_get_multiplier(&taken) : 0);
}

/* Returns true if the page is invalid in each read for LASTING_NS. An update makes the page invalid only briefly. */
static bool
hv_page_stays_invalid(const struct checking *checking)
{
	struct wait wait = wait_begin(checking->scale, LASTING_NS);
	struct hv_tsc_page taken = { 0 };
	uint64_t tsc;

	do {
		if (!hv_page_copy(checking->device, &taken, &tsc) || taken.sequence)
			return false;
	} while (wait_has_time_left(&wait));
	return true;
}

static void
hv_page_check_msr_fallbacks(const struct checking *checking, struct behaviour *row)
{
	uint64_t fallbacks = hv_page_count_msr_fallbacks(checking->device);

	if (checking->rows->state != CLOCK_PRESENT && !fallbacks) {
		behaviour_set_text(row, "This clock has no page to check.");
		return;
	}
	check_set_outcome(row, checking->rows->state != CLOCK_PRESENT ||
			  (fallbacks && hv_page_stays_invalid(checking)));
	if (!fallbacks)
		behaviour_set_text(row, "The page's sequence number was never 0.");
	else if (checking->rows->state == CLOCK_PRESENT)
		behaviour_set_text(row, "The page's sequence number was 0 in %lu readings, so the MSR was read instead. The "
				   "number is %s now.", fallbacks,
				   row->failed ? "0" : "not 0");
	else
		behaviour_set_text(row, "The page's sequence number is 0, so readers must read the MSR instead.");
}

/*
 * Returns the distance in ticks between MSR and the interval from BEFORE to AFTER. It is positive if MSR is ahead,
 * negative if it is behind, and 0 if it is within.
 */
static int64_t
get_ticks_outside_interval(uint64_t before, uint64_t msr, uint64_t after)
{
	if ((int64_t)(msr - before) < 0)
		return (int64_t)(msr - before);
	return (int64_t)(msr - after) > 0 ? (int64_t)(msr - after) : 0;
}

static bool
hv_page_read_ticks(const struct checking *checking, uint64_t *ticks)
{
	struct hv_tsc_page taken;
	uint64_t tsc;

	if (!hv_page_copy(checking->device, &taken, &tsc) || !taken.sequence)
		return false;
	*ticks = hv_tsc_page_calculate_ticks(&taken, tsc);
	return true;
}

static void
hv_page_compare_with_msr(const struct checking *checking, struct behaviour *row)
{
	struct wait wait = wait_begin(checking->scale, APART_NS);
	uint64_t before, msr, after;
	unsigned reads = 0;
	int64_t worst = 0;

	while (reads < APART_TRIES && wait_has_time_left(&wait) && hv_page_read_ticks(checking, &before)) {
		msr = hw_msr_read(MSR_HV_REFERENCE);
		if (!hv_page_read_ticks(checking, &after))
			break;
		int64_t apart = get_ticks_outside_interval(before, msr, after);
		reads++;
		if ((apart < 0 ? -apart : apart) > (worst < 0 ? -worst : worst))
			worst = apart;
	}
	if (!reads) {
		behaviour_set_text(row, "The page was marked as unusable when it was read.");
		return;
	}
	check_set_figure(row, worst * HV_TICK_NS, worst * HV_TICK_NS);
	if (worst)
		behaviour_set_text(row, "In the worst of %u reads the MSR's time was %ld ns %s the page's.", reads,
				   (worst < 0 ? -worst : worst) * HV_TICK_NS, worst < 0 ? "behind" : "ahead of");
	else
		behaviour_set_text(row, "Each of %u readings of the MSR was between the page's readings right before and "
				   "after it.", reads);
}

void
pvclock_check(const struct checking *checking, struct behaviours *behaviours)
{
	static const struct check checks[] = {
		{ "pv-claim", CLAIM_NS, pvclock_check_stated_rate },
		{ NULL, 0, NULL },
	};

	if (checking->rows->state == CLOCK_PRESENT)
		check_run_all(checking, checks, behaviours);
}

void
hv_page_check(const struct checking *checking, struct behaviours *behaviours)
{
	static const struct check all[] = {
		{ "pv-fallback", LASTING_NS, hv_page_check_msr_fallbacks },
		{ "pv-claim", CLAIM_NS, hv_page_check_stated_rate },
		{ "pv-page-apart", APART_NS_MIN, hv_page_compare_with_msr },
		{ NULL, 0, NULL },
	};
	static const struct check unusable[] = {
		{ "pv-fallback", 0, hv_page_check_msr_fallbacks },
		{ NULL, 0, NULL },
	};

	if (!checking->rows->unoffered)
		check_run_all(checking, checking->rows->state == CLOCK_PRESENT ? all : unusable, behaviours);
}
