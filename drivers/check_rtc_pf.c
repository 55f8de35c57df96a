/* Whether the RTC's periodic flag comes at the rate that register A asks for. See rtc_internal.h. */
#include "check.h"
#include "rtc_internal.h"
#include "wait.h"

#define PPM               INT64_C(1000000)
#define FAST_WINDOW_NS    (4 * WAIT_NS_PER_MS) /* interrupts stay masked so long: 4 periods of 1,024 Hz */
#define FAST_WINDOWS      32u
#define FAST_ALIKE        4u  /* so many windows, none more than a tenth apart from another, are no chance */
#define ALIKE_SHARE       10
#define SLOW_TRIES        3u
#define SLOW_EDGES        4u
#define SLOW_BOUND_NS     (100 * WAIT_NS_PER_MS) /* 6 periods of 64 Hz */
#define GUEST_LATE_NS     (10 * WAIT_NS_PER_MS)  /* ours: how late a hypervisor's host may be with an edge */
#define IRREGULAR         "Not seen: at %u Hz the flag comes irregularly, as a busy host may have it."

void
rtc_select_8192_hz(const struct checking *checking)
{
	struct device *device = checking->device;

	rtc_write_register(device, REGISTER_A, (device->saved[SAVED_A] & A_DIVIDER) | A_RATE_8192_HZ);
	(void)rtc_read_register(device, REGISTER_C);
}

struct rtc_flag
rtc_flag_begin(const struct checking *checking, uint64_t hz, uint8_t select)
{
	struct device *device = checking->device;
	struct rtc_flag flag = { .hz = hz };

	rtc_write_register(device, REGISTER_A, (device->saved[SAVED_A] & A_DIVIDER) | select);
	flag.begin = flag.looked = flag.end = check_tsc(device);
	rtc_pf_arm(device);
	return flag;
}

void
rtc_flag_look(const struct checking *checking, struct rtc_flag *flag)
{
	uint64_t begin = check_tsc(checking->device);
	bool came = rtc_read_register(checking->device, REGISTER_C) & C_PF;

	flag->end = check_tsc(checking->device);
	if (flag->end - flag->looked > flag->longest_ticks)
		flag->longest_ticks = flag->end - flag->looked;
	if (came) {
		flag->last_low = flag->looked;
		flag->last_high = flag->end;
		if (flag->edges++ == 0) {
			flag->first_low = flag->last_low;
			flag->first_high = flag->last_high;
		}
	}
	flag->looked = begin;
}

/* An edge may have been missed where two looks lie a period apart: two would look like one. */
static bool
is_whole(const struct checking *checking, const struct rtc_flag *flag)
{
	return flag->longest_ticks < scale_ticks(checking->scale, WAIT_NS_PER_S / flag->hz);
}

struct ppm {
	int64_t low, high;
};

/* How far EDGES in NS lie from the rate asked for. */
static int64_t
ppm_of(const struct rtc_flag *flag, uint64_t edges, uint64_t ns, enum scale_rounding rounding)
{
	return (int64_t)scale_ratio((unsigned __int128)edges * WAIT_NS_PER_S, PPM,
				    (unsigned __int128)flag->hz * (ns ? ns : 1), rounding) - PPM;
}

/*
 * From edge to edge, each of which may be LATE_NS late. Fewer than two edges leave the rate open below: one
 * more could have come just before the first look and one just after the last.
 */
static struct ppm
rate_of(const struct checking *checking, const struct rtc_flag *flag, uint64_t late_ns)
{
	uint64_t short_ns, long_ns;

	if (flag->edges < 2) {
		short_ns = scale_ns(checking->scale, flag->looked - flag->begin);
		return (struct ppm){ -PPM, ppm_of(flag, flag->edges + 1, short_ns, SCALE_UP) };
	}
	short_ns = flag->last_low > flag->first_high ?
		   scale_ns(checking->scale, flag->last_low - flag->first_high) : 0;
	long_ns = scale_ns(checking->scale, flag->last_high - flag->first_low);
	return (struct ppm){
		ppm_of(flag, flag->edges - 1, long_ns + late_ns + 1, SCALE_DOWN),
		ppm_of(flag, flag->edges - 1, short_ns > late_ns + 1 ? short_ns - late_ns - 1 : 0, SCALE_UP),
	};
}

static void
tell(struct behaviour *row, const struct rtc_flag *flag, struct ppm ppm)
{
	check_figure(row, ppm.low, ppm.high);
	behaviour_tell(row, "%u Hz: it is off by %lld to %lld ppm, from %llu edges.", (unsigned)flag->hz,
		       (long long)ppm.low, (long long)ppm.high, (unsigned long long)flag->edges);
}

void
rtc_flag_tell(const struct checking *checking, const struct rtc_flag *flag, struct behaviour *row)
{
	if (!is_whole(checking, flag))
		behaviour_tell(row, CHECK_TAKEN_AWAY);
	else if (scale_ns(checking->scale, flag->looked - flag->begin) < WAIT_NS_PER_S / flag->hz &&
		 flag->edges < 2)
		behaviour_tell(row, "Not seen: there was no time for an edge of %u Hz.", (unsigned)flag->hz);
	else
		tell(row, flag, rate_of(checking, flag, check_is_guest(checking) ? GUEST_LATE_NS : 0));
}

static struct rtc_flag
watch_fast(const struct checking *checking, uint64_t hz, uint8_t select)
{
	uint64_t interrupts = hw_interrupts_mask();
	struct rtc_flag flag = rtc_flag_begin(checking, hz, select);
	struct wait wait = wait_begin(checking->scale, FAST_WINDOW_NS);

	do
		rtc_flag_look(checking, &flag);
	while (wait_goes_on(&wait));
	rtc_pf_disarm(checking->device);
	hw_interrupts_restore(interrupts);
	return flag;
}

/* How far PPM lies from what was asked for; 0 where that lies inside. */
static int64_t
distance(struct ppm ppm)
{
	if (ppm.low > 0)
		return ppm.low;
	return ppm.high < 0 ? -ppm.high : 0;
}

static bool
are_alike(struct ppm slowest, struct ppm fastest)
{
	return (fastest.high - slowest.low) * ALIKE_SHARE < 2 * PPM + slowest.low + fastest.high;
}

/*
 * Windows until one is as asked for. In a guest a host may be late with every one of them, but not with all
 * of them alike; on bare metal the best one counts.
 */
static void
look_at_fast_rate(const struct checking *checking, struct behaviour *row, uint64_t hz, uint8_t select)
{
	struct ppm best = { 0, 0 }, slowest = { INT64_MAX, INT64_MAX }, fastest = { INT64_MIN, INT64_MIN };
	struct rtc_flag best_flag = { 0 };
	unsigned whole = 0;

	for (unsigned i = 0; i < FAST_WINDOWS && check_left_ns(checking) > FAST_WINDOW_NS; i++) {
		struct rtc_flag flag = watch_fast(checking, hz, select);
		struct ppm ppm = rate_of(checking, &flag, 0);

		if (!is_whole(checking, &flag))
			continue;
		if (whole++ == 0 || distance(ppm) < distance(best)) {
			best = ppm;
			best_flag = flag;
		}
		slowest = ppm.low < slowest.low ? ppm : slowest;
		fastest = ppm.high > fastest.high ? ppm : fastest;
		if (distance(best) == 0)
			break;
	}
	if (whole == 0)
		behaviour_tell(row, CHECK_TAKEN_AWAY);
	else if (distance(best) && check_is_guest(checking) &&
		 (whole < FAST_ALIKE || !are_alike(slowest, fastest)))
		behaviour_tell(row, IRREGULAR, (unsigned)hz);
	else
		tell(row, &best_flag, best);
}

static void
look_at_8192_hz(const struct checking *checking, struct behaviour *row)
{
	look_at_fast_rate(checking, row, 8192, A_RATE_8192_HZ);
}

static void
look_at_1024_hz(const struct checking *checking, struct behaviour *row)
{
	look_at_fast_rate(checking, row, 1024, A_RATE_1024_HZ);
}

static struct rtc_flag
watch_64_hz(const struct checking *checking)
{
	struct check_watch watch = check_watch(checking, SLOW_BOUND_NS);
	uint64_t interrupts = hw_interrupts_mask();
	struct rtc_flag flag = rtc_flag_begin(checking, 64, A_RATE_64_HZ);

	do {
		rtc_flag_look(checking, &flag);
		hw_interrupts_restore(interrupts);
		interrupts = hw_interrupts_mask();
	} while (flag.edges < SLOW_EDGES && check_goes_on(&watch));
	hw_interrupts_restore(interrupts);
	return flag;
}

static void
look_at_64_hz(const struct checking *checking, struct behaviour *row)
{
	struct rtc_flag flag;
	unsigned tries = 0;

	if (checking->device->saved[RTC_NEEDS_PIE]) {
		behaviour_tell(row, "Not seen: 64 Hz needs PIE for longer than interrupts may be masked.");
		return;
	}
	do
		flag = watch_64_hz(checking);
	while (!is_whole(checking, &flag) && ++tries < SLOW_TRIES && check_left_ns(checking) > SLOW_BOUND_NS);
	rtc_flag_tell(checking, &flag, row);
}

void
rtc_check_fast_rates(const struct checking *checking, struct behaviours *behaviours)
{
	static const struct check checks[] = {
		{ "rtc-periodic", FAST_WINDOW_NS, look_at_8192_hz },
		{ "rtc-periodic", FAST_WINDOW_NS, look_at_1024_hz },
		{ "rtc-periodic", SLOW_BOUND_NS, look_at_64_hz },
	};

	check_each(checking, checks, sizeof(checks) / sizeof(checks[0]), checking->rows[RTC].id, behaviours);
}
