/* Finds outliers among the cores. See outliers.h. */
#include "sync/outliers.h"

/*
 * maximum number of representatives; a few are enough, because most undisputed cores belong to the majority if there is
 * one
 */
#define REPRESENTATIVES_MAX 16

struct cores {
	minority_ask *ask;
	const void *context;
	uint64_t limit;
	size_t count, known; /* number of all cores, and of cores with at least one known pair */
};

static struct offset
between(const struct cores *cores, size_t a, size_t b)
{
	return a == b ? (struct offset){ 0, 0 } : cores->ask(cores->context, a, b);
}

static bool
differ(const struct cores *cores, size_t a, size_t b)
{
	struct offset offset = between(cores, a, b);

	return offset_is_known(offset) && offset_min_size(offset) > cores->limit;
}

static size_t
count_known(const struct cores *cores, size_t core)
{
	size_t known = 0;

	for (size_t other = 0; other < cores->count; other++)
		known += offset_is_known(between(cores, core, other));
	return known;
}

static bool
is_disputed(const struct cores *cores, size_t core, bool *any_differs)
{
	size_t differs = 0;

	for (size_t other = 0; other < cores->count; other++)
		differs += differ(cores, core, other);
	*any_differs |= differs > 0;
	return 2 * differs >= count_known(cores, core);
}

/* Returns the middle between the smallest and the largest possible distance of A and B. */
static uint64_t
likely_distance(const struct cores *cores, size_t a, size_t b)
{
	struct offset offset = between(cores, a, b);
	uint64_t near = offset_min_size(offset);

	return near + (offset_max_size(offset) - near) / 2;
}

/*
 * Returns true if the distance of OTHER and REPRESENTATIVE is proven to be small. It must not be larger than the likely
 * distance of CORE to the nearer of them. The pair of OTHER and REPRESENTATIVE proves it. If its interval is too wide,
 * CORE's pairs with both may prove it, if they also allow both to be equal. This condition matters for three cores in a
 * line. Without it, the first would be an outlier merely because the second is nearer to the third.
 */
static bool
agrees_with_representative(const struct cores *cores, size_t representative, size_t other, size_t core)
{
	struct offset own = between(cores, representative, other);
	struct offset path = offset_add(between(cores, representative, core), between(cores, core, other));
	uint64_t to_other = likely_distance(cores, core, other);
	uint64_t to_representative = likely_distance(cores, core, representative);
	uint64_t most = to_other < to_representative ? to_other : to_representative;

	return !differ(cores, representative, other) &&
	       ((offset_is_known(own) && offset_max_size(own) <= most) ||
		(offset_is_known(path) && offset_min_size(path) <= cores->limit && offset_max_size(path) <= most));
}

/* Returns true if CORE differs from more than half of the cores. Only cores that agree with REPRESENTATIVE count. */
static bool
differs_from_most(const struct cores *cores, size_t core, size_t representative)
{
	size_t count = 0;

	for (size_t other = 0; other < cores->count; other++)
		count += differ(cores, core, other) && agrees_with_representative(cores, representative, other, core);
	return 2 * count > cores->known;
}

static bool
is_outlier(const struct cores *cores, size_t core, const bool *disputed)
{
	size_t asked = 0;

	for (size_t i = 0; i < cores->count && disputed[core] && asked < REPRESENTATIVES_MAX; i++) {
		if (disputed[i] || !differ(cores, core, i))
			continue;
		asked++;
		if (differs_from_most(cores, core, i))
			return true;
	}
	return false;
}

struct minority
minority_find(minority_ask *ask, const void *context, uint64_t limit, size_t count, bool *outlier, bool *disputed)
{
	struct cores cores = { ask, context, limit, count, 0 };
	struct minority minority = { .outliers = 0 };

	for (size_t i = 0; i < count; i++) {
		cores.known += count_known(&cores, i) > 1;
		disputed[i] = is_disputed(&cores, i, &minority.any_differs);
	}
	for (size_t i = 0; i < count; i++) {
		outlier[i] = is_outlier(&cores, i, disputed);
		minority.outliers += outlier[i];
	}
	return minority;
}
