/* Base64 as RFC 4648 defines it, in lines of 76 characters with a newline each, as for e-mail. */
#ifndef BARETICK_BASE64_H
#define BARETICK_BASE64_H

#include <stddef.h>

#include "base/text.h"

/* Bytes of a text buffer for LENGTH bytes in base64, with the final 0. */
size_t base64_size(size_t length);

void base64_put(struct text *text, const void *bytes, size_t length);

#endif
