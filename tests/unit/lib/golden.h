/*
 * Compares a text with its golden file, byte for byte. With UPDATE_GOLDENS=1 it writes the file instead; look at the
 * difference before you commit it. BARETICK_TESTS is the path of tests/, if it is not in the current folder.
 */
#ifndef BARETICK_GOLDEN_H
#define BARETICK_GOLDEN_H

#include <stdio.h>

#include "base/text.h"
#include "test.h"

static inline void
golden_compare(const char *name, const struct text *text)
{
	const char *tests = getenv("BARETICK_TESTS");
	const char *update = getenv("UPDATE_GOLDENS");
	char path[512], *golden = malloc(text->size + 1);
	size_t length;
	FILE *file;

	print_message("%s\n", name);
	assert_false(text->truncated);
	snprintf(path, sizeof(path), "%s/goldens/%s", tests ? tests : "tests", name);
	if (update && strcmp(update, "1") == 0) {
		file = fopen(path, "wb");
		assert_non_null(file);
		assert_int_equal(fwrite(text->bytes, 1, text->length, file), text->length);
		assert_int_equal(fclose(file), 0);
	}
	file = fopen(path, "rb");
	if (!file)
		fail_msg("%s is not there: run with UPDATE_GOLDENS=1", path);
	length = fread(golden, 1, text->size, file);
	fclose(file);
	golden[length] = '\0';
	assert_string_equal(text->bytes, golden);
	assert_int_equal(text->length, length);
	free(golden);
}

/* Compares PART with the text between the lines BEGIN and END in the golden file NAME. */
static inline void
golden_compare_part(const char *name, const char *begin, const char *end, const struct text *part)
{
	const size_t size = 1u << 20;
	const char *tests = getenv("BARETICK_TESTS");
	char path[512], *old = calloc(1, size), *bytes = malloc(size);
	char *from, *to;
	struct text whole;
	FILE *file;

	snprintf(path, sizeof(path), "%s/goldens/%s", tests ? tests : "tests", name);
	file = fopen(path, "rb");
	assert_non_null(file);
	assert_in_range(fread(old, 1, size - 1, file), 1, size - 2);
	fclose(file);
	from = strstr(old, begin);
	to = strstr(old, end);
	assert_non_null(from);
	assert_true(to > from);
	assert_false(part->truncated);
	text_init(&whole, bytes, size);
	from += strlen(begin);
	whole = (struct text){ .bytes = bytes, .size = size };
	whole.length = (size_t)snprintf(bytes, size, "%.*s%s%s", (int)(from - old), old, part->bytes, to);
	assert_in_range(whole.length, 1, size - 1);
	golden_compare(name, &whole);
	free(old);
	free(bytes);
}

#endif
