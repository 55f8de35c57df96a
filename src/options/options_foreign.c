/* Tells the words of a firmware or a loader from options. See options.h. */
#include "options_internal.h"

#include "text.h"

/* Shorter keys are close to parameters of Linux: "pci" and "apic" are one edit from "pic". */
#define KEY_EDITED_MIN 4

static bool
is_same_letter(char a, char b)
{
	return (a | 0x20) == (b | 0x20);
}

static struct word
without_first(struct word word)
{
	return (struct word){ word.bytes + 1, word.length - 1 };
}

static void
remove_common_start(struct word *a, struct word *b)
{
	while (a->length && b->length && is_same_letter(a->bytes[0], b->bytes[0])) {
		*a = without_first(*a);
		*b = without_first(*b);
	}
}

static void
remove_common_end(struct word *a, struct word *b)
{
	while (a->length && b->length && is_same_letter(a->bytes[a->length - 1], b->bytes[b->length - 1])) {
		a->length--;
		b->length--;
	}
}

/* Returns true if WORD is KEY, but for its case and at most one letter that is wrong, missing, added or exchanged. */
static bool
is_close_to(struct word word, struct word key)
{
	bool may_be_edited = key.length >= KEY_EDITED_MIN;

	remove_common_start(&word, &key);
	remove_common_end(&word, &key);
	if (!word.length && !key.length)
		return true;
	if (!may_be_edited)
		return false;
	if (word.length == 2 && key.length == 2)
		return is_same_letter(word.bytes[0], key.bytes[1]) && is_same_letter(word.bytes[1], key.bytes[0]);
	return word.length <= 1 && key.length <= 1;
}

/* "limit.RULE" is compared up to its point. A user of a shell may type dashes before a key. */
static bool
is_for_us(struct word word)
{
	struct word key = options_take_until(&word, '=');

	key = options_take_until(&key, '.');
	while (key.length && key.bytes[0] == '-')
		key = without_first(key);
	for (const struct option *option = options_table; option->key; option++) {
		struct word own = { option->key, text_length(option->key) };

		if (is_close_to(key, options_take_until(&own, '.')))
			return true;
	}
	return false;
}

bool
options_are_foreign(const char *text, size_t length)
{
	struct word rest = options_text(text, length), word;
	bool is_empty = true;

	for (; options_next_word(&rest, &word); is_empty = false)
		if (is_for_us(word))
			return false;
	return !is_empty;
}
