/* Reads options from several sources. See option_sources.h. */
#include "firmware/option_sources.h"

#include "base/text.h"
#include "hw/fw_cfg.h"

#define SOURCE_SIZE 8192 /* maximum number of bytes of options in one source */
#define SHOWN_MAX   48   /* maximum total length of the unknown words that a note quotes, in characters */
#define FW_CFG_NAME "opt/baretick/options"

struct option_sources
option_sources_make_with_defaults(const struct options_names *names, struct report *report, char *error)
{
	options_set_defaults(&report->facts.options);
	return (struct option_sources){ names, report, error, true };
}

/* Reads only exit=, save= and serial= from a source that is too long or has another error. Ignores its other words. */
static void
parse_output_options(struct option_sources *sources, const char *text, size_t length)
{
	char ignored[OPTIONS_ERROR_SIZE];
	struct options *options = &sources->report->facts.options, word_only;
	struct text error;

	for (size_t i = 0; i < length;) {
		size_t start = i;

		while (i < length && !options_is_blank(text[i]))
			i++;
		if (text[start] == '#') {
			while (i < length && text[i] != '\n')
				i++;
			continue;
		}
		word_only = *options;
		text_init(&error, ignored, sizeof(ignored));
		if (options_parse(text + start, i - start, NULL, sources->names, &word_only, &error)) {
			options->exit = word_only.exit;
			options->save.on_volume = word_only.save.on_volume;
			options->serial = word_only.serial;
		}
		while (i < length && options_is_blank(text[i]))
			i++;
	}
}

void
option_sources_parse_text(struct option_sources *sources, const char *text, size_t held_length, size_t length,
			  const char *source)
{
	char ignored[OPTIONS_ERROR_SIZE];
	struct text error;

	text_init(&error, sources->good ? sources->error : ignored, OPTIONS_ERROR_SIZE); /* only the first error is shown */
	if (length > SOURCE_SIZE)
		text_printf(&error, "In %s: the options are %zu bytes long; the maximum is %u bytes.", source, length,
			    SOURCE_SIZE);
	else if (options_parse(text, length, source, sources->names, &sources->report->facts.options, &error))
		return;
	sources->good = false;
	parse_output_options(sources, text, held_length);
}

void
option_sources_parse_loader_text(struct option_sources *sources, char *text, size_t held, size_t length,
				 const char *source)
{
	char shown[SHOWN_MAX + 1];
	struct text foreign = text_start(shown, sizeof(shown));

	options_remove_foreign_words(text, held, &foreign);
	if (foreign.length)
		notes_add(&sources->report->notes, "The words \"%s%s\" in %s are no options of baretick: they are not used.", shown,
			  foreign.truncated ? "..." : "", source);
	option_sources_parse_text(sources, text, held, length, source);
}

void
option_sources_parse_fw_cfg(struct option_sources *sources, const struct cpu_facts *cpu, char *buffer)
{
	size_t length = 0;

	if (cpu->hypervisor[0] && /* only in a guest, because on bare metal a chip set may use these ports */
	    (fw_cfg_read_file(FW_CFG_NAME, buffer, OPTION_SOURCES_READ_SIZE, &length) || length))
		option_sources_parse_text(sources, buffer,
					  length < OPTION_SOURCES_READ_SIZE ? length : OPTION_SOURCES_READ_SIZE, length,
					  "fw_cfg " FW_CFG_NAME);
}

bool
option_sources_check_combination(struct option_sources *sources)
{
	if (sources->good && !options_are_exit_and_cores_compatible(&sources->report->facts.options, sources->error))
		sources->good = false;
	return sources->good;
}
