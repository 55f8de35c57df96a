/* Reads and writes the marker file, which shows that a run did not finish. See marker.h. */
#include "run/marker.h"

#include "base/text.h"
#include "report/folders.h"

/* Text for human readers at the end of the marker file. */
#define REMARK_RUNS "# a run is in progress, or the machine was reset or lost power in this phase"
#define REMARK_KEPT \
	"# no run is in progress; least=mp: a run with sipi did not finish; least=off: a run with mp; " \
	"delete this file to retry"

/* How other cores are started. The index is a value of enum options_cores. */
static const char *const start_methods[] = {
	[CORES_SIPI] = "started by INIT-SIPI-SIPI (cores=sipi)",
	[CORES_MP] = "started by the firmware's MP services (cores=mp)",
	[CORES_OFF] = "not started (cores=off)",
};

void
marker_print(char bytes[MARKER_SIZE], const struct marker *marker)
{
	char line[MARKER_SIZE + 1];
	struct text text = text_start(line, sizeof(line));

	text_printf(&text, "phase=%s cores=%s least=%s report=%u %s", marker->phase,
		    options_cores_words[marker->cores], options_cores_words[marker->least], marker->report,
		    marker->phase[0] ? REMARK_RUNS : REMARK_KEPT);
	while (text.length < MARKER_SIZE - 1)
		text_put_char(&text, ' ');
	text_put_char(&text, '\n');
	__builtin_memcpy(bytes, line, MARKER_SIZE);
}

/*
 * Copies the value after KEY (which ends with "=") in LINE to VALUE. Returns false if LINE does not contain KEY, or
 * if the value is too long.
 */
static bool
parse_value(const char *line, const char *key, char *value, size_t size)
{
	size_t length = 0;

	while (*line && *line != '#') {
		size_t same = 0;

		while (key[same] && line[same] == key[same])
			same++;
		if (key[same]) {
			line++;
			continue;
		}
		for (line += same; length + 1 < size && *line && *line != ' '; line++)
			value[length++] = *line;
		value[length] = '\0';
		return *line == ' ';
	}
	return false;
}

static bool
parse_cores(const char *line, const char *key, enum options_cores *cores)
{
	char word[8];

	if (!parse_value(line, key, word, sizeof(word)))
		return false;
	for (unsigned i = CORES_SIPI; i <= CORES_OFF; i++) {
		*cores = (enum options_cores)i;
		if (text_equal(word, options_cores_words[*cores]))
			return true;
	}
	return false;
}

static bool
parse_number(const char *line, const char *key, unsigned *number)
{
	char digits[8];

	*number = 0;
	if (!parse_value(line, key, digits, sizeof(digits)))
		return false;
	for (const char *c = digits; *c; c++) {
		if (*c < '0' || *c > '9')
			return false;
		*number = *number * 10 + (unsigned)(*c - '0');
	}
	return *number <= FOLDERS_MAX;
}

bool
marker_parse(const char *bytes, size_t length, struct marker *marker)
{
	char line[MARKER_SIZE + 1];

	if (length < MARKER_SIZE || bytes[MARKER_SIZE - 1] != '\n')
		return false;
	__builtin_memcpy(line, bytes, MARKER_SIZE);
	line[MARKER_SIZE] = '\0';
	return parse_value(line, "phase=", marker->phase, sizeof(marker->phase)) &&
	       parse_cores(line, "cores=", &marker->cores) && parse_cores(line, "least=", &marker->least) &&
	       parse_number(line, "report=", &marker->report);
}

static void
add_note_on_unfinished_run(const struct marker *found, struct report *report)
{
	char bytes[REPORT_SENTENCE], folder[FOLDERS_NAME_SIZE];
	struct text text = text_start(bytes, sizeof(bytes));

	text_printf(&text, "The last run on this machine did not finish: it stopped in its phase %s", found->phase);
	if (found->cores != CORES_OFF)
		text_printf(&text, ", with other cores %s", start_methods[found->cores]);
	if (found->report) {
		folders_make_name(folder, found->report, !found->unrenamed);
		text_printf(&text, "; its report up to there is \\baretick\\%s", folder);
	}
	notes_add(&report->notes, "%s.", bytes);
}

/*
 * Makes this run leave out the sleep state in which the last run hung. All states are left out if that run hung in HLT
 * or between two states. Returns true if it hung in the phase of sleep states.
 */
static bool
leave_out_sleep_state(const struct marker *found, struct report *report)
{
	const char *state = found->phase + sizeof(MARKER_SLEEP_STATE) - 1;

	if (text_equal(found->phase, MARKER_SLEEP) || text_equal(found->phase, MARKER_SLEEP_STATE "halt")) {
		report->facts.options.cores.sleep = SLEEP_OFF;
		notes_add(&report->notes, "Therefore this run tests no sleep states (sleep=off); the next one will.");
		return true;
	}
	if (!text_begins_with(found->phase, MARKER_SLEEP_STATE))
		return false;
	text_copy(report->facts.sleep_left_out, sizeof(report->facts.sleep_left_out), state);
	notes_add(&report->notes, "Therefore this run does not test the sleep state %s; the next one will.", state);
	return true;
}

enum options_cores
marker_make_options_safer(const struct marker *found, struct report *report)
{
	struct options *options = &report->facts.options;
	enum options_cores least = found->least;
	bool unfinished = found->phase[0] != '\0', slept;

	if (unfinished)
		add_note_on_unfinished_run(found, report);
	if (unfinished && text_equal(found->phase, MARKER_TIMERS)) {
		report->facts.options.irq = IRQ_OFF;
		notes_add(&report->notes, "Therefore this run tests no timer interrupts (irq=off); the next one will.");
	}
	if (unfinished && text_equal(found->phase, MARKER_FIRMWARE)) {
		report->facts.options.efi_off = true;
		notes_add(&report->notes, "Therefore this run does not test the firmware's time (efi=off); the next one will.");
	}
	slept = leave_out_sleep_state(found, report);
	if (unfinished && !slept && found->cores != CORES_OFF && found->cores >= least)
		least = found->cores + 1;
	if (options->cores.given || options->cores.method >= least)
		return least;
	notes_add(&report->notes, "An earlier run, in which the other cores were %s, did not finish. In this run they "
		  "are %s. The option cores=sipi tries the usual method again.", start_methods[least - 1], start_methods[least]);
	options->cores.method = least;
	return least;
}
