/* What the files of the JSON report share, and nobody else needs. */
#ifndef BARETICK_JSON_INTERNAL_H
#define BARETICK_JSON_INTERNAL_H

#include "json.h"
#include "json_writer.h"

/* BRIEF: without the long lists of exact durations. */
void json_clocks(struct json *json, const struct report *report, bool brief);
void json_cores(struct json *json, const struct report *report);
void json_skew(struct json *json, const struct report *report);
void json_interference(struct json *json, const struct report *report);
void json_behaviours(struct json *json, const struct report *report);
void json_advice(struct json *json, const struct report *report);

/* One bar of a histogram: {"NAME": NS, "count": COUNT}. */
void json_bar(struct json *json, const char *name, uint64_t ns, uint64_t count);

/* {value, low, high} in millionths, from parts per 10^9; null where not known. */
void json_ppm(struct json *json, const char *key, const struct interval_ppb *ppb);

#endif
