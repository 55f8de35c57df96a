/*
 * Unpacks what deflate_bytes() of deflate.h packs, and what zlib packs with the strategy Z_FIXED: one block of RFC 1951
 * with the fixed Huffman codes.
 */
#ifndef BARETICK_INFLATE_H
#define BARETICK_INFLATE_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/*
 * Adds the unpacked form of the LENGTH bytes at PACKED to OUT. Returns true if all of it was added. Returns false, with
 * the bytes up to there in OUT, if OUT is too small or if PACKED is damaged.
 */
bool inflate_put(struct text *out, const uint8_t *packed, size_t length);

#endif
