/* Posts the report to a server, and describes the result. */
#ifndef BARETICK_POST_H
#define BARETICK_POST_H

#include "uefi/network/exchange.h"

#define POST_SENTENCE_SIZE 600

/*
 * Posts BODY to ADDRESS, a URL for url_parse(). MAC has the same meaning as in network_run_exchange(). SENTENCE
 * receives a description of the result.
 */
void post_report(const char *address, const uint8_t *mac, const char *body, size_t length,
		 char sentence[POST_SENTENCE_SIZE]);

#endif
