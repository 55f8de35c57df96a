/*
 * What a star proves. In it all are compared with the boot core alone: where that stepped after it had met some, these
 * and the others differ without a fault of theirs, by however little of a drift over the run. The tournament next to it
 * shows which it was.
 */
#ifndef BARETICK_STAR_H
#define BARETICK_STAR_H

#include "judge/cores/view.h"

/*
 * Whether the star's offsets are those of the next tournament, too: all of them, for one that is not may be the first
 * or the last that the boot core met before it stepped, and who is in the minority was found by it, too. Without
 * another tournament nothing confirms them.
 */
bool star_is_confirmed(const struct view *view);

/*
 * Whether the next tournament, too, tells RANK from one of the majority. One that is so wide that it confirms whatever
 * there was would also hold where all are as one. True of a tournament that is no star, and of the boot core.
 */
bool star_tells(const struct view *view, size_t rank);

#endif
