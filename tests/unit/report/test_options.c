/* The options: every key, every bound, and errors that name the word, its source and what would do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "options.h"
#include "rules.h"
#include "text.h"

static const char *const clock_ids[] = { "tsc", "hpet", "acpi_pm", "pit", "rtc", NULL };
static const char *const rule_ids[] = { "clock-backward", "tsc-warp", NULL };
static const struct options_names names = { clock_ids, rule_ids };

static char error[OPTIONS_ERROR_SIZE];

/* From a heap block of just LENGTH bytes, so that a read beyond it is caught. */
static bool
parse_bytes(struct options *options, const char *text, size_t length)
{
	char *copy = malloc(length ? length : 1);
	bool ok;

	memcpy(copy, text, length);
	memset(error, 'x', sizeof(error));
	ok = options_parse(copy, length, "baretick.cfg", &names, options, error);
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

	options_default(&options);
	if (!parse(&options, text))
		fail_msg("%s: %s", text, error);
	return options;
}

/* TEXT is refused with just MESSAGE, and the options stay as they were. */
static void
assert_refused_bytes(const char *text, size_t length, const char *message)
{
	struct options before, options;

	memset(&options, 0, sizeof(options));
	options_default(&options);
	options.cores_max = 7;
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

static void
defaults_are_those_of_the_readme(void **state)
{
	struct options options = parsed("");

	(void)state;
	assert_int_equal(options.duration_ns, 1000000000);
	assert_false(options.duration_given);
	assert_int_equal(options.clock_count, 0);
	assert_int_equal(options.cores, CORES_SIPI);
	assert_int_equal(options.cores_max, UINT32_MAX);
	assert_int_equal(options.profile, PROFILE_STANDARD);
	assert_int_equal(options.cutoff_millionths, 99990000);
	assert_int_equal(options.exit, EXIT_ASK);
	assert_true(options.save);
	assert_int_equal(options.limit_count, 0);
}

static void
every_key_in_one_text_with_comments_and_crlf(void **state)
{
	struct options options = parsed("\xef\xbb\xbf# made on Windows: \xc3\xa9\r\n"
					"duration=3s clocks=tsc,rtc,tsc\tcores=mp#no blank before it\r\n"
					"\r\n  profile=quick cutoff=99.5 exit=return # save=bogus\r"
					"save=off limit.tsc-warp=12\n#");

	(void)state;
	assert_int_equal(options.duration_ns, 3000000000);
	assert_true(options.duration_given);
	assert_int_equal(options.clock_count, 2);
	assert_string_equal(options.clocks[0], "tsc");
	assert_string_equal(options.clocks[1], "rtc");
	assert_int_equal(options.cores, CORES_MP);
	assert_int_equal(options.profile, PROFILE_QUICK);
	assert_int_equal(options.cutoff_millionths, 99500000);
	assert_int_equal(options.exit, EXIT_RETURN);
	assert_false(options.save);
	assert_int_equal(options.limit_count, 1);
	assert_string_equal(options.limits[0].rule, "tsc-warp");
	assert_int_equal(options.limits[0].value, 12);
}

static void
durations_have_four_units_and_two_bounds(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} good[] = {
		{ "duration=10ms", 10000000 },	    { "duration=500ms", 500000000 },
		{ "duration=3s", 3000000000 },	    { "duration=2m", 120000000000 },
		{ "duration=24h", 86400000000000 }, { "duration=1440m", 86400000000000 },
		{ "duration=0086400s", 86400000000000 }, { "duration=86400000ms", 86400000000000 },
	};
	static const char *const bad[] = {
		"9ms", "0s", "25h", "1441m", "86401s", "86400001ms", "1.5s", "3", "ms", "", "-1s", "+1s", "3 s", "1us", "1ss",
		"1S", "18446744073709551617s", "1s,", "0x1s",
	};
	struct options options;
	char text[64];

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_int_equal(parsed(good[i].text).duration_ns, good[i].ns);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		strcpy(text, "duration=");
		strcat(text, bad[i]);
		options_default(&options);
		assert_false(parse(&options, text));
		assert_non_null(strstr(error, "duration= takes a whole number and ms, s, m or h, from 10ms to 24h."));
	}
	assert_refused("duration=1.5s", "In baretick.cfg: \"duration=1.5s\" is not valid: duration= takes a whole "
					"number and ms, s, m or h, from 10ms to 24h.");
}

static void
clocks_are_names_of_the_list_and_a_later_list_replaces(void **state)
{
	struct options options = parsed("clocks=tsc,hpet,acpi_pm,pit,rtc,rtc clocks=pit");

	(void)state;
	assert_int_equal(options.clock_count, 1);
	assert_string_equal(options.clocks[0], "pit");
	assert_int_equal(parsed("clocks=tsc,hpet,acpi_pm,pit,rtc,rtc").clock_count, 5);
	assert_refused("clocks=tsc,hept", "In baretick.cfg: \"clocks=tsc,hept\" is not valid: clocks= takes one or more of "
					  "these, separated by commas: tsc, hpet, acpi_pm, pit, rtc.");
	assert_false(parse(&options, "clocks="));
	assert_false(parse(&options, "clocks=tsc,"));
	assert_false(parse(&options, "clocks=,tsc"));
	assert_false(parse(&options, "clocks=ts"));
	assert_false(parse(&options, "clocks=tscc"));
	assert_false(parse(&options, "clocks=TSC"));
}

static void
cores_are_a_word_or_a_number_and_the_later_wins_whole(void **state)
{
	struct options options = parsed("cores=off cores=4");

	(void)state;
	assert_int_equal(options.cores, CORES_SIPI);
	assert_int_equal(options.cores_max, 4);
	options = parsed("cores=4 cores=mp");
	assert_int_equal(options.cores, CORES_MP);
	assert_int_equal(options.cores_max, UINT32_MAX);
	assert_int_equal(parsed("cores=4096").cores_max, 4096);
	assert_int_equal(parsed("cores=1").cores_max, 1);
	assert_false(parse(&options, "cores=4097"));
	assert_false(parse(&options, "cores=4x"));
	assert_false(parse(&options, "cores="));
	assert_refused("cores=0", "In baretick.cfg: \"cores=0\" is not valid: cores= takes sipi, mp, off, or a number of "
				  "cores from 1 to 4096.");
}

static void
cutoff_is_a_percentage_with_up_to_6_decimals(void **state)
{
	static const char *const bad[] = { "cutoff=100.000001", "cutoff=101", "cutoff=99.9999999", "cutoff=",
					   "cutoff=.5",		"cutoff=5.",  "cutoff=99,9",	   "cutoff=99.9%",
					   "cutoff=9.9.9",	"cutoff=-1",  "cutoff=1e1",	   "cutoff=4294967296" };
	struct options options;

	(void)state;
	assert_int_equal(parsed("cutoff=0").cutoff_millionths, 0);
	assert_int_equal(parsed("cutoff=100").cutoff_millionths, 100000000);
	assert_int_equal(parsed("cutoff=100.000000").cutoff_millionths, 100000000);
	assert_int_equal(parsed("cutoff=99.999999").cutoff_millionths, 99999999);
	assert_int_equal(parsed("cutoff=0.000001").cutoff_millionths, 1);
	assert_int_equal(parsed("cutoff=50.05").cutoff_millionths, 50050000);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		options_default(&options);
		assert_false(parse(&options, bad[i]));
		assert_non_null(strstr(error, "cutoff= takes a percentage from 0 to 100 with at most 6 decimals."));
	}
}

static void
words_of_a_choice_are_read_back_as_they_are_typed(void **state)
{
	static const char *const profiles[] = { "quick", "standard", "soak" };
	static const char *const exits[] = { "ask", "reboot", "poweroff", "return", "debug-exit" };
	static const char *const cores[] = { "sipi", "mp", "off" };
	struct options options;
	char text[64];

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		assert_string_equal(options_profile_word(parsed(strcat(strcpy(text, "profile="), profiles[i])).profile),
				    profiles[i]);
		assert_string_equal(options_cores_word(parsed(strcat(strcpy(text, "cores="), cores[i])).cores),
				    cores[i]);
	}
	for (size_t i = 0; i < 5; i++)
		assert_string_equal(options_exit_word(parsed(strcat(strcpy(text, "exit="), exits[i])).exit), exits[i]);
	assert_true(parsed("save=off save=auto").save);
	assert_true(parsed("save=off save=http://1.2.3.4/p").save);
	assert_false(parsed("").save_given);
	assert_true(parsed("save=auto").save_given && parsed("save=off").save_given);
	assert_true(parsed("save=http://1.2.3.4/p").save_given);
	assert_string_equal(parsed("save=http://1.2.3.4/p").save_url, "http://1.2.3.4/p");
	assert_string_equal(parsed("save=http://1.2.3.4/p save=off").save_url, "");
	assert_string_equal(parsed("save=http://1.2.3.4/p save=auto").save_url, "");
	options_default(&options);
	assert_refused("exit=debug", "In baretick.cfg: \"exit=debug\" is not valid: exit= takes ask, reboot, poweroff, "
				     "return or debug-exit.");
	assert_refused("profile=fast",
		       "In baretick.cfg: \"profile=fast\" is not valid: profile= takes quick, standard or soak.");
	assert_refused("save=yes",
		       "In baretick.cfg: \"save=yes\" is not valid: save= takes auto, off or http://HOST[:PORT]/PATH.");
}

static void
limits_go_by_rule_and_a_later_one_replaces(void **state)
{
	struct options options = parsed("limit.tsc-warp=1 limit.clock-backward=2 "
					"limit.tsc-warp=1000000000000000000");

	(void)state;
	assert_int_equal(options.limit_count, 2);
	assert_string_equal(options.limits[0].rule, "tsc-warp");
	assert_int_equal(options.limits[0].value, 1000000000000000000);
	assert_int_equal(options.limits[1].value, 2);
	assert_refused("limit.tsc-wrap=1", "In baretick.cfg: \"limit.tsc-wrap=1\" names no rule that has a limit; these "
					   "have: clock-backward, tsc-warp.");
	assert_refused("limit.tsc-warp=-1", "In baretick.cfg: \"limit.tsc-warp=-1\" is not valid: a limit is a whole number "
					    "from 0 to 1000000000000000000.");
	assert_false(parse(&options, "limit.tsc-warp=1000000000000000001"));
	assert_false(parse(&options, "limit.tsc-warp=18446744073709551616"));
	assert_false(parse(&options, "limit.tsc-warp"));
	assert_false(parse(&options, "limit.=1"));
	assert_false(parse(&options, "limit.tsc-warp="));
}

static void
unknown_key_is_answered_with_all_keys(void **state)
{
	(void)state;
	assert_refused("duration=1s clock=tsc",
		       "In baretick.cfg: \"clock=tsc\" is not an option; the options are duration, clocks, cores, profile, "
		       "cutoff, exit, save, serial, label, identity, irq, pic, deadline, tsc_hz, gap, interval, "
		       "rules, help, limit.RULE.");
	assert_refused("limit=3", "In baretick.cfg: \"limit=3\" is not an option; the options are duration, clocks, cores, "
				  "profile, cutoff, exit, save, serial, label, identity, irq, pic, deadline, tsc_hz, gap, "
				  "interval, rules, help, limit.RULE.");
	assert_refused("=", "In baretick.cfg: \"=\" is not an option; the options are duration, clocks, cores, profile, "
			    "cutoff, exit, save, serial, label, identity, irq, pic, deadline, tsc_hz, gap, interval, "
			    "rules, help, limit.RULE.");
	assert_refused("Save=off", "In baretick.cfg: \"Save=off\" is not an option; the options are duration, clocks, "
				   "cores, profile, cutoff, exit, save, serial, label, identity, irq, pic, deadline, "
				   "tsc_hz, gap, interval, rules, help, limit.RULE.");
}

static void
bare_key_has_no_value(void **state)
{
	(void)state;
	assert_refused("save",
		       "In baretick.cfg: \"save\" has no value: save= takes auto, off or http://HOST[:PORT]/PATH.");
}

static void
error_leaves_what_was_read_before_it_undone(void **state)
{
	struct options before, options = parsed("clocks=tsc limit.tsc-warp=5");

	(void)state;
	before = options;
	assert_false(parse(&options, "duration=5s clocks=hpet,pit limit.tsc-warp=9 limit.clock-backward=1 cores=x"));
	assert_memory_equal(&options, &before, sizeof(options));
}

static void
each_word_that_is_wrong_is_named_as_far_as_there_is_room(void **state)
{
	static char many[OPTIONS_ERROR_SIZE];
	struct options options;

	(void)state;
	assert_refused("profile=fast duration=1s irq=on # gap=x\nrules=yes",
		       "In baretick.cfg: \"profile=fast\" is not valid: profile= takes quick, standard or soak. \"irq=on\" is "
		       "not valid: irq= takes auto, all or off. \"rules=yes\" is not valid: rules is a word by itself, without a "
		       "value.");
	for (size_t i = 0; i + 9 < sizeof(many); i += 9)
		memcpy(many + i, "irq=on   ", 9);
	options_default(&options);
	assert_false(parse(&options, many));
	assert_in_range(strlen(error), OPTIONS_ERROR_SIZE - 40, OPTIONS_ERROR_SIZE - 1);
	assert_string_equal(error + strlen(error) - 4, " ...");
}

static void
word_of_4096_bytes_is_shown_by_its_start(void **state)
{
	struct options options;
	char text[4096];

	(void)state;
	memset(text, 'a', sizeof(text));
	memcpy(text, "clocks=", 7);
	options_default(&options);
	assert_false(parse_bytes(&options, text, sizeof(text)));
	assert_non_null(strstr(error, "\"clocks=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...\" is not valid"));
	assert_non_null(strstr(error, "tsc, hpet, acpi_pm, pit, rtc."));
}

static void
error_that_is_too_long_ends_in_dots_behind_a_whole_name(void **state)
{
	static char all[30][OPTIONS_NAME_SIZE + 1];
	const char *many[31] = { NULL };
	const struct options_names long_names = { clock_ids, many };
	struct options options;

	(void)state;
	for (unsigned i = 0; i < 30; i++) {
		snprintf(all[i], sizeof(all[i]), "rule-with-quite-a-long-name-%04u", i + 1);
		many[i] = all[i];
	}
	options_default(&options);
	assert_false(options_parse("limit.x=1", 9, "the load options", &long_names, &options, error));
	assert_in_range(strlen(error), OPTIONS_ERROR_SIZE - 40, OPTIONS_ERROR_SIZE - 1);
	assert_string_equal(error + strlen(error) - 27, "quite-a-long-name-0027, ...");
	assert_ptr_equal(strstr(error, "In the load options: \"limit.x=1\" names no rule"), error);
}

static void
all_rules_that_have_a_limit_fit_into_the_error(void **state)
{
	/* As many characters of the word and of its source as an error shows. */
	static const char word[] = "limit.no-such-rule-of-a-long-name-0123456789-0123456789=3";
	static const char source[] = "a source whose name is as long as 60 characters of it are shown";
	const char *ids[RULES_MAX + 1];
	const struct options_names all = { clock_ids, ids };
	struct options options;
	size_t last = 0;

	(void)state;
	rules_limit_ids(ids);
	while (ids[last + 1])
		last++;
	options_default(&options);
	assert_false(options_parse(word, sizeof(word) - 1, source, &all, &options, error));
	assert_memory_equal(error + strlen(error) - 1 - strlen(ids[last]), ids[last], strlen(ids[last]));
	assert_int_equal(error[strlen(error) - 1], '.');
}

static void
the_deadline_is_automatic_or_a_duration(void **state)
{
	(void)state;
	assert_int_equal(parsed("save=off").deadline_ns, 0);
	assert_int_equal(parsed("deadline=90s").deadline_ns, 90000000000);
	assert_int_equal(parsed("deadline=90s deadline=auto").deadline_ns, 0);
	assert_refused("deadline=9ms", "In baretick.cfg: \"deadline=9ms\" is not valid: deadline= takes auto, or a "
				       "whole number and ms, s, m or h, from 10ms to 24h.");
}

static void
the_tscs_rate_is_a_whole_number_of_hertz_from_1_mhz_to_1_thz(void **state)
{
	static const char *const refused[] = { "tsc_hz=999999", "tsc_hz=1000000000001", "tsc_hz=2.4e9", "tsc_hz=2400MHz",
					       "tsc_hz=", "tsc_hz=18446744073709551617" };
	struct options options;

	(void)state;
	assert_int_equal(parsed("save=off").tsc_hz, 0);
	assert_int_equal(parsed("tsc_hz=2445424000").tsc_hz, 2445424000);
	assert_int_equal(parsed("tsc_hz=1000000").tsc_hz, 1000000);
	assert_int_equal(parsed("tsc_hz=1000000000000").tsc_hz, 1000000000000);
	options_default(&options);
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		assert_false(parse(&options, refused[i]));
	assert_int_equal(options.tsc_hz, 0);
	assert_refused("tsc_hz=2400MHz", "In baretick.cfg: \"tsc_hz=2400MHz\" is not valid: tsc_hz= takes a whole number of "
					 "hertz from 1000000 to 1000000000000.");
	assert_refused("tsc_hz", "In baretick.cfg: \"tsc_hz\" has no value: tsc_hz= takes a whole number of hertz from "
				 "1000000 to 1000000000000.");
}

static void
an_interval_is_a_minute_or_what_is_said_from_1_s_to_24_h(void **state)
{
	static const char *const refused[] = { "interval=999ms", "interval=10", "interval=25h", "interval=0s", "interval" };
	struct options options;

	(void)state;
	assert_int_equal(parsed("save=off").interval_ns, 60000000000);
	assert_int_equal(parsed("interval=1s").interval_ns, 1000000000);
	assert_int_equal(parsed("interval=1500ms").interval_ns, 1500000000);
	assert_int_equal(parsed("interval=24h").interval_ns, 86400000000000);
	options_default(&options);
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		assert_false(parse(&options, refused[i]));
	assert_int_equal(options.interval_ns, 60000000000);
}

static void
a_gap_is_10_us_or_what_is_said_from_1_us_to_1_s(void **state)
{
	static const char *const refused[] = { "gap=0us", "gap=999ns", "gap=10", "gap=1001ms", "gap=2s", "gap=1m", "gap=us",
					       "gap=18446744073709551616us", "gap=-1us" };
	struct options options;

	(void)state;
	assert_int_equal(parsed("save=off").gap_ns, 10000);
	assert_int_equal(parsed("gap=1us").gap_ns, 1000);
	assert_int_equal(parsed("gap=150us").gap_ns, 150000);
	assert_int_equal(parsed("gap=2ms").gap_ns, 2000000);
	assert_int_equal(parsed("gap=1000000us").gap_ns, 1000000000);
	assert_int_equal(parsed("gap=1s").gap_ns, 1000000000);
	options_default(&options);
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		assert_false(parse(&options, refused[i]));
	assert_int_equal(options.gap_ns, 10000);
	assert_refused("gap=1m", "In baretick.cfg: \"gap=1m\" is not valid: gap= takes a whole number and us, ms or s, from "
				 "1us to 1s.");
}

static void
rules_and_help_are_words_by_themselves(void **state)
{
	(void)state;
	assert_false(parsed("save=off").rules);
	assert_true(parsed("save=off rules").rules);
	assert_false(parsed("rules").help);
	assert_true(parsed("help").help);
	assert_refused("rules=all", "In baretick.cfg: \"rules=all\" is not valid: rules is a word by itself, without a "
				    "value.");
	assert_refused("rules=", "In baretick.cfg: \"rules=\" is not valid: rules is a word by itself, without a value.");
}

static void
bytes_outside_ascii_are_refused_in_words_and_shown_as_question_marks(void **state)
{
	(void)state;
	assert_refused("\xc3\xa9x=1", "In baretick.cfg: \"??x=1\" is not an option; the options are duration, clocks, cores, "
				     "profile, cutoff, exit, save, serial, label, identity, irq, pic, deadline, tsc_hz, gap, "
				     "interval, rules, help, limit.RULE.");
	assert_refused("save=\xff",
		       "In baretick.cfg: \"save=?\" is not valid: save= takes auto, off or http://HOST[:PORT]/PATH.");
}

static void
control_characters_are_named_with_their_place(void **state)
{
	(void)state;
	assert_refused_bytes("save=off\0exit=ask", 17,
			     "In baretick.cfg: the control character 00h at byte 9; options are words key=value of "
			     "printable ASCII.");
	assert_refused("# \x1b[2J", "In baretick.cfg: the control character 1bh at byte 3; options are words key=value of "
				   "printable ASCII.");
	assert_refused("save=off\x7f", "In baretick.cfg: the control character 7fh at byte 9; options are words key=value "
				      "of printable ASCII.");
}

static void
final_zeros_of_a_string_are_no_control_characters(void **state)
{
	struct options options;

	(void)state;
	options_default(&options);
	assert_true(parse_bytes(&options, "save=off\0\0\0", 11));
	assert_false(options.save);
	assert_true(parse_bytes(&options, "\0", 1));
	assert_true(parse_bytes(&options, "\0\0\0\0", 4));
	assert_true(parse_bytes(&options, "\xef\xbb\xbf\0", 4));
}

static void
utf16_is_named_with_and_without_its_mark(void **state)
{
	static const char message[] = "In baretick.cfg: the text is UTF-16; save it as ASCII or UTF-8.";

	(void)state;
	assert_refused_bytes("\xff\xfes\0a\0v\0e\0", 10, message);
	assert_refused_bytes("\xfe\xff\0s\0a\0v\0e", 10, message);
	assert_refused_bytes("s\0a\0v\0e\0=\0o\0f\0f\0", 16, message);
	assert_refused_bytes("\0s\0a\0v\0e\0=\0o\0f\0f", 16, message);
	assert_refused_bytes("s\0a\0v\0e\0\0\0", 10, message);
	assert_refused("\xff\xfe", message);
}

static void
return_goes_with_mp_or_off_only(void **state)
{
	struct options options = parsed("exit=return");

	(void)state;
	assert_false(options_check(&options, error));
	assert_string_equal(error, "exit=return goes with cores=mp or cores=off only: cores that baretick starts itself "
				   "are lost to the firmware; the other ways out are ask, reboot, poweroff and "
				   "debug-exit.");
	options = parsed("exit=return cores=1");
	assert_false(options_check(&options, error));
	options = parsed("exit=return cores=mp");
	assert_true(options_check(&options, error));
	options = parsed("exit=return cores=off");
	assert_true(options_check(&options, error));
	options = parsed("exit=reboot");
	assert_true(options_check(&options, error));
}

static void
a_label_is_a_word_or_what_stands_between_quotes(void **state)
{
	static const char *const words[][2] = {
		{ "label=rack-7", "rack-7" }, { "label=\"rack 7\"", "rack 7" }, { "label=\"a # b\" # c", "a # b" },
		{ "label=\"one\"\nlabel=\"two\"", "two" }, { "label=\"one\" label=", "" }, { "label=\"\"", "" },
		{ "label=\"= ' \\\"\tcores=off", "= ' \\" },
		{ "label=0123456789012345678901234567890123456789012345678901234567890123",
		  "0123456789012345678901234567890123456789012345678901234567890123" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		struct options options = parsed(words[i][0]);

		assert_string_equal(options.label, words[i][1]);
	}
}

static void
a_label_that_is_no_such_thing_is_refused(void **state)
{
	static const char *const words[] = {
		"label", "label=\"", "label=\"rack 7", "label=\"rack 7\nleft\"", "label=a\"b", "label=\"a\"b", "label=\"a\tb\"",
		"label=\xc3\xa9", "label=01234567890123456789012345678901234567890123456789012345678901234", "identity=yes",
		"identity", "label=rack 7", "serial=on", "serial",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		struct options options;

		options_default(&options);
		assert_false(parse(&options, words[i]));
		assert_string_equal(options.label, "");
		assert_true(options.identity);
		assert_int_equal(options.serial, SERIAL_FULL);
	}
}

static void
profile_sets_the_duration_unless_one_was_given(void **state)
{
	struct options options = parsed("profile=quick");

	(void)state;
	assert_int_equal(options_duration_ns(&options), 100000000);
	options = parsed("profile=soak");
	assert_int_equal(options_duration_ns(&options), 10000000000);
	options = parsed("duration=1s profile=soak");
	assert_int_equal(options_duration_ns(&options), 1000000000);
	options = parsed("");
	assert_int_equal(options_duration_ns(&options), 1000000000);
}

static void
assert_given(const struct options *options, const char *words)
{
	char bytes[OPTIONS_GIVEN_SIZE];
	struct text text;

	text_init(&text, bytes, sizeof(bytes));
	options_put_given(&text, options);
	assert_string_equal(bytes, words);
}

static void
options_that_were_given_read_as_the_same(void **state)
{
	static const char *const words[] = {
		"profile=quick duration=1500ms cores=off cutoff=99.5 deadline=120s tsc_hz=2445424000 gap=2500us exit=poweroff "
		"save=off limit.tsc-warp=16 limit.clock-backward=0 clocks=tsc,hpet",
		"duration=1s", "interval=1s", "cores=12", "cores=mp", "cutoff=0", "cutoff=100", "cutoff=99.123456", "gap=1s",
		"profile=soak exit=debug-exit", "clocks=rtc", "identity=off label=\"rack 7, #3 = left\" clocks=tsc",
		"serial=off", "pic=on", "save=http://10.0.2.2:8080/reports?a=b", "serial=summary identity=off",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		struct options options = parsed(words[i]);

		assert_given(&options, words[i]);
	}
}

static void
options_as_by_default_are_not_given(void **state)
{
	struct options options = parsed("profile=standard cores=sipi cutoff=99.99 gap=10us exit=ask save=auto "
					"deadline=auto interval=60s serial=full identity=on label=");

	(void)state;
	assert_given(&options, "");
	options = parsed("duration=120000ms gap=3000us");
	assert_given(&options, "duration=120s gap=3ms");
}

static void
longest_words_that_can_be_given_fit(void **state)
{
	struct options options = parsed("profile=standard duration=86399999ms cores=4096 cutoff=99.123456 deadline=86399999ms "
					"tsc_hz=1000000000000 interval=86399999ms gap=999999us exit=debug-exit save=http://1.2.3.4/p serial=summary "
					"identity=off irq=all pic=on");
	char bytes[OPTIONS_GIVEN_SIZE];
	struct text text;

	(void)state;
	memset(options.label, 'l', OPTIONS_LABEL_SIZE - 1);
	memset(options.save_url, 'u', URL_SIZE - 1);
	options.limit_count = OPTIONS_LIMITS_MAX;
	for (size_t i = 0; i < OPTIONS_LIMITS_MAX; i++) {
		memset(options.limits[i].rule, 'r', OPTIONS_NAME_SIZE - 1);
		options.limits[i].value = UINT64_C(1000000000000000000);
	}
	for (size_t i = 0; i < OPTIONS_CLOCKS_MAX; i++)
		memset(options.clocks[i], 'c', OPTIONS_NAME_SIZE - 1);
	options.clock_count = OPTIONS_CLOCKS_MAX;
	text_init(&text, bytes, sizeof(bytes));
	options_put_given(&text, &options);
	assert_false(text.truncated);
	assert_true(text.length > 4000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_are_those_of_the_readme),
		cmocka_unit_test(every_key_in_one_text_with_comments_and_crlf),
		cmocka_unit_test(durations_have_four_units_and_two_bounds),
		cmocka_unit_test(the_deadline_is_automatic_or_a_duration),
		cmocka_unit_test(the_tscs_rate_is_a_whole_number_of_hertz_from_1_mhz_to_1_thz),
		cmocka_unit_test(an_interval_is_a_minute_or_what_is_said_from_1_s_to_24_h),
		cmocka_unit_test(a_gap_is_10_us_or_what_is_said_from_1_us_to_1_s),
		cmocka_unit_test(rules_and_help_are_words_by_themselves),
		cmocka_unit_test(clocks_are_names_of_the_list_and_a_later_list_replaces),
		cmocka_unit_test(cores_are_a_word_or_a_number_and_the_later_wins_whole),
		cmocka_unit_test(cutoff_is_a_percentage_with_up_to_6_decimals),
		cmocka_unit_test(words_of_a_choice_are_read_back_as_they_are_typed),
		cmocka_unit_test(limits_go_by_rule_and_a_later_one_replaces),
		cmocka_unit_test(unknown_key_is_answered_with_all_keys),
		cmocka_unit_test(bare_key_has_no_value),
		cmocka_unit_test(error_leaves_what_was_read_before_it_undone),
		cmocka_unit_test(each_word_that_is_wrong_is_named_as_far_as_there_is_room),
		cmocka_unit_test(word_of_4096_bytes_is_shown_by_its_start),
		cmocka_unit_test(error_that_is_too_long_ends_in_dots_behind_a_whole_name),
		cmocka_unit_test(all_rules_that_have_a_limit_fit_into_the_error),
		cmocka_unit_test(bytes_outside_ascii_are_refused_in_words_and_shown_as_question_marks),
		cmocka_unit_test(control_characters_are_named_with_their_place),
		cmocka_unit_test(final_zeros_of_a_string_are_no_control_characters),
		cmocka_unit_test(utf16_is_named_with_and_without_its_mark),
		cmocka_unit_test(options_that_were_given_read_as_the_same),
		cmocka_unit_test(options_as_by_default_are_not_given),
		cmocka_unit_test(longest_words_that_can_be_given_fit),
		cmocka_unit_test(return_goes_with_mp_or_off_only),
		cmocka_unit_test(a_label_is_a_word_or_what_stands_between_quotes),
		cmocka_unit_test(a_label_that_is_no_such_thing_is_refused),
		cmocka_unit_test(profile_sets_the_duration_unless_one_was_given),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
