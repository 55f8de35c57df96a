/* Who is in a minority, pair by pair. See minority.h. */
#include "minority.h"

#define SPEAKERS_MAX 16 /* where there is a majority, every other one that is in order belongs to it, and mostly more */

struct cores {
	minority_ask *ask;
	const void *context;
	size_t count;
};

static enum minority_pair
pair_of(const struct cores *cores, size_t a, size_t b)
{
	return a == b ? MINORITY_OPEN : cores->ask(cores->context, a, b);
}

static bool
is_disputed(const struct cores *cores, size_t core, bool *any_differs)
{
	size_t known = 0, differs = 0;

	for (size_t other = 0; other < cores->count; other++) {
		known += pair_of(cores, core, other) != MINORITY_UNKNOWN;
		differs += pair_of(cores, core, other) == MINORITY_DIFFERS;
	}
	*any_differs |= differs > 0;
	return 2 * differs >= known;
}

/* Whether CORE differs from more than half, as far as these are of one group with SPEAKER. */
static bool
is_against_most(const struct cores *cores, size_t core, size_t speaker)
{
	size_t known = 0, differs = 0;

	for (size_t other = 0; other < cores->count; other++) {
		enum minority_pair pair = pair_of(cores, core, other);

		known += pair != MINORITY_UNKNOWN;
		differs += pair == MINORITY_DIFFERS && pair_of(cores, speaker, other) == MINORITY_OPEN;
	}
	return 2 * differs > known;
}

static bool
is_outlier(const struct cores *cores, size_t core, const bool *disputed)
{
	size_t asked = 0;

	for (size_t i = 0; i < cores->count && disputed[core] && asked < SPEAKERS_MAX; i++) {
		if (disputed[i] || pair_of(cores, core, i) != MINORITY_DIFFERS)
			continue;
		asked++;
		if (is_against_most(cores, core, i))
			return true;
	}
	return false;
}

struct minority
minority_find(minority_ask *ask, const void *context, size_t count, bool *outlier, bool *disputed)
{
	const struct cores cores = { ask, context, count };
	struct minority minority = { .outliers = 0 };

	for (size_t i = 0; i < count; i++)
		disputed[i] = is_disputed(&cores, i, &minority.any_differs);
	for (size_t i = 0; i < count; i++) {
		outlier[i] = is_outlier(&cores, i, disputed);
		minority.outliers += outlier[i];
	}
	return minority;
}
