/*
 * Finds words that firmware or a loader added to the options, and that are meant for another program. See options.h.
 */
#include "options/options_internal.h"

#include "base/text.h"

#define LIMIT_KEY "limit" /* the part of "limit.RULE" before the dot */

enum owner {
	OWNER_US,      /* the key of a baretick option, possibly misspelled */
	OWNER_OTHER,   /* a word that is typical for another program */
	OWNER_UNKNOWN, /* the owner is not certain, so the other words of the text decide */
};

/*
 * Linux parameters that contain neither a dot nor a path. "pci" and "apic" are listed because they look like a
 * misspelled "pic". "boot" and "Boot" look like a misspelled "boots": live systems have boot=live, and the name of a
 * boot entry may be "Windows Boot Manager".
 */
static const char *const linux_keys[] = {
	"BOOT_IMAGE", "Boot", "acpi", "apic", "boot", "clocksource", "console", "crashkernel", "earlycon",
	"earlyprintk", "hpet", "init", "initrd",
	"irqpoll", "loglevel", "maxcpus", "mitigations", "noapic", "nokaslr", "nolapic", "nomodeset", "nosmp",
	"panic", "pci", "quiet", "reboot", "ro", "root", "rootfstype", "rootwait", "rw", "splash", "tsc", NULL,
};

/*
 * Returns true if KEY is the key of an option, or similar to it. Dashes before KEY are ignored, and also the rule in
 * "limit.RULE".
 */
static bool
is_similar_to_option_key(struct word key)
{
	struct near near = { .word = options_split_off_part_before(&key, '.') };

	while (near.word.length && near.word.bytes[0] == '-')
		near.word = (struct word){ near.word.bytes + 1, near.word.length - 1 };
	for (const struct option *option = options_table; option->key; option++)
		options_keep_name_if_nearer(&near, option->kind == OPTION_LIMIT ? LIMIT_KEY : option->key);
	return near.name;
}

static bool
is_path(struct word word)
{
	return word.length && (word.bytes[0] == '/' || word.bytes[0] == '\\');
}

static enum owner
find_owner_of_foreign_option(struct word word)
{
	struct word value = word, module, key = options_split_off_part_before(&value, '=');
	struct word parameter = key;
	bool has_value = key.length < word.length;

	if (options_find_name(linux_keys, key))
		return OWNER_OTHER;
	if (is_similar_to_option_key(key))
		return OWNER_US;
	/* a parameter of a Linux module, as in virtio_mmio.device=512@0xfeb00000:5 */
	module = options_split_off_part_before(&parameter, '.');
	return is_path(word) || is_path(value) || (has_value && module.length && parameter.length) ? OWNER_OTHER
												   : OWNER_UNKNOWN;
}

/* Returns true if WORD may be an option with a wrong key or without a key, such as "timeout=5m" or "quick". */
static bool
may_be_mistyped_option(struct word word)
{
	struct word key = options_split_off_part_before(&word, '=');

	if (key.bytes + key.length != word.bytes)
		return true;
	for (const struct option *option = options_table; option->key; option++)
		if (option->words && options_find_name(option->words, key))
			return true;
	return false;
}

/*
 * Returns true if TEXT contains words of another program. In this case all words without the key of a baretick option
 * belong to it.
 */
static bool
has_foreign_words(struct word text)
{
	bool may_be_ours = false, is_empty = true;
	struct word word;

	for (; options_read_next_word(&text, &word); is_empty = false) {
		enum owner owner = find_owner_of_foreign_option(word);

		if (owner == OWNER_OTHER)
			return true;
		may_be_ours |= owner == OWNER_US || may_be_mistyped_option(word);
	}
	return !may_be_ours && !is_empty;
}

void
options_remove_foreign_words(char *text, size_t length, struct text *foreign)
{
	struct word rest = options_trim_text(text, length), word;
	bool shared = has_foreign_words(rest);

	while (options_read_next_word(&rest, &word)) {
		char *at = text + (word.bytes - text);

		if (!shared || find_owner_of_foreign_option(word) == OWNER_US)
			continue;
		if (foreign->length)
			text_put_char(foreign, ' ');
		for (size_t i = 0; i < word.length; i++) {
			text_put_char(foreign, at[i]);
			at[i] = ' ';
		}
	}
}
