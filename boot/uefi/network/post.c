/* Posts the report to a server. See post.h. */
#include "uefi/network/post.h"

#include "uefi/network/network.h"

static const char *
explain_http_status(unsigned status)
{
	switch (status) {
	case 404:
		return ": this address does not accept reports";
	case 413:
		return ": too large";
	case 422:
		return ": no report";
	case 429:
		return ": too often";
	case 507:
		return ": its disk is full";
	case 500:
	case 502:
	case 503:
	case 504:
		return ": the server can't accept a report now";
	default:
		return "";
	}
}

void
post_report(const char *address, const uint8_t *mac, const char *body, size_t length, char sentence[POST_SENTENCE_SIZE])
{
	struct exchange exchange = { .address = address, .body = body, .body_length = length };
	bool answered = network_run_exchange(&exchange, mac);
	bool accepted = answered && (exchange.status == 200 || exchange.status == 201 || exchange.status == 204);
	struct text text = text_start(sentence, POST_SENTENCE_SIZE);

	text_printf(&text, accepted ? "The report was sent to %s" : "The report was not accepted by %s: ", address);
	if (!answered)
		text_put(&text, exchange.reason);
	else if (!accepted)
		text_printf(&text, "the server answered with status %u%s", exchange.status,
			    explain_http_status(exchange.status));
	text_put(&text, ".");
}
