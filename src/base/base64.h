/* Base64 as in RFC 4648, in lines of 76 characters as in e-mail. Each line ends with a newline. */
#ifndef BARETICK_BASE64_H
#define BARETICK_BASE64_H

#include <stddef.h>

#include "base/text.h"

/* Returns the size of a text buffer for LENGTH bytes in base64, with the final 0. */
size_t base64_encoded_size(size_t length);

void base64_put(struct text *text, const void *bytes, size_t length);

#endif
