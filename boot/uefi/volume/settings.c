/* Options from the file, the load options and fw_cfg. See settings.h. */
#include "settings.h"

#include "files.h"
#include "fw_cfg.h"
#include "text.h"

#define SOURCE_SIZE  8192 /* bytes of options in one source */
#define READ_SIZE    (64u << 10) /* of a source that is too long, for its exit= and serial= */
#define SHOWN_MAX    48 /* characters of load options, in a note */
#define FW_CFG_NAME  "opt/baretick/options"

struct reading {
	const struct options_names *names;
	struct report *report;
	struct options *options;
	char *error;
	bool good;
};

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Takes exit= and serial= out of a source that is wrong elsewhere, or too long; all other words of it stay unread. */
static void
salvage(struct reading *reading, const char *text, size_t length)
{
	char error[OPTIONS_ERROR_SIZE];
	struct options word_only;

	for (size_t i = 0; i < length;) {
		size_t start = i;

		while (i < length && !is_blank(text[i]))
			i++;
		if (text[start] == '#') {
			while (i < length && text[i] != '\n')
				i++;
			continue;
		}
		word_only = *reading->options;
		if (options_parse(text + start, i - start, "", reading->names, &word_only, error)) {
			reading->options->exit = word_only.exit;
			reading->options->serial = word_only.serial;
		}
		while (i < length && is_blank(text[i]))
			i++;
	}
}

/* TEXT has the first HELD of LENGTH bytes. */
static void
take(struct reading *reading, const char *text, size_t held, size_t length, const char *source)
{
	char ignored[OPTIONS_ERROR_SIZE];
	char *error = reading->good ? reading->error : ignored; /* the first error is the one to show */
	struct text sentence;

	if (length > SOURCE_SIZE) {
		text_init(&sentence, error, OPTIONS_ERROR_SIZE);
		text_printf(&sentence, "In %s: the text has %zu bytes; at most %u are read.", source, length, SOURCE_SIZE);
	} else if (options_parse(text, length, source, reading->names, reading->options, error)) {
		return;
	}
	reading->good = false;
	salvage(reading, text, held);
}

/* Returns true if the first word is the command, which a shell hands over and a boot entry does not. */
static bool
begins_with_command(const char *text, size_t length)
{
	static const char suffix[] = ".efi";
	size_t end = 0, size = sizeof(suffix) - 1;

	if (firmware_protocol(firmware_image, &guid_shell_parameters))
		return true;
	while (end < length && !is_blank(text[end]))
		end++;
	if (end < size)
		return false;
	for (size_t i = 0; i < size; i++)
		if ((text[end - size + i] | 0x20) != (suffix[i] | 0x20))
			return false;
	return true;
}

/* Load options that are not for baretick are no error, or the machine would have to be set up before it is measured. */
static void
note_foreign(struct reading *reading, const char *text, size_t length)
{
	char shown[SHOWN_MAX + 1];
	size_t i = 0;

	for (; i < length && i < SHOWN_MAX; i++)
		shown[i] = is_blank(text[i]) ? ' ' : text[i];
	shown[i] = '\0';
	report_note(reading->report, "The load options \"%s%s\" have no option of baretick: they are not used.", shown,
		    i < length ? "..." : "");
}

static bool
is_text(CHAR16 c)
{
	return (c >= 0x20 && c < 0x7f) || c == '\t' || c == '\n' || c == '\r';
}

static void
take_load_options(struct reading *reading, char *buffer)
{
	EFI_LOADED_IMAGE *image = firmware_protocol(firmware_image, &guid_loaded_image);
	const CHAR16 *wide = image ? image->LoadOptions : NULL;
	size_t count = image ? image->LoadOptionsSize / sizeof(CHAR16) : 0, length = 0, skip = 0, held;

	if (!wide)
		return;
	for (; length < count && wide[length]; length++) {
		if (!is_text(wide[length])) {
			/* A GUID, a device path, or other data for the firmware's own programs. */
			report_note(reading->report, "The load options are %u bytes of binary data: they are not used.",
				    (unsigned)image->LoadOptionsSize);
			return;
		}
		if (length < READ_SIZE)
			buffer[length] = (char)wide[length];
	}
	held = length < READ_SIZE ? length : READ_SIZE;
	bool typed = begins_with_command(buffer, held);

	if (typed)
		while (skip < held && !is_blank(buffer[skip]))
			skip++;
	if (!typed && options_are_foreign(buffer, held))
		note_foreign(reading, buffer, held);
	else
		take(reading, buffer + skip, held - skip, length - skip, "the load options");
}

bool
settings_read(const struct cpu_facts *cpu, const struct options_names *names, const struct settings_other *other,
	      struct report *report, char *error)
{
	struct options *options = &report->options;
	struct reading reading = { names, report, options, error, true };
	char *buffer = firmware_allocate(READ_SIZE);
	size_t length;

	options_default(options);
	if (!buffer)
		return true;
	if (files_read_options(buffer, READ_SIZE, &length))
		take(&reading, buffer, length < READ_SIZE ? length : READ_SIZE, length, "baretick.cfg");
	else if (other && other->read(other->context, buffer, READ_SIZE, &length))
		take(&reading, buffer, length < READ_SIZE ? length : READ_SIZE, length, other->name);
	take_load_options(&reading, buffer);
	length = 0;
	if (cpu->hypervisor[0] && /* on other machines these ports may be a chip set's */
	    (fw_cfg_read_file(FW_CFG_NAME, buffer, READ_SIZE, &length) || length))
		take(&reading, buffer, length < READ_SIZE ? length : READ_SIZE, length, "fw_cfg " FW_CFG_NAME);
	firmware_boot->FreePool(buffer);
	if (reading.good && !options_check(options, error))
		reading.good = false;
	return reading.good;
}
