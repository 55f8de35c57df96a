/* Finds the name that a user probably meant with a misspelled word. See options_internal.h. */
#include "options/options_internal.h"

#include "base/text.h"

/* at most 1/PART of the letters may differ; with more, any two short words would be similar by chance */
#define PART 3

static char
to_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

static uint8_t
minimum(unsigned one, unsigned other)
{
	return (uint8_t)(one < other ? one : other);
}

/*
 * Returns the number of letters that must be inserted, removed, replaced or swapped to change WORD to NAME. Both must
 * be shorter than OPTIONS_NAME_SIZE.
 */
static unsigned
count_edits_between(struct word word, struct word name)
{
	/* rows[i % 3][j] is the number of edits that change the first I letters of WORD to the first J letters of NAME */
	uint8_t rows[3][OPTIONS_NAME_SIZE];

	for (size_t j = 0; j <= name.length; j++)
		rows[0][j] = (uint8_t)j;
	for (size_t i = 1; i <= word.length; i++) {
		uint8_t *row = rows[i % 3];
		const uint8_t *above = rows[(i - 1) % 3], *before = rows[(i + 1) % 3];

		row[0] = (uint8_t)i;
		for (size_t j = 1; j <= name.length; j++) {
			char mine = to_lower(word.bytes[i - 1]), its = to_lower(name.bytes[j - 1]);

			row[j] = minimum(above[j - 1] + (mine != its), minimum(above[j], row[j - 1]) + 1u);
			if (i > 1 && j > 1 && mine == to_lower(name.bytes[j - 2]) && its == to_lower(word.bytes[i - 2]))
				row[j] = minimum(row[j], before[j - 2] + 1u);
		}
	}
	return rows[word.length % 3][name.length];
}

void
options_keep_name_if_nearer(struct near *near, const char *name)
{
	struct word other = { name, text_length(name) };
	size_t longer = other.length > near->word.length ? other.length : near->word.length;

	if (longer >= OPTIONS_NAME_SIZE)
		return;
	unsigned edits = count_edits_between(near->word, other);

	if (edits * PART > longer || (near->name && edits >= near->edits))
		return;
	near->name = name;
	near->edits = edits;
}
