/* Stated rates of clocks: where they are stated, how wrong they are, and which systems use them. */
#include "render/sections/table_sections.h"

#include "base/number.h"
#include "base/scale.h"
#include "base/units.h"

#define CLOCK_COLUMNS  8
#define SOURCE_COLUMNS 23
#define USERS_COLUMN   57
#define PPM_DIGITS     3

static void
put_claim_error(struct text *out, const struct claim_outcome *row)
{
	int64_t ppb = row->error.value;
	char bytes[24] = "-";
	struct text text = text_start(bytes, sizeof(bytes));

	if (row->error.known) {
		text_put_char(&text, ppb < 0 ? '-' : '+');
		text_put_decimal(&text, ppb < 0 ? 0 - (uint64_t)ppb : (uint64_t)ppb, PPM_DIGITS, 1);
	} else {
		text_put_char(&text, '-');
	}
	text_printf(out, "%*s%s%c  ", (int)(text.length < 11 ? 11 - text.length : 0), "", bytes,
		    row->outcome == OUTCOME_FAILED ? '!' : row->outcome == OUTCOME_NOT_DETERMINED ? '?' : ' ');
}

static void
put_claim_row(struct text *out, const struct claim *claim, const struct claim_outcome *row)
{
	size_t line_start = out->length;
	char bytes[REPORT_SENTENCE];
	struct text text = text_start(bytes, sizeof(bytes));

	text_printf(out, "%-*s%-*s", CLOCK_COLUMNS, claim_clock_ids[claim->clock], SOURCE_COLUMNS, claim->by);
	if (!claim->hz.den) {
		text_printf(&text, "not claimed: %s", claim->reason);
	} else {
		text_printf(out, "%12s", number_from_millihz(scale_mul_div_nearest(claim->hz.num, MILLIHZ_PER_HZ,
										   claim->hz.den)).text);
		put_claim_error(out, row);
		for (size_t i = 0; i < row->user_count; i++)
			text_printf(&text, "%s%s", i ? ", " : "", row->users[i]);
		text_put(&text, row->user_count ? "" : "-");
	}
	table_put_wrapped(out, line_start, claim->hz.den ? USERS_COLUMN : CLOCK_COLUMNS + SOURCE_COLUMNS, bytes);
}

void
table_put_claims(struct text *out, const struct report *report)
{
	if (!report->facts.claim_count)
		return;
	text_printf_coloured(out, INK_HEADING,
			     "\nClaimed rates of the clocks, and the systems that use them without measuring\n\n");
	text_printf(out, "%-*s%-*s%12s%12s  taken by\n", CLOCK_COLUMNS, "clock", SOURCE_COLUMNS, "source", "claimed",
		    "error ppm");
	for (size_t i = 0; i < report->facts.claim_count; i++)
		put_claim_row(out, &report->facts.claims[i].claim, &report->outcomes.claims[i]);
	text_put_char(out, '\n');
	table_put_sentence(out,
			   "Error: how much faster the clock runs than claimed. A system that uses the claim runs fast by "
		       "as much. \"!\": wrong, \"?\": not determined.");
}
