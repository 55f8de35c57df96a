/* Reads options from the server that this machine was booted from. See netboot_options.h. */
#include "uefi/netboot_options.h"

#include "guard/guard.h"

#define ASKING " Asking %s for options ..."

struct question {
	const struct netboot *netboot;
	char *buffer;
	size_t size, length;
	bool good;
	char sentence[SERVER_SENTENCE_SIZE];
};

static void
request_options(void *context)
{
	struct question *question = context;
	const struct netboot *netboot = question->netboot;

	question->good = server_read_options(&netboot->server, netboot->serial, question->buffer, question->size,
					     &question->length, question->sentence);
}

/* Prints LINE in the last row, which the progress line uses later. */
static void
print_in_last_row(struct console *console, const char *line)
{
	if (console->rows)
		console_draw_row(console, console->rows - 1, INK_BAR, line);
}

static bool
read_options(void *context, char *buffer, size_t size, size_t *length)
{
	struct netboot *netboot = context;
	struct question question = { .netboot = netboot, .buffer = buffer, .size = size };
	struct fault fault;
	struct text text = text_start(question.sentence, sizeof(question.sentence));

	if (!netboot->server.options[0]) {
		notes_add(&netboot->report->notes, "This machine was booted over a network; the server is not asked for options: %s.",
			  netboot->server.reason);
		return false;
	}
	text_printf(&text, ASKING, netboot->server.options);
	print_in_last_row(netboot->console, question.sentence);
	if (!guard_run(request_options, &question, &fault)) {
		text_init(&text, question.sentence, sizeof(question.sentence));
		text_printf(&text, "No options from %s: ", netboot->server.options);
		fault_print_baretick_exception(&text, &fault);
	}
	print_in_last_row(netboot->console, "");
	if (question.sentence[0])
		notes_add(&netboot->report->notes, "%s", question.sentence);
	*length = question.length;
	return question.good;
}

const struct settings_other *
netboot_find_options(struct netboot *netboot, struct console *console, struct report *report,
		     const struct smbios_facts *smbios)
{
	server_find(&netboot->server);
	netboot->console = console;
	netboot->report = report;
	netboot->serial = smbios->serial;
	netboot->other = (struct settings_other){ read_options, netboot, netboot->server.options };
	return netboot->server.is_found ? &netboot->other : NULL;
}
