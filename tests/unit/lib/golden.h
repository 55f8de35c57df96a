/*
 * Compares a text with its golden file, byte for byte. UPDATE_GOLDENS=1 writes the files instead; look at
 * them with your own eyes before they go in. BARETICK_TESTS is the folder tests/, where it is not at hand.
 */
#ifndef BARETICK_GOLDEN_H
#define BARETICK_GOLDEN_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

/* cmocka.h comes first: it wants its own order of headers. */
static inline void
golden_compare(const char *name, const struct text *text)
{
	const char *tests = getenv("BARETICK_TESTS");
	const char *update = getenv("UPDATE_GOLDENS");
	char path[512], *golden = malloc(text->size + 1);
	size_t length;
	FILE *file;

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

#endif
