/*
 * baretick-replay, a program for Linux. Makes the report of a run again from its record, which may be from another
 * machine and another version of baretick. The readings are then judged by this version's rules.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "clocks/drivers.h"
#include "render/csv/csv.h"
#include "render/json/json.h"
#include "render/sections/table_sections.h"
#include "render/text/report_text.h"
#include "replay/replay.h"
#include "report/report_sizes.h"
#include "rules/rules.h"

#define RECORD_BYTES_MAX ((size_t)256 << 20) /* a larger file is not a record */
#define OPTIONS_BYTES_MAX ((size_t)1 << 20) /* for the lines on 8 KiB of wrong words, the longest text of options */
#define PATH_BYTES       4096
#define MESSAGE_BYTES    (3 * PATH_BYTES)

enum status { STATUS_PASS, STATUS_FAIL, STATUS_INCOMPLETE_OR_ERROR }; /* exit status, as in qemu/run */

extern const struct html_page page_parts; /* defined in boot/uefi/page.nasm */

static const char usage[] =
	"usage: baretick-replay RECORD [--out FOLDER] [--compare REPORT.json] [limit.RULE=VALUE ...]\n"
	"       baretick-replay --options FILE\n"
	"\n"
	"Makes the report of a run again from its record (report.record, next to report.json), and prints it without\n"
	"its last section, the durations of each clock's reads.\n"
	"\n"
	"  --out FOLDER           write report.json, report.txt, report.csv and report.html there instead\n"
	"  --compare REPORT.json  print the differences from this report instead\n"
	"  limit.RULE=VALUE       judge by another limit; the rules are in src/judge/README.md\n"
	"  --options FILE         check the options in baretick.cfg or another file, and print those that are no defaults\n"
	"  --version              print the version\n"
	"\n"
	"With the version of baretick that made the record, the report is the same to the byte, except for a note\n"
	"that it could not be saved. Another version judges the same readings by its own rules. The exit status is 0\n"
	"for the verdicts pass and warn, 1 for fail, and 2 for an incomplete run or an error.\n"
	"With --options it is 2 if an option is wrong, and a line is printed for each.\n"
	"With --compare it is 0 without differences and 1 with differences.\n";

/*
 * Prints a message. All messages with text from outside, such as the name of a file, are printed here: text_vprintf()
 * replaces characters that control a terminal.
 */
static void __attribute__((format(printf, 2, 0)))
print_message(FILE *to, const char *format, va_list arguments)
{
	char bytes[MESSAGE_BYTES];
	struct text text = text_start(bytes, sizeof(bytes));

	text_vprintf(&text, format, arguments);
	fputs(bytes, to);
}

static void __attribute__((format(printf, 2, 3)))
print(FILE *to, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	print_message(to, format, arguments);
	va_end(arguments);
}

static void __attribute__((format(printf, 1, 2), noreturn))
exit_with_error(const char *format, ...)
{
	va_list arguments;

	fputs("baretick-replay: ", stderr);
	va_start(arguments, format);
	print_message(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	exit(STATUS_INCOMPLETE_OR_ERROR);
}

/* Returns zeroed memory. The program never frees memory, because it ends after one report. */
static void *
allocate(void *, size_t bytes)
{
	return calloc(1, bytes);
}

static void *
allocate_or_exit(size_t bytes)
{
	void *memory = calloc(1, bytes);

	if (!memory)
		exit_with_error("there is no memory for %zu bytes", bytes);
	return memory;
}

static uint8_t *
read_file(const char *path, size_t *length)
{
	FILE *file = fopen(path, "rb");
	uint8_t *bytes = NULL;
	size_t size = 0, got = 0;

	if (!file)
		exit_with_error("%s: %s", path, strerror(errno));
	do {
		size += (size_t)1 << 20;
		bytes = realloc(bytes, size);
		if (!bytes)
			exit_with_error("%s: there is not enough memory to read this file", path);
		got += fread(bytes + got, 1, size - got, file);
	} while (got == size && size < RECORD_BYTES_MAX);
	if (ferror(file))
		exit_with_error("%s: %s", path, strerror(errno));
	if (got == size)
		exit_with_error("%s: the file is larger than a record can be", path);
	fclose(file);
	*length = got;
	return bytes;
}

/* Sets limits of rules in REPORT's options, from the COUNT options in WORDS. */
static void
set_rule_limits(struct report *report, char *const *words, int count)
{
	const char *ids[RULES_MAX + 1], *none[] = { NULL };
	const struct options_names names = { none, ids };
	char bytes[OPTIONS_ERROR_SIZE];

	rules_list_ids_with_limit(ids);
	struct text error = text_start(bytes, sizeof(bytes));
	for (int i = 0; i < count; i++) {
		if (strncmp(words[i], "limit.", 6))
			exit_with_error("%s: after a run only limits can be changed, as in limit.rate-off=200", words[i]);
		if (!options_parse(words[i], strlen(words[i]), "the command line", &names, &report->facts.options,
				   &error))
			exit_with_error("%s", bytes);
	}
}

static struct report *
make_report_from_record(const char *path, char *const *words, int count)
{
	const struct replay_memory memory = { allocate, NULL };
	struct report *report = allocate_or_exit(sizeof(*report));
	struct replay_found found;
	size_t length;
	uint8_t *record = read_file(path, &length);
	const char *error = replay_restore_report(record, length, &memory, report, &found);

	if (error)
		exit_with_error("%s: %s", path, error);
	if (strcmp(report->facts.run.version, VERSION) || strcmp(report->facts.run.commit, COMMIT))
		print(stderr, "The record is from baretick %s (%s). This is %s (%s), and judges by its own rules.\n",
		      report->facts.run.version, report->facts.run.commit, VERSION, COMMIT);
	set_rule_limits(report, words, count);
	replay_calculate_results(report, record, length, found.entries, found.dropped);
	return report;
}

typedef void render_text(struct text *out, const struct report *report);

static void
render_page(struct text *out, const struct report *report)
{
	html_render(out, &page_parts, report);
}

/* Renders REPORT by PUT into a new buffer. The buffer is large enough for the longest text, the page. */
static struct text
render_to_new_text(render_text *put, const struct report *report)
{
	size_t size = report_size_html(report->facts.core_count, html_length(&page_parts)) +
		      report_size_series(report->facts.core_count, report->facts.series.count);
	struct text text = text_start(allocate_or_exit(size), size);

	put(&text, report);
	if (text.truncated)
		exit_with_error("the report is larger than %zu bytes", size);
	return text;
}

static void
write_text(FILE *file, const char *path, const struct text *text)
{
	if (!file || fwrite(text->bytes, 1, text->length, file) != text->length || fflush(file))
		exit_with_error("%s: %s", path, strerror(errno));
}

/*
 * Writes TEXT to the file PATH completely or not at all. Others may have put a link or a FIFO at PATH, so it is
 * replaced and not opened.
 */
static void
replace_file(const char *path, const struct text *text)
{
	char new_path[PATH_BYTES];

	if ((size_t)snprintf(new_path, sizeof(new_path), "%s.new", path) >= sizeof(new_path))
		exit_with_error("%s: the path is too long", path);
	unlink(new_path);
	int fd = open(new_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "wb");
	if (!file)
		exit_with_error("%s: %s", path, strerror(errno));
	if (fwrite(text->bytes, 1, text->length, file) != text->length || fclose(file) || rename(new_path, path)) {
		int error = errno;

		unlink(new_path);
		exit_with_error("%s: %s", path, strerror(error));
	}
}

static void
write_report_files(const char *folder, const struct report *report)
{
	static const struct {
		const char *name;
		render_text *put;
	} files[] = {
		{ "report.json", json_render }, { "report.txt", table_render }, { "report.csv", csv_render },
		{ "report.html", render_page },
	};

	if (mkdir(folder, 0777) && errno != EEXIST)
		exit_with_error("%s: %s", folder, strerror(errno));
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct text text = render_to_new_text(files[i].put, report);
		char path[PATH_BYTES];

		if ((size_t)snprintf(path, sizeof(path), "%s/%s", folder, files[i].name) >= sizeof(path))
			exit_with_error("%s: the path is too long", folder);
		replace_file(path, &text);
	}
	print(stdout, "%s: %s\n", folder, verdict_words[report->outcomes.verdict]);
}

/* Replaces the process by diff(1), which compares the file PATH with FILE. Both its outputs become OUTPUT. */
static void __attribute__((noreturn))
run_diff(const char *path, FILE *file, int output)
{
	dup2(fileno(file), STDIN_FILENO);
	dup2(output, STDOUT_FILENO);
	dup2(output, STDERR_FILENO); /* a message of diff has the name of the file */
	execlp("diff", "diff", "-aU0", "--label", path, "--label", "replay", "--", path, "-", (char *)NULL);
	exit_with_error("diff: %s", strerror(errno));
}

/* Prints all that INPUT contains, without characters that control a terminal. */
static void
print_lines_from_outside(FILE *input)
{
	for (int byte = fgetc(input); byte != EOF; byte = fgetc(input))
		putchar(byte == '\n' || byte == '\t' || (byte >= ' ' && byte <= '~') ? byte : '?');
	fclose(input);
}

/* Prints REPORT as qemu/run prints it: without the long last section. */
static void
print_summary(const struct report *report)
{
	struct text text = render_to_new_text(table_render, report);
	size_t length = table_get_summary_length(&text);
	bool is_shorter = length < text.length;

	text.length = length;
	if (is_shorter)
		text_put(&text, "\n" TABLE_DURATIONS ": report.txt, with --out FOLDER\n");
	write_text(stdout, "standard output", &text);
}

/* Prints the differences between the file PATH and REPORT's JSON by diff(1). Returns diff's exit status. */
static int
print_differences_from_json_file(const char *path, const struct report *report)
{
	struct text text = render_to_new_text(json_render, report);
	FILE *file = tmpfile();
	int status, ends[2];

	write_text(file, "a temporary file", &text);
	rewind(file);
	fflush(stdout);
	if (pipe(ends))
		exit_with_error("a pipe: %s", strerror(errno));
	pid_t child = fork();

	if (child == 0) {
		close(ends[0]); /* the last reader's end closes diff's output, and thereby ends diff */
		run_diff(path, file, ends[1]);
	}
	close(ends[1]);
	print_lines_from_outside(fdopen(ends[0], "rb"));
	if (child < 0 || waitpid(child, &status, 0) < 0)
		exit_with_error("diff: %s", strerror(errno));
	return WIFEXITED(status) ? WEXITSTATUS(status) : STATUS_INCOMPLETE_OR_ERROR;
}

static enum status
get_exit_status(enum verdict verdict)
{
	if (verdict == VERDICT_PASS || verdict == VERDICT_WARN)
		return STATUS_PASS;
	return verdict == VERDICT_FAIL ? STATUS_FAIL : STATUS_INCOMPLETE_OR_ERROR;
}

/* Prints the options in the file PATH that differ from their defaults, or a line for each wrong word. */
static enum status
check_options_in_file(const char *path)
{
	const char *clock_ids[REPORT_CLOCKS_MAX + 1], *rule_ids[RULES_MAX + 1];
	const struct options_names names = { clock_ids, rule_ids };
	struct options options;
	size_t length;
	uint8_t *bytes = read_file(path, &length);

	drivers_list_clock_ids(clock_ids, REPORT_CLOCKS_MAX);
	rules_list_ids_with_limit(rule_ids);
	options_set_defaults(&options);
	struct text text = text_start(allocate_or_exit(OPTIONS_BYTES_MAX), OPTIONS_BYTES_MAX);
	bool good = options_parse((const char *)bytes, length, NULL, &names, &options, &text);

	if (good)
		options_put_changed_options(&text, &options);
	text_put_char(&text, '\n');
	write_text(stdout, "standard output", &text);
	return good ? STATUS_PASS : STATUS_INCOMPLETE_OR_ERROR;
}

struct request { /* the words of the command line */
	const char *record, *folder, *other;
	char **limits;
	int limit_count;
};

/* Returns the value of the option WORDS[*I]. The value is the next word, so *I is advanced. */
static const char *
read_option_value(int count, char **words, int *i)
{
	if (*i + 1 == count)
		exit_with_error("%s needs a value; --help explains the usage", words[*i]);
	return words[++*i];
}

/* Stores the words of the command line in REQUEST. Moves the limits of rules to the start of WORDS, in their order. */
static void
parse_command_line(struct request *request, int count, char **words)
{
	request->limits = words;
	for (int i = 1; i < count; i++) {
		if (!strcmp(words[i], "--help") || !strcmp(words[i], "-h"))
			exit(fputs(usage, stdout) < 0);
		else if (!strcmp(words[i], "--version"))
			exit(printf("baretick-replay " VERSION " (" COMMIT ")\n") < 0);
		else if (!strcmp(words[i], "--out"))
			request->folder = read_option_value(count, words, &i);
		else if (!strcmp(words[i], "--compare"))
			request->other = read_option_value(count, words, &i);
		else if (!strcmp(words[i], "--options"))
			exit((int)check_options_in_file(read_option_value(count, words, &i)));
		else if (words[i][0] == '-')
			exit_with_error("%s is no option; --help explains the usage", words[i]);
		else if (!request->record)
			request->record = words[i];
		else
			words[request->limit_count++] = words[i];
	}
	if (!request->record)
		exit_with_error("no record is given; --help explains the usage");
}

int
main(int count, char **words)
{
	struct request request = { .record = NULL };

	parse_command_line(&request, count, words);
	struct report *report = make_report_from_record(request.record, request.limits, request.limit_count);

	if (request.folder)
		write_report_files(request.folder, report);
	if (request.other)
		return print_differences_from_json_file(request.other, report);
	if (!request.folder)
		print_summary(report);
	return (int)get_exit_status(report->outcomes.verdict);
}
