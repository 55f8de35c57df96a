/* The options: every key, every limit, and errors that name the wrong word, its source and the valid values. */
#include <stdio.h>
#include "test.h"
#include "options/options.h"
#include "rules/rules.h"
#include "base/text.h"

static const char *const clock_ids[] = { "tsc", "hpet", "acpi_pm", "pit", "rtc", NULL };
static const char *const rule_ids[] = { "clock-backward", "tsc-warp", NULL };
static const struct options_names names = { clock_ids, rule_ids };

static char error[OPTIONS_ERROR_SIZE];

/* Returns the empty text in ERROR. */
static struct text *
begin_error(void)
{
	static struct text text;

	text_init(&text, error, sizeof(error));
	return &text;
}

/* Parses a copy of exactly LENGTH bytes, so that the sanitizer sees a read beyond its end. */
static bool
parse_bytes(struct options *options, const char *text, size_t length)
{
	char *copy = malloc(length ? length : 1);
	bool ok;

	memcpy(copy, text, length);
	ok = options_parse(copy, length, "baretick.cfg", &names, options, begin_error());
	free(copy);
	return ok;
}

static bool
parse(struct options *options, const char *text)
{
	return parse_bytes(options, text, strlen(text));
}

static struct options
parsed(const char *text)
{
	struct options options;

	options_set_defaults(&options);
	if (!parse(&options, text))
		fail_msg("%s: %s", text, error);
	return options;
}

/* Asserts that TEXT is refused with MESSAGE, and that no option changes. */
static void
assert_refused_bytes(const char *text, size_t length, const char *message)
{
	struct options before, options;

	memset(&options, 0, sizeof(options));
	options_set_defaults(&options);
	options.cores.max = 7;
	before = options;
	assert_false(parse_bytes(&options, text, length));
	assert_string_equal(error, message);
	assert_memory_equal(&options, &before, sizeof(options));
}

static void
assert_refused(const char *text, const char *message)
{
	assert_refused_bytes(text, strlen(text), message);
}

TEST(defaults_are_as_in_the_readme)
{
	struct options options = parsed("");

	assert_int_equal(options_duration_ns(&options), 1000000000);
	assert_int_equal(options.clocks.count, 0);
	assert_int_equal(options.cores.method, CORES_SIPI);
	assert_int_equal(options.cores.max, UINT32_MAX);
	assert_int_equal(options.profile, PROFILE_STANDARD);
	assert_int_equal(options.cutoff_millionths, 99990000);
	assert_int_equal(options.exit, EXIT_ASK);
	assert_true(options.save.on_volume);
	assert_int_equal(options.limit_count, 0);
}

TEST(every_key_in_one_text_with_comments_and_crlf)
{
	struct options options = parsed("\xef\xbb\xbf# made on Windows: \xc3\xa9\r\n"
					"duration=3s clocks=tsc,rtc,tsc\tcores=mp#no blank before it\r\n"
					"\r\n  profile=quick cutoff=99.5 exit=return # save=bogus\r"
					"save=off limit.tsc-warp=12\n#");

	assert_int_equal(options.duration_ns, 3000000000);
	assert_int_equal(options.clocks.count, 2);
	assert_string_equal(options.clocks.ids[0], "tsc");
	assert_string_equal(options.clocks.ids[1], "rtc");
	assert_int_equal(options.cores.method, CORES_MP);
	assert_int_equal(options.profile, PROFILE_QUICK);
	assert_int_equal(options.cutoff_millionths, 99500000);
	assert_int_equal(options.exit, EXIT_RETURN);
	assert_false(options.save.on_volume);
	assert_int_equal(options.limit_count, 1);
	assert_string_equal(options.limits[0].rule, "tsc-warp");
	assert_int_equal(options.limits[0].value, 12);
}

#define KEYS "the options are duration, clocks, cores, profile, cutoff, exit, boots, save, serial, label, identity, " \
	     "irq, sleep, pic, efi, deadline, tsc_hz, gap, interval, rules, help, limit.RULE."

TEST(for_an_unknown_key_the_error_lists_all_keys)
{
	assert_refused("duration=1s clock=tsc",
		       "In baretick.cfg: \"clock=tsc\" is not an option (did you mean clocks?); " KEYS);
	assert_refused("limit=3", "In baretick.cfg: \"limit=3\" is not an option; " KEYS);
	assert_refused("=", "In baretick.cfg: \"=\" is not an option; " KEYS);
	assert_refused("Save=off", "In baretick.cfg: \"Save=off\" is not an option (did you mean save?); " KEYS);
}

TEST(an_error_undoes_all_options_of_its_text)
{
	struct options before, options = parsed("clocks=tsc limit.tsc-warp=5");

	before = options;
	assert_false(parse(&options, "duration=5s clocks=hpet,pit limit.tsc-warp=9 limit.clock-backward=1 cores=x"));
	assert_memory_equal(&options, &before, sizeof(options));
}

TEST(each_wrong_word_is_named_if_there_is_space)
{
	static char many[OPTIONS_ERROR_SIZE];
	struct options options;

	assert_refused("profile=fast duration=1s irq=on # gap=x\nrules=yes",
		       "In baretick.cfg: \"profile=fast\" is not valid: profile= takes quick, standard or soak. \"irq=on\" is "
		       "not valid: irq= takes off, auto or all. \"rules=yes\" is not valid: rules takes no value.");
	for (size_t i = 0; i + 9 < sizeof(many); i += 9)
		memcpy(many + i, "irq=on   ", 9);
	options_set_defaults(&options);
	assert_false(parse(&options, many));
	assert_in_range(strlen(error), OPTIONS_ERROR_SIZE - 40, OPTIONS_ERROR_SIZE - 1);
	assert_string_equal(error + strlen(error) - 4, " ...");
}

TEST(without_a_source_each_wrong_word_has_a_line)
{
	struct options options;

	options_set_defaults(&options);
	assert_false(options_parse("irq=on gap=1ms pic=1", 20, NULL, &names, &options, begin_error()));
	assert_string_equal(error, "\"irq=on\" is not valid: irq= takes off, auto or all.\n"
				   "\"pic=1\" is not valid: pic= takes off or on.");
	assert_false(options_parse("\x7f", 1, NULL, &names, &options, begin_error()));
	assert_memory_equal(error, "the control character 7fh at byte 1", 35);
}

TEST(word_of_4096_bytes_is_shown_by_its_start)
{
	struct options options;
	char text[4096];

	memset(text, 'a', sizeof(text));
	memcpy(text, "clocks=", 7);
	options_set_defaults(&options);
	assert_false(parse_bytes(&options, text, sizeof(text)));
	assert_non_null(strstr(error, "\"clocks=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...\" is not valid"));
	assert_non_null(strstr(error, "tsc, hpet, acpi_pm, pit, rtc."));
}

TEST(an_error_that_is_too_long_ends_with_dots_after_a_complete_name)
{
	static char all[30][OPTIONS_NAME_SIZE + 1];
	const char *many[31] = { NULL };
	const struct options_names long_names = { clock_ids, many };
	struct options options;

	for (unsigned i = 0; i < 30; i++) {
		snprintf(all[i], sizeof(all[i]), "rule-with-quite-a-long-name-%04u", i + 1);
		many[i] = all[i];
	}
	options_set_defaults(&options);
	assert_false(options_parse("limit.x=1", 9, "the load options", &long_names, &options, begin_error()));
	assert_in_range(strlen(error), OPTIONS_ERROR_SIZE - 40, OPTIONS_ERROR_SIZE - 1);
	assert_string_equal(error + strlen(error) - 27, "quite-a-long-name-0026, ...");
	assert_ptr_equal(strstr(error, "In the load options: \"limit.x=1\" names no rule"), error);
}

TEST(all_rules_that_have_a_limit_fit_into_the_error)
{
	/* A word and a source that are just short enough to be shown in full in an error. */
	static const char word[] = "limit.no-such-rule-of-a-long-name-0123456789-0123456789=3";
	static const char source[] = "a source whose name is as long as 60 characters of it are shown";
	const char *ids[RULES_MAX + 1];
	const struct options_names all = { clock_ids, ids };
	struct options options;
	size_t last = 0;

	rules_list_ids_with_limit(ids);
	while (ids[last + 1])
		last++;
	options_set_defaults(&options);
	assert_false(options_parse(word, sizeof(word) - 1, source, &all, &options, begin_error()));
	assert_memory_equal(error + strlen(error) - 1 - strlen(ids[last]), ids[last], strlen(ids[last]));
	assert_int_equal(error[strlen(error) - 1], '.');
}

TEST(words_with_bytes_outside_ascii_are_refused_and_shown_with_question_marks)
{
	assert_refused("\xc3\xa9x=1", "In baretick.cfg: \"??x=1\" is not an option; " KEYS);
	assert_refused("save=\xff",
		       "In baretick.cfg: \"save=?\" is not valid: save= takes off, auto, or http://HOST[:PORT]/PATH.");
}

TEST(control_characters_are_named_with_their_position)
{
	assert_refused_bytes("save=off\0exit=ask", 17,
			     "In baretick.cfg: the control character 00h at byte 9; options are key=value in "
			     "printable ASCII.");
	assert_refused("# \x1b[2J", "In baretick.cfg: the control character 1bh at byte 3; options are key=value in "
				   "printable ASCII.");
	assert_refused("save=off\x7f", "In baretick.cfg: the control character 7fh at byte 9; options are key=value "
				      "in printable ASCII.");
}

TEST(final_zeros_of_a_string_are_no_control_characters)
{
	struct options options;

	options_set_defaults(&options);
	assert_true(parse_bytes(&options, "save=off\0\0\0", 11));
	assert_false(options.save.on_volume);
	assert_true(parse_bytes(&options, "\0", 1));
	assert_true(parse_bytes(&options, "\0\0\0\0", 4));
	assert_true(parse_bytes(&options, "\xef\xbb\xbf\0", 4));
}

TEST(utf16_is_recognised_with_and_without_a_byte_order_mark)
{
	static const char message[] = "In baretick.cfg: the text is UTF-16; save it as ASCII or UTF-8.";

	assert_refused_bytes("\xff\xfes\0a\0v\0e\0", 10, message);
	assert_refused_bytes("\xfe\xff\0s\0a\0v\0e", 10, message);
	assert_refused_bytes("s\0a\0v\0e\0=\0o\0f\0f\0", 16, message);
	assert_refused_bytes("\0s\0a\0v\0e\0=\0o\0f\0f", 16, message);
	assert_refused_bytes("s\0a\0v\0e\0\0\0", 10, message);
	assert_refused("\xff\xfe", message);
}

TEST(words_of_a_loader_are_removed_and_possible_options_stay)
{
	static const struct {
		/* foreign: words of TEXT that are removed because they belong to a loader; "" if there are none */
		const char *text, *foreign;
	} lines[] = {
		{ "root=/dev/sdb3 init=/sbin/init rootwait ro", "root=/dev/sdb3 init=/sbin/init rootwait ro" },
		{ "console=ttyS0,115200 quiet splash", "console=ttyS0,115200 quiet splash" },
		{ "pci=noaer apic irqpoll", "pci=noaer apic irqpoll" },
		{ "BOOT_IMAGE=/vmlinuz clocksource=tsc hpet=force", "BOOT_IMAGE=/vmlinuz clocksource=tsc hpet=force" },
		{ "reboot=k panic=-1 nomodule console=hvc0", "reboot=k panic=-1 nomodule console=hvc0" },
		{ "crashkernel=256M", "crashkernel=256M" },
		{ "\\EFI\\BOOT\\BOOTX64.EFI", "\\EFI\\BOOT\\BOOTX64.EFI" },
		{ "image=/boot/x", "image=/boot/x" },
		{ "Windows Boot Manager", "Windows Boot Manager" },
		{ "ro # profile=quick", "ro" }, { "boot=live", "boot=live" }, { "boots=3", "" }, { "bots=3", "" },
		{ "root=/dev/sdb3 timeout=5m", "root=/dev/sdb3 timeout=5m" },
		{ "profile=quick virtio_mmio.device=512@0xfeb00000:5", "virtio_mmio.device=512@0xfeb00000:5" },
		{ "profile=quick ro cores=2 x=1", "ro x=1" },
		{ "profile=quick cores=2", "" }, { "help", "" }, { "limit.clock-backward=3", "" }, { "irq=off", "" },
		{ "IRQ=off", "" }, { "pic=on", "" }, { "profil=quick", "" }, { "proflie=quick", "" }, { "profiles=quick", "" },
		{ "profule=quick", "" }, { "Profile=quick", "" }, { "--profile=quick", "" }, { "profile", "" },
		{ "limits.tsc-warp=1", "" }, { "clock=tsc", "" }, { "core=2", "" }, { "ecit=poweroff", "" },
		{ "eixt=poweroff", "" }, { "duration:=3s", "" }, { "lable=/rack/7", "" }, { "label=/rack/7", "" },
		{ "label=\"root=/dev/sda ro\"", "" }, { "save=http://ro/x", "" },
		{ "dur=3s", "" }, { "quick", "" }, { "timeout=5m", "" }, { "profile=quick timeout=5m", "" }, { "=", "" },
		{ "durtion=3s root=/dev/sdb3", "root=/dev/sdb3" }, { " # a comment\n", "" }, { "", "" },
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		char text[80], moved[80];

		strcpy(text, lines[i].text);
		struct text foreign = text_start(moved, sizeof(moved));
		options_remove_foreign_words(text, strlen(text), &foreign);
		if (strcmp(moved, lines[i].foreign))
			fail_msg("of \"%s\" is moved: \"%s\"", lines[i].text, moved);
		assert_int_equal(strlen(text), strlen(lines[i].text));
		if (!moved[0])
			assert_string_equal(text, lines[i].text);
	}
}

TEST(options_are_kept_next_to_words_of_a_loader)
{
	char text[] = "profile=quick virtio_mmio.device=512@0xfeb00000:5 cores=2", moved[80];

	struct text foreign = text_start(moved, sizeof(moved));
	options_remove_foreign_words(text, strlen(text), &foreign);
	struct options options = parsed(text);

	assert_int_equal(options.profile, PROFILE_QUICK);
	assert_int_equal(options.cores.max, 2);
}

TEST(exit_return_needs_cores_mp_or_off)
{
	struct options options = parsed("exit=return");

	assert_false(options_are_exit_and_cores_compatible(&options, error));
	assert_string_equal(error, "exit=return needs cores=mp or cores=off, because the firmware cannot use cores that "
				   "baretick started itself. The other values are ask, reboot, poweroff and debug-exit.");
	options = parsed("exit=return cores=1");
	assert_false(options_are_exit_and_cores_compatible(&options, error));
	options = parsed("exit=return cores=mp");
	assert_true(options_are_exit_and_cores_compatible(&options, error));
	options = parsed("exit=return cores=off");
	assert_true(options_are_exit_and_cores_compatible(&options, error));
	options = parsed("exit=reboot");
	assert_true(options_are_exit_and_cores_compatible(&options, error));
}

TEST(an_invalid_label_is_refused)
{
	static const char *const words[] = {
		"label", "label=\"", "label=\"rack 7", "label=\"rack 7\nleft\"", "label=a\"b", "label=\"a\"b", "label=\"a\tb\"",
		"label=\xc3\xa9", "label=01234567890123456789012345678901234567890123456789012345678901234", "identity=yes",
		"identity", "label=rack 7", "serial=on", "serial",
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		struct options options;

		options_set_defaults(&options);
		assert_false(parse(&options, words[i]));
		assert_string_equal(options.label, "");
		assert_true(options.identity);
		assert_int_equal(options.serial, SERIAL_FULL);
	}
}

TEST(a_profile_sets_the_duration_unless_the_user_sets_it)
{
	struct options options = parsed("profile=quick");

	assert_int_equal(options_duration_ns(&options), 100000000);
	options = parsed("profile=soak");
	assert_int_equal(options_duration_ns(&options), 10000000000);
	options = parsed("duration=1s profile=soak");
	assert_int_equal(options_duration_ns(&options), 1000000000);
	options = parsed("");
	assert_int_equal(options_duration_ns(&options), 1000000000);
}

#define CASES_SIZE 65536
#define SOURCE     "In baretick.cfg: "

/*
 * Checks one LINE of the file options.cases. A line has a text and "->". After these, it has the options that differ
 * from the default, or ! and the error.
 */
static void
check_case(char *line)
{
	char *arrow = strstr(line, " ->"), *expected = arrow + 3 + (arrow[3] == ' '), bytes[OPTIONS_GIVEN_SIZE];
	struct options options;
	bool good;

	*arrow = '\0';
	for (char *end = strstr(line, "\\n"); end; end = strstr(end, "\\n")) {
		*end = '\n';
		memmove(end + 1, end + 2, strlen(end + 2) + 1);
	}
	options_set_defaults(&options);
	good = parse(&options, line);
	if (good == (expected[0] == '!'))
		fail_msg("%s: %s", line, good ? "is taken" : error);
	struct text text = text_start(bytes, sizeof(bytes));
	options_put_changed_options(&text, &options);
	if (good)
		assert_string_equal(bytes, expected);
	else if (expected[1])
		assert_string_equal(error + strlen(SOURCE), expected + 2);
}

TEST(all_cases_in_the_file_have_their_results)
{
	const char *tests = getenv("BARETICK_TESTS");
	char path[512], *bytes = calloc(1, CASES_SIZE), *rest = bytes;
	size_t count = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/unit/report/options.cases", tests ? tests : "tests");
	file = fopen(path, "rb");
	assert_non_null(file);
	assert_in_range(fread(bytes, 1, CASES_SIZE - 1, file), 1, CASES_SIZE - 2);
	fclose(file);
	for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n")) {
		if (!line[0] || line[0] == '#')
			continue;
		check_case(line);
		count++;
	}
	assert_true(count > 150);
	free(bytes);
}

TEST(for_a_misspelled_clock_or_rule_the_nearest_name_is_suggested)
{
	assert_refused("clocks=tsc,hept,rct",
		       SOURCE "\"clocks=tsc,hept,rct\" is not valid (did you mean hpet?): clocks= takes one or more of these, "
			      "separated by commas: tsc, hpet, acpi_pm, pit, rtc.");
	assert_refused("clocks=acpipm", SOURCE "\"clocks=acpipm\" is not valid (did you mean acpi_pm?): clocks= takes one or "
					       "more of these, separated by commas: tsc, hpet, acpi_pm, pit, rtc.");
	assert_refused("limit.tsc-wrap=3", SOURCE "\"limit.tsc-wrap=3\" names no rule that has a limit (did you mean "
						  "tsc-warp?); these have, with units that the option rules prints: "
						  "clock-backward, tsc-warp.");
}

TEST(the_options_remember_if_save_and_cores_were_set)
{
	assert_false(parsed("").save.given || parsed("save=http://1.2.3.4/p").save.given);
	assert_true(parsed("save=auto").save.given && parsed("save=off").save.given);
	assert_true(parsed("save=off save=http://1.2.3.4/p").save.on_volume);
	assert_true(parsed("cores=sipi").cores.given && !parsed("cores=sipi cores=4").cores.given);
	assert_true(parsed("help").prints.help && parsed("rules").prints.rules && !parsed("help").prints.rules);
}

TEST(the_longest_possible_options_fit_when_printed)
{
	struct options options = parsed("profile=standard duration=86399999ms cores=4096 cutoff=99.123456 deadline=86399999ms "
					"tsc_hz=1000000000000 interval=86399999ms gap=999999us exit=debug-exit save=http://1.2.3.4/p serial=summary "
					"identity=off irq=all pic=on");
	char bytes[OPTIONS_GIVEN_SIZE];

	memset(options.label, 'l', OPTIONS_LABEL_SIZE - 1);
	memset(options.save.url, 'u', URL_SIZE - 1);
	options.limit_count = OPTIONS_LIMITS_MAX;
	for (size_t i = 0; i < OPTIONS_LIMITS_MAX; i++) {
		memset(options.limits[i].rule, 'r', OPTIONS_NAME_SIZE - 1);
		options.limits[i].value = UINT64_C(1000000000000000000);
	}
	for (size_t i = 0; i < OPTIONS_CLOCKS_MAX; i++)
		memset(options.clocks.ids[i], 'c', OPTIONS_NAME_SIZE - 1);
	options.clocks.count = OPTIONS_CLOCKS_MAX;
	struct text text = text_start(bytes, sizeof(bytes));
	options_put_changed_options(&text, &options);
	assert_false(text.truncated);
	assert_true(text.length > 4000);
}
