/* Allocates the memory of a run, and renders its report into it. See plan.h. */
#include "plan.h"

#include "base/base64.h"
#include "firmware/firmware.h"
#include "measure/survey.h"
#include "render/csv/csv.h"
#include "render/json/compact.h"
#include "render/json/json.h"
#include "render/text/report_text.h"
#include "report/report_sizes.h"
#include "run/run.h"

#define MIB (UINT64_C(1) << 20)

/* The sizes of a plan's buffers in bytes. A size of 0 means that the plan does not have this buffer. */
struct sizes {
	size_t memory, series, table, json, html, csv, screen, base64, pack;
};

static struct sizes
get_buffer_sizes(const struct plan_page *page, size_t cores, enum pair_schedule widest, const struct options *options)
{
	size_t rows = run_max_series_rows(options, cores), rows_in_text = report_size_series(cores, rows);
	size_t printed = cores < REPORT_SERIAL_CORES ? cores : REPORT_SERIAL_CORES;

	return (struct sizes){
		.memory = survey_memory_bytes(cores, widest, rows),
		.series = run_series_size_bytes(options, cores),
		.table = report_size_table(cores),
		.json = report_size_json(cores) + rows_in_text,
		.html = page ? page->size(cores) + rows_in_text : 0,
		.csv = report_size_csv(cores),
		.screen = page ? page->screen_size : 0,
		.base64 = base64_encoded_size(survey_max_record_bytes(printed, widest, rows)),
		.pack = options->serial == SERIAL_COMPACT ? sizeof(struct deflate_work) : 0,
	};
}

static size_t
get_memory_for_run_mib(const struct plan_page *page, size_t cores, enum pair_schedule widest,
		       const struct options *options)
{
	const struct sizes size = get_buffer_sizes(page, cores, widest, options);

	return (size.memory + size.series + size.table + size.json + size.html + size.csv + size.screen + size.base64 +
		size.pack + MIB - 1) / MIB;
}

static struct text
allocate_text(size_t size)
{
	return (struct text){ .bytes = size ? firmware_allocate_raw_pages(UINT64_MAX, firmware_count_pages(size)) : NULL,
			      .size = size };
}

static void
free_text(struct text *text)
{
	firmware_free_pages(text->bytes, firmware_count_pages(text->size));
}

static bool
is_text_unallocated(const struct text *text)
{
	return text->size && !text->bytes;
}

void
plan_free(struct plan *plan)
{
	firmware_free_pages(plan->memory, plan->memory_pages);
	firmware_free(plan->series);
	free_text(&plan->table);
	free_text(&plan->json);
	free_text(&plan->html);
	free_text(&plan->csv);
	free_text(&plan->screen);
	free_text(&plan->base64);
	firmware_free(plan->pack);
	*plan = (struct plan){ .cores = 0 };
}

static bool
try_to_allocate_buffers(struct plan *plan, size_t cores, enum pair_schedule widest, const struct plan_page *page,
			const struct options *options)
{
	const struct sizes size = get_buffer_sizes(page, cores, widest, options);

	*plan = (struct plan){
		.page = page,
		.cores = cores,
		.widest = widest,
		.memory = firmware_allocate_pages(UINT64_MAX, firmware_count_pages(size.memory)),
		.memory_pages = firmware_count_pages(size.memory),
		.table = allocate_text(size.table),
		.series = size.series ? firmware_allocate(size.series) : NULL,
		.json = allocate_text(size.json),
		.html = allocate_text(size.html),
		.csv = allocate_text(size.csv),
		.screen = allocate_text(size.screen),
		.base64 = allocate_text(size.base64),
		.pack = size.pack ? firmware_allocate(size.pack) : NULL,
	};
	if (!plan->memory || (size.series && !plan->series) || is_text_unallocated(&plan->table) ||
	    is_text_unallocated(&plan->json) || is_text_unallocated(&plan->html) ||
	    is_text_unallocated(&plan->csv) || is_text_unallocated(&plan->screen) ||
	    is_text_unallocated(&plan->base64) || (size.pack && !plan->pack)) {
		plan_free(plan);
		return false;
	}
	return true;
}

/*
 * Adds a note if the memory is not enough for CORES cores. If only the measurement of all pairs was
 * left out, the survey reports this.
 */
static void
add_fewer_cores_note(const struct plan *plan, size_t cores, struct report *report)
{
	if (plan->cores < cores)
		notes_add(&report->notes, "%zu cores need %zu MiB of memory, which are not available: at most %zu cores are "
			  "used.", cores,
			  get_memory_for_run_mib(plan->page, cores, PAIR_SCHEDULE_STAR, &report->facts.options), plan->cores);
}

bool
plan_allocate_memory(struct plan *plan, size_t cores, const struct plan_page *page, struct report *report)
{
	for (size_t fewer = cores; fewer > 0; fewer /= 2) {
		if (!try_to_allocate_buffers(plan, fewer, PAIR_SCHEDULE_ALL, page, &report->facts.options) &&
		    !try_to_allocate_buffers(plan, fewer, PAIR_SCHEDULE_STAR, page, &report->facts.options))
			continue;
		add_fewer_cores_note(plan, cores, report);
		return true;
	}
	return false;
}

void
plan_show_step(const struct plan *plan, const char *what)
{
	if (plan->progress)
		progress_show_step(plan->progress, what);
}

bool
plan_render_files(struct plan *plan, const struct report *report, const struct text *texts[SAVE_FILES])
{
	bool fit = true;

	texts[SAVE_TEXT] = &plan->table;
	texts[SAVE_JSON] = &plan->json;
	texts[SAVE_HTML] = &plan->html;
	texts[SAVE_CSV] = &plan->csv;
	texts[SAVE_RECORD] = &plan->record;
	plan->record = (struct text){ .bytes = report->record.bytes, .size = report->record.length,
				      .length = report->record.length };
	text_init(&plan->table, plan->table.bytes, plan->table.size);
	text_init(&plan->json, plan->json.bytes, plan->json.size);
	text_init(&plan->csv, plan->csv.bytes, plan->csv.size);
	plan_show_step(plan, "formatting report.txt");
	table_render(&plan->table, report);
	plan_show_step(plan, "formatting report.json");
	json_render(&plan->json, report);
	plan_show_step(plan, "formatting report.csv");
	csv_render(&plan->csv, report);
	if (plan->page) {
		plan_show_step(plan, "formatting report.html");
		text_init(&plan->html, plan->html.bytes, plan->html.size);
		plan->page->render(&plan->html, report);
	}
	for (size_t i = 0; i < SAVE_FILES; i++)
		fit &= !texts[i]->truncated;
	return fit;
}

/* Returns the buffer for the short form of JSON, which overwrites the text that is in the buffer. */
static struct text *
get_short_json_buffer(struct plan *plan)
{
	return plan->page ? &plan->html : &plan->json;
}

void
plan_render_serial_texts(struct plan *plan, const struct report *report, const struct text **json,
			 const struct text **csv)
{
	struct text *shorter = get_short_json_buffer(plan);

	*json = &plan->json;
	*csv = &plan->csv;
	if (report->facts.core_count <= REPORT_SERIAL_CORES)
		return;
	text_init(shorter, shorter->bytes, shorter->size);
	text_init(&plan->csv, plan->csv.bytes, plan->csv.size);
	json_render_for_serial_port(shorter, report);
	csv_render_for_serial_port(&plan->csv, report);
	*json = shorter;
}

const struct text *
plan_render_record(struct plan *plan, const struct report *report)
{
	struct text *text = &plan->base64;

	if (!report->record.length || report->facts.core_count > REPORT_SERIAL_CORES)
		return NULL;
	plan_show_step(plan, "encoding report.record");
	text_init(text, text->bytes, text->size);
	base64_put(text, report->record.bytes, report->record.length);
	return text->truncated ? NULL : text;
}

const struct text *
plan_render_compact_report(struct plan *plan, const struct report *report)
{
	compact_render(&plan->csv, get_short_json_buffer(plan), plan->pack, report);
	return &plan->csv;
}
