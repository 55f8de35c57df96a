/* The report to a server: what is said of it. */
#ifndef BARETICK_POST_H
#define BARETICK_POST_H

#include "uefi/network/exchange.h"

#define POST_SENTENCE_SIZE 600

/* Posts BODY to ADDRESS, which url_read() reads; MAC: see network_ask(). SENTENCE says what came of it. */
void post_report(const char *address, const uint8_t *mac, const char *body, size_t length,
		 char sentence[POST_SENTENCE_SIZE]);

#endif
