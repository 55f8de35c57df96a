/* What the files of the JSON report share, and nobody else needs. */
#ifndef BARETICK_JSON_INTERNAL_H
#define BARETICK_JSON_INTERNAL_H

#include "json.h"
#include "json_writer.h"

void json_clocks(struct json *json, const struct report *report);
void json_cores(struct json *json, const struct report *report);
void json_skew(struct json *json, const struct report *report);
void json_interference(struct json *json, const struct report *report);
void json_behaviours(struct json *json, const struct report *report);
void json_advice(struct json *json, const struct report *report);

/* One bar of a histogram: {"NAME": NS, "count": COUNT}. */
void json_bar(struct json *json, const char *name, uint64_t ns, uint64_t count);

/* {value, low, high} in millionths, from parts per 10^9; null where not known. */
void json_ppm(struct json *json, const char *key, const struct interval_ppb *ppb);

/* Rounded down; of any two. */
static inline int64_t
json_middle(int64_t low, int64_t high)
{
	return (int64_t)(((__int128)low + high) >> 1);
}

/* OFFSET in ns, rounded outwards, and the middle. */
struct json_ns {
	int64_t value, low, high;
};

struct json_ns json_ns(const struct report *report, struct offset offset);

/* A core's drift against the boot core's TSC, in millionths; null where not known. */
void json_drift(struct json *json, const char *key, const struct report *report, const struct report_core *core);

#endif
