/* A row of the table, and the figures that stand in it. See csv_internal.h. */
#include "csv_internal.h"

#include "scale.h"

/* In quotes where it has in it what would end it. */
static void
put_field(struct text *out, const char *field)
{
	bool quoted = false;

	for (const char *c = field; *c; c++)
		quoted |= *c == ',' || *c == '"' || *c == '\n' || *c == '\r';
	if (quoted)
		text_put_char(out, '"');
	for (; *field; field++) {
		if (*field == '"')
			text_put_char(out, '"');
		text_put_char(out, *field);
	}
	if (quoted)
		text_put_char(out, '"');
}

static void
put_number(struct text *out, bool known, __int128 value, unsigned digits)
{
	text_put_char(out, ',');
	if (!known)
		return;
	if (value < 0)
		text_put_char(out, '-');
	text_put_decimal(out, (uint64_t)(value < 0 ? -value : value), digits, digits);
}

void
csv_row(const struct csv *csv, struct subject of, const char *metric, struct figure figure, const char *unit)
{
	struct text *out = csv->out;
	bool is_interval = figure.known && figure.is_interval;

	put_field(out, csv->report->started_at);
	text_put_char(out, ',');
	put_field(out, of.clock ? of.clock : "");
	text_put_char(out, ',');
	if (of.core != REPORT_NO_CORE)
		text_printf(out, "%u", of.core);
	text_put_char(out, ',');
	put_field(out, metric);
	put_number(out, figure.known, figure.value, figure.digits);
	put_number(out, is_interval, figure.low, figure.digits);
	put_number(out, is_interval, figure.high, figure.digits);
	text_put_char(out, ',');
	put_field(out, unit ? unit : "");
	text_put_char(out, '\n');
}

void
csv_known(const struct csv *csv, struct subject of, const char *metric, struct figure figure, const char *unit)
{
	if (figure.known)
		csv_row(csv, of, metric, figure, unit);
}

struct figure
csv_number(bool known, uint64_t value, unsigned digits)
{
	return (struct figure){ .digits = digits, .known = known, .value = value };
}

struct figure
csv_ppm(const struct interval_ppb *ppb)
{
	return (struct figure){ CSV_MILLI, ppb->known, true, ppb->value, ppb->low, ppb->high };
}

struct figure
csv_hertz(const struct interval_millihz *millihz)
{
	return (struct figure){ CSV_MILLI, millihz->known, true, millihz->value, millihz->low, millihz->high };
}

struct figure
csv_rate(const struct rate *rate)
{
	return csv_number(rate->den, rate->den ? scale_mul_div_nearest(rate->num, 1000, rate->den) : 0, CSV_MILLI);
}

struct figure
csv_ns(struct interval_ns ns)
{
	return (struct figure){ 0, ns.known, true, ns.value, ns.low, ns.high };
}
