/* Reads options from the server that this machine was booted from. See netboot_options.h. */
#include "uefi/netboot_options.h"

#include "guard/guard.h"

#define ASKING " Asking %s for options ..."

struct question {
	const struct booted *booted;
	char *buffer;
	size_t size, length;
	bool good;
	char sentence[SERVER_SENTENCE_SIZE];
};

static void
request_options(void *context)
{
	struct question *question = context;
	const struct booted *booted = question->booted;

	question->good = server_read_options(&booted->server, booted->serial, question->buffer, question->size,
					     &question->length, question->sentence);
}

/* Prints LINE in the last row, which the progress line uses later. */
static void
print_last_row(struct console *console, const char *line)
{
	if (console->rows)
		console_row(console, console->rows - 1, INK_BAR, line);
}

static bool
read_options(void *context, char *buffer, size_t size, size_t *length)
{
	struct booted *booted = context;
	struct question question = { .booted = booted, .buffer = buffer, .size = size };
	struct fault fault;
	struct text text;

	text_init(&text, question.sentence, sizeof(question.sentence));
	if (!booted->server.options[0]) {
		report_note(booted->report, "This machine was booted over a network; the server is not asked for options: %s.",
			    booted->server.reason);
		return false;
	}
	text_printf(&text, ASKING, booted->server.options);
	print_last_row(booted->console, question.sentence);
	if (!guard_run(request_options, &question, &fault)) {
		text_init(&text, question.sentence, sizeof(question.sentence));
		text_printf(&text, "No options from %s: ", booted->server.options);
		fault_print_own(&text, &fault);
	}
	print_last_row(booted->console, "");
	if (question.sentence[0])
		report_note(booted->report, "%s", question.sentence);
	*length = question.length;
	return question.good;
}

const struct settings_other *
booted_open(struct booted *booted, struct console *console, struct report *report, const struct smbios_facts *smbios)
{
	server_find(&booted->server);
	booted->console = console;
	booted->report = report;
	booted->serial = smbios->serial;
	booted->other = (struct settings_other){ read_options, booted, booted->server.options };
	return booted->server.is_found ? &booted->other : NULL;
}
