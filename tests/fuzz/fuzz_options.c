/*
 * libFuzzer target that reads arbitrary bytes as options. If they are accepted, all values must be in range, and must
 * stay the same when they are written and read again. If they are refused, no option may change, and the error must be
 * printable.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "options/options.h"
#include "rules/rules.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
require_true(bool holds)
{
	if (!holds)
		abort();
}

static void
check_accepted_options(const struct options *options)
{
	char error[OPTIONS_ERROR_SIZE];

	require_true(options_duration_ns(options) >= 10000000 && options_duration_ns(options) <= 86400000000000);
	require_true(options->cutoff_millionths <= 100000000);
	require_true(options->clocks.count <= 5 && options->limit_count <= RULES_MAX);
	require_true(options->cores.max == UINT32_MAX || (options->cores.max >= 1 && options->cores.max <= 4096));
	require_true(options_cores_words[options->cores.method] && options_profile_words[options->profile] &&
		     options_exit_words[options->exit]);
	for (size_t i = 0; i < options->limit_count; i++)
		require_true(rules_find(options->limits[i].rule) && options->limits[i].value <= INT64_MAX);
	options_are_exit_and_cores_compatible(options, error);
}

static void
check_error(const char *error)
{
	size_t length = strnlen(error, OPTIONS_ERROR_SIZE);

	require_true(length > 0 && length < OPTIONS_ERROR_SIZE && error[length - 1] == '.');
	for (size_t i = 0; i < length; i++)
		require_true(error[i] >= 0x20 && error[i] <= 0x7e);
}

/* Checks that the removal of other programs' words changes bytes only to spaces, and only if it returns such words. */
static void
check_removal_of_foreign_words(const uint8_t *data, size_t size)
{
	static char moved[1 << 16];
	char *rest = malloc(size + 1);
	struct text foreign;

	require_true(rest);
	memcpy(rest, data, size);
	text_init(&foreign, moved, sizeof(moved));
	options_remove_foreign_words(rest, size, &foreign);
	for (size_t i = 0; i < size; i++)
		require_true(rest[i] == (char)data[i] || (rest[i] == ' ' && foreign.length));
	free(rest);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const clocks[] = { "tsc", "hpet", "acpi_pm", "pit", "rtc", NULL };
	const char *rule_ids[RULES_MAX + 1];
	const struct options_names names = { clocks, rule_ids };
	char error[OPTIONS_ERROR_SIZE];
	struct text text;
	struct options options, before, again;

	rules_list_ids_with_limit(rule_ids);
	memset(&options, 0, sizeof(options));
	options_set_defaults(&options);
	before = options;
	text_init(&text, error, sizeof(error));
	check_removal_of_foreign_words(data, size);
	if (!options_parse((const char *)data, size, "fuzz", &names, &options, &text)) {
		require_true(memcmp(&options, &before, sizeof(options)) == 0);
		check_error(error);
		return 0;
	}
	check_accepted_options(&options);
	again = options;
	require_true(options_parse((const char *)data, size, "fuzz", &names, &again, &text));
	require_true(memcmp(&options, &again, sizeof(options)) == 0);
	return 0;
}
