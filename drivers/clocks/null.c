/*
 * The driver of the null clock, which reads nothing. Its latency is therefore the cost of measuring: the two TSC reads
 * around each sample.
 */
#include "clocks/probe.h"

static uint64_t
null_read(void *)
{
	return 0;
}

DRIVER_SAMPLE(null, null_read)

static const struct clock null_row = {
	.id = "null", .title = "no clock; its latency is the cost of two TSC reads", .state = CLOCK_PRESENT,
	.found_by = "", .wrap_ticks = UINT64_MAX, .sample = null_sample,
};

static void
null_open(const struct platform *platform, struct device *device, struct clock *clocks)
{
	(void)probe_initialize_clocks(platform, device, clocks, &null_driver);
}

const struct driver null_driver = {
	.clock_count = 1,
	.rows = &null_row,
	.open = null_open,
	.close = probe_close,
};
