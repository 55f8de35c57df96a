/*
 * In a star schedule every core is measured against the boot core only. If the boot core's TSC steps midway,
 * cores measured before and after appear to differ though none of them is at fault. The next pass tells the two
 * cases apart.
 */
#ifndef BARETICK_STAR_H
#define BARETICK_STAR_H

#include "judge/cores/offset_analysis.h"

/*
 * Returns true if the next pass gives the same offsets as the star, for all cores. One core alone may have been
 * the first or last that the boot core met before it stepped, and the minority was found by all of them.
 * Without another pass nothing is confirmed.
 */
bool star_is_confirmed(const struct view *view);

/*
 * Returns true if the next pass also proves that RANK differs from a core of the majority. A pass with wide
 * intervals confirms any offset, so agreement with it is not enough. Always true for a pass of all pairs, and
 * for the boot core.
 */
bool star_tells(const struct view *view, size_t rank);

#endif
