/* The clock that is not read: its latency is what the bracket itself costs. */
#include "probe.h"

static uint64_t
null_read(void *device)
{
	(void)device;
	return 0;
}

DRIVER_SAMPLE(null, null_read)

static void
null_open(const struct platform *platform, struct device *device, struct clock *clocks)
{
	static const struct clock rows[] = {
		{
			.id = "null", .title = "nothing: what the bracket itself costs",
			.main = "null", .state = CLOCK_PRESENT, .found_by = "",
			.wrap_ticks = UINT64_MAX, .sample = null_sample,
		},
	};

	(void)probe_begin(platform, device, clocks, rows, 1);
}

static void
null_close(struct device *device)
{
	(void)device;
}

const struct driver null_driver = {
	.id = "null",
	.clock_count = 1,
	.ids = { "null" },
	.open = null_open,
	.close = null_close,
};
