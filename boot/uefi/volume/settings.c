/* Reads options from baretick.cfg, the image's load options and fw_cfg. See settings.h. */
#include "uefi/volume/settings.h"

#include "firmware/option_sources.h"
#include "uefi/volume/files.h"

static size_t
limit_to_option_buffer_size(size_t length)
{
	return length < OPTION_SOURCES_READ_SIZE ? length : OPTION_SOURCES_READ_SIZE;
}

/* Returns true if the first word of TEXT is the command itself. A shell includes the command, a boot entry does not. */
static bool
begins_with_command_name(const char *text, size_t length)
{
	static const char suffix[] = ".efi";
	size_t end = 0, size = sizeof(suffix) - 1;

	if (firmware_find_protocol(firmware_image, &guid_shell_parameters))
		return true;
	while (end < length && !options_is_blank(text[end]))
		end++;
	if (end < size)
		return false;
	for (size_t i = 0; i < size; i++)
		if ((text[end - size + i] | 0x20) != (suffix[i] | 0x20))
			return false;
	return true;
}

static bool
is_text_character(CHAR16 c)
{
	return (c >= 0x20 && c < 0x7f) || c == '\t' || c == '\n' || c == '\r';
}

static void
parse_load_options(struct option_sources *sources, char *buffer)
{
	EFI_LOADED_IMAGE *image = firmware_find_protocol(firmware_image, &guid_loaded_image);
	const CHAR16 *wide = image ? image->LoadOptions : NULL;
	size_t count = image ? image->LoadOptionsSize / sizeof(CHAR16) : 0, length = 0, skip = 0, held;

	if (!wide)
		return;
	for (; length < count && wide[length]; length++) {
		if (!is_text_character(wide[length])) {
			/* Binary data, such as a GUID or a device path, are for the firmware's own programs. */
			notes_add(&sources->report->notes, "The load options are %u bytes of binary data: they are not used.",
				  (unsigned)image->LoadOptionsSize);
			return;
		}
		if (length < OPTION_SOURCES_READ_SIZE)
			buffer[length] = (char)wide[length];
	}
	held = limit_to_option_buffer_size(length);
	bool typed = begins_with_command_name(buffer, held);

	if (typed)
		while (skip < held && !options_is_blank(buffer[skip]))
			skip++;
	if (typed)
		option_sources_parse_text(sources, buffer + skip, held - skip, length - skip, "the load options");
	else
		option_sources_parse_loader_text(sources, buffer, held, length, "the load options");
}

bool
settings_read(const struct cpu_facts *cpu, const struct options_names *names, const struct settings_other *other,
	      struct report *report, char *error)
{
	struct option_sources sources = option_sources_make_with_defaults(names, report, error);
	char *buffer = firmware_allocate(OPTION_SOURCES_READ_SIZE);
	size_t length;

	if (!buffer)
		return true;
	if (files_read_options(buffer, OPTION_SOURCES_READ_SIZE, &length))
		option_sources_parse_text(&sources, buffer, limit_to_option_buffer_size(length), length,
					  "baretick.cfg");
	else if (other && other->read(other->context, buffer, OPTION_SOURCES_READ_SIZE, &length))
		option_sources_parse_text(&sources, buffer, limit_to_option_buffer_size(length), length, other->name);
	parse_load_options(&sources, buffer);
	option_sources_parse_fw_cfg(&sources, cpu, buffer);
	firmware_boot->FreePool(buffer);
	return option_sources_check_combination(&sources);
}
