/*
 * Tests of the report as an HTML page: the text around the placeholder, the report that replaces the placeholder, and
 * the size.
 */
#include <stdio.h>
#include <zlib.h>

#include "test.h"
#include "judge/judge.h"
#include "render/json/json.h"
#include "report_literal.h"

#define TEXT_SIZE (4 << 20)
#define PART_SIZE 256

static char html_bytes[TEXT_SIZE], json_bytes[TEXT_SIZE];

/* Packs STRING as src/page/build does. BYTES has PART_SIZE bytes. */
static struct html_part
pack(uint8_t *bytes, const char *string)
{
	z_stream zip = {
		.next_in = (uint8_t *)(uintptr_t)string, .avail_in = (unsigned)strlen(string),
		.next_out = bytes + 4, .avail_out = PART_SIZE - 4,
	};

	assert_in_range(strlen(string), 0, PART_SIZE - 1);
	memcpy(bytes, (uint8_t[]){ (uint8_t)strlen(string), 0, 0, 0 }, 4);
	assert_int_equal(deflateInit2(&zip, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_FIXED), Z_OK);
	assert_int_equal(deflate(&zip, Z_FINISH), Z_STREAM_END);
	deflateEnd(&zip);
	return (struct html_part){ bytes, 4 + zip.total_out };
}

/* Returns a page with the three texts. It is valid until the next call. */
static struct html_page *
page_of(const char *before, const char *between, const char *after)
{
	static uint8_t bytes[HTML_PARTS][PART_SIZE];
	static struct html_page page;

	page = (struct html_page){ .parts = { pack(bytes[0], before), pack(bytes[1], between), pack(bytes[2], after) } };
	return &page;
}

static struct text
rendered(const struct html_page *page, const struct report *report)
{
	struct text html = text_start(html_bytes, sizeof(html_bytes));
	html_render(&html, page, report);
	return html;
}

TEST(the_report_is_after_the_first_part)
{
	struct report *report = literal_make_clean_report();
	struct text html = rendered(page_of("<p>\xc2\xb5s</p>", "\n</script>", ""), report), json;

	text_init(&json, json_bytes, sizeof(json_bytes));
	json_render_brief(&json, report);
	assert_int_equal(html.length, 10 + json.length + 10);
	assert_memory_equal(html.bytes, "<p>\xc2\xb5s</p>", 10);
	assert_memory_equal(html.bytes + 10, json.bytes, json.length);
	assert_string_equal(html.bytes + 10 + json.length, "\n</script>");
}

TEST(charts_are_in_base64_after_the_second_part)
{
	struct html_page *page = page_of("", "<i>", "</i>");

	page->charts = "\x1f\x8b\xff";
	page->charts_length = 3;
	struct text html = rendered(page, literal_make_clean_report());
	assert_string_equal(strchr(html.bytes, '<'), "<i>H4v/\n</i>");
	assert_int_equal(html_length(page), strlen("<i></i>") + sizeof("H4v/\n"));
}

TEST(a_page_that_does_not_fit_is_marked_as_truncated)
{
	struct report *report = literal_make_clean_report();
	struct text html;

	text_init(&html, html_bytes, 1000);
	html_render(&html, page_of("", "", ""), report);
	assert_true(html.truncated);
	assert_true(html.length < 1000);
}

/* In this report, the CPU's name is </script>. */
TEST(nothing_in_the_report_can_end_its_script)
{
	struct report *report = literal_make_faulty_report();

	literal_judge(report);
	rendered(page_of("", "", ""), report);
	assert_non_null(strstr(html_bytes, "\\u003c/script>"));
	assert_null(strchr(html_bytes, '<'));
}

/* Returns the end of the JSON list that starts at FROM. */
static const char *
end_of_list(const char *from)
{
	size_t depth = 0;

	for (; *from != ']' || --depth; from++)
		depth += *from == '[';
	return from;
}

/*
 * Copies WHOLE without white space outside of strings. Leaves out the lists of exact durations, and the matrices of
 * all passes except pass number SHOWN (from 1).
 */
static void
make_brief(char *whole, size_t shown)
{
	static const char exact[] = "\"exact\": [", matrix[] = "\"matrix\": [";
	bool quoted = false;
	size_t matrices = 0;
	char *to = whole;

	for (const char *from = whole; *from; from++) {
		bool is_matrix = !quoted && strncmp(from, matrix, sizeof(matrix) - 1) == 0;

		matrices += is_matrix;
		if (!quoted && strncmp(from, exact, sizeof(exact) - 1) == 0) {
			to += sprintf(to, "\"exact\":null");
			from = end_of_list(from + sizeof(exact) - 2);
			continue;
		}
		if (is_matrix && matrices != shown) {
			to += sprintf(to, "\"matrix\":null");
			from = end_of_list(from + sizeof(matrix) - 2);
			continue;
		}
		quoted ^= *from == '"' && from[-1] != '\\';
		if (quoted || (*from != ' ' && *from != '\n'))
			*to++ = *from;
	}
	*to = '\0';
}

static void
check_brief(struct report *report)
{
	struct text brief, whole;

	text_init(&brief, html_bytes, sizeof(html_bytes));
	json_render_brief(&brief, report);
	text_init(&whole, json_bytes, sizeof(json_bytes));
	json_render(&whole, report);
	assert_non_null(strstr(json_bytes, "\"exact\": ["));
	make_brief(json_bytes, report->outcomes.sync.shown ? 2 : 1);
	assert_string_equal(html_bytes, json_bytes);
	assert_null(strstr(html_bytes, "\"exact\":["));
	assert_non_null(strstr(html_bytes, "\"exact\":null"));
}

TEST(a_pages_report_leaves_out_exact_durations_other_matrices_and_white_space)
{
	struct report *shows_last = literal_make_clean_report();

	shows_last->outcomes.sync.shown = 1;
	check_brief(shows_last);
	check_brief(literal_make_clean_report());
	check_brief(literal_make_faulty_report());
}

/* A page has at most 600,000 bytes, and its template has at most 400,000 bytes. */
TEST(report_of_64_cores_takes_less_than_200000_bytes_of_a_page)
{
	struct report *report = literal_make_report_of_cores(64, PAIR_SCHEDULE_ALL, NULL);

	literal_judge(report);
	struct text html = rendered(page_of("", "", ""), report);
	assert_false(html.truncated);
	assert_in_range(html.length, 64 * 64, 200000);
}
