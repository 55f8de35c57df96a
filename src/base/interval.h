/* Figures with their errors: the truth lies within low and high, both included, and VALUE is the best guess at it. */
#ifndef BARETICK_INTERVAL_H
#define BARETICK_INTERVAL_H

#include <stdbool.h>
#include <stdint.h>

struct interval_millihz {
	bool known;
	uint64_t value, low, high; /* Hz times 1,000 */
};

struct rate_interval { /* millionths of a hertz */
	bool known;
	uint64_t value, low, high; /* low <= value <= high */
};

struct interval_ppb {
	bool known;
	int64_t value, low, high; /* parts per 10^9 */
};

struct interval_ns {
	bool known;
	int64_t value, low, high;
};

#endif
