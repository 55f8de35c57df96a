/* Counts what the boots of a series have seen. See boots.h. */
#include "report/boots.h"

#include "base/text.h"

#define HEADER "baretick boots 1"
#define WORD_SIZE 32
#define NONE   "-"

void
boots_print(char bytes[BOOTS_FILE_SIZE + 1], const struct boots *boots, bool running)
{
	struct text text = text_start(bytes, BOOTS_FILE_SIZE + 1);

	text_printf(&text, HEADER " %u %u %u %u %u %u %u %u\n", boots->planned, boots->started, boots->died, boots->failed,
		    boots->warned, boots->incomplete, running, boots->full);
	for (size_t i = 0; i < boots->entry_count; i++) {
		const struct boots_entry *entry = &boots->entries[i];

		text_printf(&text, "%s %s %u %u %u %ld %ld %s\n", entry->rule, entry->clock[0] ? entry->clock : NONE,
			    entry->core, entry->boots, entry->measured, entry->low, entry->high,
			    entry->unit[0] ? entry->unit : NONE);
	}
	text_put(&text, "end\n");
	while (text.length < BOOTS_FILE_SIZE)
		text_put_char(&text, '\n');
}

/* A place in the file. GOOD becomes false at the first word that is not as expected. */
struct reader {
	const char *at, *end;
	bool good;
};

/* Reads the next word, which ends with a blank or the end of the line, into WORD. */
static void
read_word(struct reader *reader, char *word, size_t size)
{
	size_t length = 0;

	while (reader->at < reader->end && *reader->at > ' ' && *reader->at < 0x7f && length + 1 < size)
		word[length++] = *reader->at++;
	word[length] = '\0';
	reader->good &= length > 0 && reader->at < reader->end && (*reader->at == ' ' || *reader->at == '\n');
	if (reader->good)
		reader->at++;
}

static void
read_name(struct reader *reader, char *name, size_t size)
{
	read_word(reader, name, size);
	if (text_equal(name, NONE))
		name[0] = '\0';
}

static int64_t
read_number(struct reader *reader, int64_t most)
{
	char word[WORD_SIZE];
	int64_t number = 0;

	read_word(reader, word, sizeof(word));
	bool negative = word[0] == '-';

	for (const char *c = word + negative; *c; c++) {
		reader->good &= *c >= '0' && *c <= '9' && number <= (INT64_MAX - 9) / 10;
		number = reader->good ? number * 10 + (*c - '0') : 0;
	}
	reader->good &= number <= most && word[negative];
	return negative ? -number : number;
}

static uint32_t
read_count(struct reader *reader, uint32_t most)
{
	int64_t number = read_number(reader, most);

	reader->good &= number >= 0;
	return (uint32_t)number;
}

static void
read_header(struct reader *reader, struct boots *boots, bool *running)
{
	char word[WORD_SIZE];

	for (const char *const *name = (const char *const[]){ "baretick", "boots", "1", NULL }; *name; name++) {
		read_word(reader, word, sizeof(word));
		reader->good &= text_equal(word, *name);
	}
	boots->planned = read_count(reader, BOOTS_MAX);
	boots->started = read_count(reader, BOOTS_STARTED_MAX);
	boots->died = read_count(reader, boots->started);
	boots->failed = read_count(reader, boots->started);
	boots->warned = read_count(reader, boots->started);
	boots->incomplete = read_count(reader, boots->started);
	*running = read_count(reader, 1);
	boots->full = read_count(reader, 1);
}

static void
read_entry(struct reader *reader, struct boots *boots, const char *rule)
{
	struct boots_entry *entry = &boots->entries[boots->entry_count];

	text_copy(entry->rule, sizeof(entry->rule), rule);
	read_name(reader, entry->clock, sizeof(entry->clock));
	entry->core = read_count(reader, UINT32_MAX);
	entry->boots = read_count(reader, boots->started);
	entry->measured = read_count(reader, 1);
	entry->low = read_number(reader, BOOTS_VALUE_MAX);
	entry->high = read_number(reader, BOOTS_VALUE_MAX);
	read_name(reader, entry->unit, sizeof(entry->unit));
	reader->good &= entry->low <= entry->high;
	boots->entry_count++;
}

bool
boots_parse(const char *bytes, size_t length, struct boots *boots, bool *running)
{
	struct reader reader = { bytes, bytes + length, true };

	*boots = (struct boots){ .planned = 0 };
	read_header(&reader, boots, running);
	while (reader.good) {
		char rule[BOOTS_NAME_SIZE];

		read_word(&reader, rule, sizeof(rule));
		if (reader.good && text_equal(rule, "end"))
			return true;
		if (boots->entry_count == BOOTS_ENTRIES_MAX)
			return false;
		read_entry(&reader, boots, rule);
	}
	return false;
}

void
boots_start_next(struct boots *boots, uint32_t planned, bool found, bool running)
{
	bool continues = found && boots->planned == planned && (running || boots->started < planned);

	if (!continues)
		*boots = (struct boots){ .planned = planned };
	else if (running)
		boots->died++;
	boots->started++;
}

bool
boots_has_next(const struct boots *boots)
{
	return boots->started < boots->planned;
}

bool
boots_have_same_subject(const struct boots_entry *a, const struct boots_entry *b)
{
	return text_equal(a->rule, b->rule) && text_equal(a->clock, b->clock) && a->core == b->core &&
	       text_equal(a->unit, b->unit);
}

void
boots_count_entry(struct boots *boots, const struct boots_entry *seen)
{
	struct boots_entry *entry = boots->entries;

	while (entry < boots->entries + boots->entry_count && !boots_have_same_subject(entry, seen))
		entry++;
	if (entry == boots->entries + BOOTS_ENTRIES_MAX) {
		boots->full = true;
		return;
	}
	if (entry == boots->entries + boots->entry_count) {
		boots->entry_count++;
		*entry = *seen;
		entry->boots = 0;
	}
	if (seen->measured && (!entry->measured || seen->low < entry->low))
		entry->low = seen->low;
	if (seen->measured && (!entry->measured || seen->high > entry->high))
		entry->high = seen->high;
	entry->measured |= seen->measured;
	entry->boots++;
}
