/* Finds outliers among the cores. See outliers.h. */
#include "sync/outliers.h"

/*
 * Maximum number of cores that are tried as the representative of the majority. If there is a majority, most cores that
 * are not disputed (see outliers.h) belong to it, so a few attempts are enough.
 */
#define REPRESENTATIVES_MAX 16

enum { AGREES, DISPUTED, OUTLIER }; /* states of a core; DISPUTED until it is found to be an outlier */

struct cores {
	outliers_offset *get_offset;
	const void *context;
	uint64_t limit;
	size_t count, known; /* number of all cores; number of cores that have a known offset against another core */
};

static struct offset
offset_between(const struct cores *cores, size_t a, size_t b)
{
	return a == b ? (struct offset){ 0, 0 } : cores->get_offset(cores->context, a, b);
}

static bool
do_cores_differ(const struct cores *cores, size_t a, size_t b)
{
	struct offset offset = offset_between(cores, a, b);

	return offset_is_known(offset) && offset_min_abs(offset) > cores->limit;
}

static size_t
count_known_offsets(const struct cores *cores, size_t core)
{
	size_t known = 0;

	for (size_t other = 0; other < cores->count; other++)
		known += offset_is_known(offset_between(cores, core, other));
	return known;
}

static bool
is_core_disputed(const struct cores *cores, size_t core, bool *any_differs)
{
	size_t differs = 0;

	for (size_t other = 0; other < cores->count; other++)
		differs += do_cores_differ(cores, core, other);
	*any_differs |= differs > 0;
	return 2 * differs >= count_known_offsets(cores, core);
}

/* Returns the middle between the smallest and the largest possible distance of A and B. */
static uint64_t
distance_between_offset_middles(const struct cores *cores, size_t a, size_t b)
{
	struct offset offset = offset_between(cores, a, b);
	uint64_t near = offset_min_abs(offset);

	return near + (offset_max_abs(offset) - near) / 2;
}

/*
 * Returns true if OTHER belongs to REPRESENTATIVE's group, as seen from CORE, which may be an outlier. The two must be
 * proven to be at most as far apart as CORE is from the nearer of them, by an estimate of CORE's distances. The proof
 * is the offset between the two, or the sum of CORE's offsets against both. This sum must also allow a distance within
 * the limit. CORE must be ahead of both or behind both. Otherwise it is between them, and they are no group without it.
 *
 * Without the condition on distances, the first of three TSCs with increasing offsets would be an outlier, only because
 * the second TSC is a little nearer to the third.
 */
static bool
does_core_agree_with_representative(const struct cores *cores, size_t representative, size_t other, size_t core)
{
	struct offset own = offset_between(cores, representative, other);
	struct offset ahead = offset_between(cores, representative, core), behind = offset_between(cores, core, other);
	struct offset path = offset_add(ahead, behind);
	uint64_t to_other = distance_between_offset_middles(cores, core, other);
	uint64_t to_representative = distance_between_offset_middles(cores, core, representative);
	uint64_t most = to_other < to_representative ? to_other : to_representative;

	return !do_cores_differ(cores, representative, other) && (ahead.low > 0) == (behind.high < 0) &&
	       ((offset_is_known(own) && offset_max_abs(own) <= most) ||
		(offset_is_known(path) && offset_min_abs(path) <= cores->limit && offset_max_abs(path) <= most));
}

/*
 * Counts the cores in the group around REPRESENTATIVE that differ from CORE. Returns true if they are more than half of
 * the cores that have a known offset.
 */
static bool
does_core_differ_from_most(const struct cores *cores, size_t core, size_t representative)
{
	size_t count = 0;

	for (size_t other = 0; other < cores->count; other++)
		count += do_cores_differ(cores, core, other) &&
			 does_core_agree_with_representative(cores, representative, other, core);
	return 2 * count > cores->known;
}

static bool
is_outlier(const struct cores *cores, size_t core, const uint8_t *states)
{
	size_t tried = 0;

	for (size_t i = 0; i < cores->count && states[core] == DISPUTED && tried < REPRESENTATIVES_MAX; i++) {
		if (states[i] != AGREES || !do_cores_differ(cores, core, i))
			continue;
		tried++;
		if (does_core_differ_from_most(cores, core, i))
			return true;
	}
	return false;
}

struct outliers
outliers_find(outliers_offset *get_offset, const void *context, uint64_t limit, size_t count, uint8_t *outlier)
{
	struct cores cores = { get_offset, context, limit, count, 0 };
	struct outliers found = { .outliers = 0 };

	for (size_t i = 0; i < count; i++) {
		cores.known += count_known_offsets(&cores, i) > 1;
		outlier[i] = is_core_disputed(&cores, i, &found.any_differs) ? DISPUTED : AGREES;
	}
	for (size_t i = 0; i < count; i++)
		if (is_outlier(&cores, i, outlier))
			outlier[i] = OUTLIER;
	for (size_t i = 0; i < count; i++) {
		outlier[i] = outlier[i] == OUTLIER;
		found.outliers += outlier[i];
	}
	return found;
}
