/*
 * The judge decides once which cores are off. Therefore the finding, the rows of the table, the map of pairs, the
 * screen and the JSON must name the same cores.
 */
#include <stdio.h>
#include "test.h"
#include "render/json/json.h"
#include "judge/judge.h"
#include "advice/recommend.h"
#include "report_literal.h"
#include "render/screen/screen.h"
#include "render/text/report_text.h"

#define CORES     8
#define PPM       1000 /* one ppm in ppb */
#define TEXT_SIZE (1 << 22)

static char buffer[TEXT_SIZE];
static uint8_t inks[TEXT_SIZE];
static char room[SCREEN_BUFFER_SIZE];

static struct report *
judged(struct report *report)
{
	literal_judge(report);
	recommend_clocks(report, &report->advice);
	return report;
}

/*
 * Makes a report about eight cores. Only the boot core is wrong, by 1 ppm, so the other seven cores drift against it.
 */
static struct report *
boot_core_off_by_1_ppm(void)
{
	struct report *report = literal_make_report_of_cores(CORES, PAIR_SCHEDULE_ALL, NULL);

	for (size_t i = 1; i < CORES; i++)
		literal_set_drift(report, i, (struct offset){ -PPM - (int64_t)i, -PPM + (int64_t)i });
	return report;
}

static struct report *
core_500_ticks_ahead(void)
{
	static const int64_t truth_ticks[CORES] = { [3] = 500 };

	return literal_make_report_of_cores(CORES, PAIR_SCHEDULE_ALL, truth_ticks);
}

/*
 * Returns a bit mask of the cores that are marked or red in the table "Offset and drift". The table ends with an empty
 * line.
 */
static uint64_t
marked_in_table(const struct report *report)
{
	uint64_t marked = 0;
	const char *row;

	struct text text = text_start(buffer, sizeof(buffer));
	text.inks = inks;
	table_render(&text, report);
	row = strstr(buffer, "\nOffset and drift");
	assert_non_null(row);
	row = strstr(strstr(row, "\n\n") + 2, "\n") + 1; /* first row below the headings */
	for (size_t i = 0; i < CORES; i++, row = strchr(row, '\n') + 1) {
		const char *end = strchr(row, '\n'), *mark = memchr(row, '!', (size_t)(end - row));
		bool is_red = false;

		assert_int_equal(strtoul(row, NULL, 10), report->facts.cores[i].apic_id);
		for (const char *at = row; at < end; at++)
			is_red |= inks[at - buffer] == INK_FAIL;
		assert_int_equal(is_red, mark != NULL);
		marked |= (uint64_t)is_red << i;
	}
	return marked;
}

static uint64_t
marked_in_json(const struct report *report, const char *key)
{
	uint64_t marked = 0;
	const char *at;
	char yes[32];

	struct text text = text_start(buffer, sizeof(buffer));
	json_render_brief(&text, report);
	assert_false(text.truncated);
	snprintf(yes, sizeof(yes), "\"%s\":true", key);
	at = strstr(buffer, "\"cores\":[");
	for (size_t i = 0; i < CORES; i++) {
		const char *next = strstr(at + 1, "\"apic_id\":"), *found;

		assert_non_null(next);
		at = next;
		next = strstr(at + 1, "\"apic_id\":");
		found = strstr(at, yes);
		marked |= (uint64_t)(found && (!next || i == CORES - 1 || found < next)) << i;
	}
	return marked;
}

/* Returns the number of red marks in the map of pairs, which has each pair in both directions. */
static size_t
marked_in_map(const struct report *report)
{
	size_t marked = 0;

	marked_in_table(report);
	const char *row = strstr(buffer, "\nPairs of cores:");
	assert_non_null(row);
	for (const char *at = strstr(row, "\n\n") + 2; *at; at++)
		marked += inks[at - buffer] == INK_FAIL && strchr("<>!", *at);
	return marked;
}

/* Returns the number of red rows on the screen's page about the cores. */
static size_t
red_rows_on_screen(const struct report *report)
{
	struct screen screen = { .version = "0.1.0", .report = report, .title = "", .document = "", .saved = "",
				 .columns = 200, .rows = 100, .buffer = room, .buffer_size = sizeof(room) };
	size_t red = 0;

	screen_open(&screen);
	screen_handle_key(&screen, '4');
	assert_int_equal(screen.page, SCREEN_CORES);
	for (size_t i = 1; i + 1 < screen.rows; i++) {
		struct screen_row row;
		bool is_red = false;

		screen_render_row(&screen, i, &row);
		for (size_t c = 0; c < screen.columns; c++)
			is_red |= row.bytes[c] != ' ' && row.inks[c] == INK_FAIL;
		red += is_red;
	}
	return red;
}

/* Returns a bit mask of the cores that findings of RULE name. */
static uint64_t
named_by(const struct report *report, const char *rule)
{
	uint64_t named = 0;

	for (size_t i = 0; i < report->outcomes.finding_count; i++) {
		const struct finding *finding = &report->outcomes.findings[i];

		for (size_t core = 0; strcmp(finding->rule, rule) == 0 && core < CORES; core++) {
			uint64_t bit = (uint64_t)(finding->core == report->facts.cores[core].apic_id) << core;

			assert_int_equal(named & bit, 0); /* once */
			named |= bit;
		}
	}
	return named;
}

static void
assert_says(const struct report *report, const char *sentence)
{
	struct text text = text_start(buffer, sizeof(buffer));
	table_render(&text, report);
	for (size_t i = 0; i < text.length; i++) /* a sentence may be wrapped between any two words */
		if (buffer[i] == '\n' && buffer[i + 1] == ' ' && buffer[i + 2] == ' ')
			memmove(&buffer[i], &buffer[i + 2], strlen(&buffer[i + 2]) + 1);
	if (!strstr(buffer, sentence))
		fail_msg("\"%s\" is not in:\n%s", sentence, buffer);
}

/* A core whose offset is within the limit is not marked in the table of cores, but its pairs are red in the map. */
TEST(a_core_that_drifts_or_is_off_is_named_once_and_a_core_within_a_limit_is_not_marked_in_the_table_of_cores)
{
	static const struct {
		const char *name;
		struct report *(*make)(void);
		const char *rule;
		uint64_t limit, core; /* 0 for the default limit; CORE is the bit of the only core that is named and marked */
		bool drifts;
		size_t pairs, rows; /* number of red cells in the map (two for each pair), and of red rows on the screen */
		const char *sentences[2];
	} cases[] = {
		{ "the boot core drifts by 1 ppm", boot_core_off_by_1_ppm, "tsc-drift", 0, 1 << 0, true, 0, 1,
		  { "1 of 8 cores drifts, core 0 the most: +0.999 .. +1.001 ppm against a core that does not.", "; 1 drifts" } },
		{ "the boot core drifts by less than the limit", boot_core_off_by_1_ppm, "tsc-drift", 2 * PPM, 0, true, 0, 0,
		  { "no drift proven on 7 of 7 other cores" } },
		{ "core 3 is off", core_500_ticks_ahead, "tsc-offset", 0, 1 << 3, false, 2 * (CORES - 1), CORES + 1,
		  { "not synchronised at 3.1 s, 1 of 8 cores" } },
		{ "core 3 is off by less than the limit", core_500_ticks_ahead, "tsc-offset", 1000, 0, false, 2 * (CORES - 1), CORES,
		  { "but not equal" } },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct report *report = cases[i].make();

		print_message("%s\n", cases[i].name);
		if (cases[i].limit)
			literal_set_limit(report, cases[i].rule, cases[i].limit);
		judged(report);
		assert_int_equal(named_by(report, cases[i].rule), cases[i].core);
		assert_int_equal(report->outcomes.finding_count, cases[i].core != 0);
		assert_int_equal(marked_in_table(report), cases[i].core);
		assert_int_equal(marked_in_json(report, "drifts"), cases[i].drifts ? cases[i].core : 0);
		assert_int_equal(marked_in_json(report, "off_majority"), cases[i].drifts ? 0 : cases[i].core);
		assert_int_equal(marked_in_map(report), cases[i].pairs);
		assert_int_equal(red_rows_on_screen(report), cases[i].rows);
		for (size_t k = 0; k < 2 && cases[i].sentences[k]; k++)
			assert_says(report, cases[i].sentences[k]);
	}
}
