/* What values of options are made of: words, numbers and times. See options_internal.h. */
#include "options_internal.h"

#include "text.h"

#define NS_PER_US       UINT64_C(1000)
#define NS_PER_MINUTE   (60 * OPTIONS_NS_PER_S)
#define NS_PER_HOUR     (60 * NS_PER_MINUTE)
#define DURATION_NS_MIN (10 * OPTIONS_NS_PER_MS)
#define DURATION_NS_MAX (24 * NS_PER_HOUR)
#define INTERVAL_NS_MIN OPTIONS_NS_PER_S
#define GAP_NS_MIN      NS_PER_US
#define GAP_NS_MAX      OPTIONS_NS_PER_S

bool
options_word_is(struct word word, const char *string)
{
	if (word.length != text_length(string))
		return false;
	for (size_t i = 0; i < word.length; i++)
		if (word.bytes[i] != string[i])
			return false;
	return true;
}

struct word
options_take_until(struct word *rest, char separator)
{
	struct word taken = { rest->bytes, 0 };

	while (taken.length < rest->length && rest->bytes[taken.length] != separator)
		taken.length++;
	rest->bytes += taken.length + (taken.length < rest->length);
	rest->length -= taken.length + (taken.length < rest->length);
	return taken;
}

const char *
options_find_name(const char *const *names, struct word word)
{
	for (; *names; names++)
		if (options_word_is(word, *names))
			return *names;
	return NULL;
}

bool
options_take_number(struct word *word, uint64_t max, uint64_t *value)
{
	size_t at = 0;

	*value = 0;
	for (; at < word->length && word->bytes[at] >= '0' && word->bytes[at] <= '9'; at++) {
		unsigned digit = (unsigned)(word->bytes[at] - '0');

		if (digit > max || *value > (max - digit) / 10)
			return false;
		*value = *value * 10 + digit;
	}
	word->bytes += at;
	word->length -= at;
	return at > 0;
}

struct unit {
	const char *word;
	uint64_t ns;
};

static const struct unit duration_units[] = {
	{ "ms", OPTIONS_NS_PER_MS }, { "s", OPTIONS_NS_PER_S }, { "m", NS_PER_MINUTE }, { "h", NS_PER_HOUR },
	{ NULL, 0 },
};
static const struct unit gap_units[] = {
	{ "us", NS_PER_US }, { "ms", OPTIONS_NS_PER_MS }, { "s", OPTIONS_NS_PER_S }, { NULL, 0 },
};

/* A number and one of UNITS, MIN to MAX in all. */
static bool
take_time(struct word value, const struct unit *units, uint64_t min, uint64_t max, uint64_t *ns)
{
	uint64_t count;

	if (!options_take_number(&value, max, &count))
		return false;
	while (units->word && !options_word_is(value, units->word))
		units++;
	if (!units->word || count > max / units->ns)
		return false;
	*ns = count * units->ns;
	return *ns >= min;
}

bool
options_take_duration(struct word value, uint64_t *ns)
{
	return take_time(value, duration_units, DURATION_NS_MIN, DURATION_NS_MAX, ns);
}

bool
options_take_interval(struct word value, uint64_t *ns)
{
	return take_time(value, duration_units, INTERVAL_NS_MIN, DURATION_NS_MAX, ns);
}

bool
options_take_gap(struct word value, uint64_t *ns)
{
	return take_time(value, gap_units, GAP_NS_MIN, GAP_NS_MAX, ns);
}
