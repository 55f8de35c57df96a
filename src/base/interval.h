/* Measured values with their error bounds. The true value is from LOW to HIGH. VALUE is the best estimate. */
#ifndef BARETICK_INTERVAL_H
#define BARETICK_INTERVAL_H

#include <stdbool.h>
#include <stdint.h>

struct interval_millihz {
	bool known;
	uint64_t value, low, high; /* in millihertz (Hz times 1,000) */
};

struct rate_interval { /* a rate in microhertz (millionths of a hertz) */
	bool known;
	uint64_t value, low, high; /* low <= value <= high */
};

struct interval_ppb {
	bool known;
	int64_t value, low, high; /* in parts per 10^9 (ppb) */
};

#define PPB_PER_PPM 1000

struct interval_ppm {
	bool known;
	int64_t value, low, high; /* in parts per 10^6 (ppm) */
};

static inline int64_t
interval_ppm_below(int64_t ppb)
{
	return ppb / PPB_PER_PPM - (ppb % PPB_PER_PPM < 0);
}

/* Converts an interval from ppb to ppm. The bounds are rounded outwards, and the value to the nearest ppm. */
static inline struct interval_ppm
interval_in_ppm(const struct interval_ppb *ppb)
{
	return (struct interval_ppm){ ppb->known, interval_ppm_below(ppb->value + PPB_PER_PPM / 2),
				      interval_ppm_below(ppb->low), -interval_ppm_below(-ppb->high) };
}

struct interval_ns {
	bool known;
	int64_t value, low, high;
};

#endif
