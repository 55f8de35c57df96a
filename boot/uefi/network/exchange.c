/* Sends a request over TCP, and receives its answer. See exchange.h. */
#include "uefi/network/exchange.h"

#include "network/answer.h"
#include "uefi/network/network_internal.h"

#define PIECE_BYTES 65536u
#define PIECE_MS    5000 /* longest time to transfer one piece, in ms */
#define BODY_MS     30000 /* longest time for the whole body, in ms */
#define PART_MS     5000 /* longest wait for the next part of the answer, in ms */
#define ANSWER_MS   10000 /* longest time for the whole answer, in ms */
#define HEAD_SIZE   (URL_SIZE + URL_HOST_SIZE + 448)
#define LINE_SIZE   256  /* size of the buffer for the first line of a POST's answer */
#define SILENT      "the server did not answer in time"

bool
exchange_set_failure(struct exchange *exchange, const char *reason)
{
	text_copy(exchange->reason, sizeof(exchange->reason), reason);
	return false;
}

static bool
fail_with_status(struct exchange *exchange, const char *reason, EFI_STATUS status)
{
	text_format(exchange->reason, sizeof(exchange->reason), "%s (status %lxh)", reason,
		    (unsigned long)(status & ~EFI_ERROR_MASK));
	return false;
}

static bool
is_connection_closed(EFI_STATUS status)
{
	return status == EFI_ABORTED || status == STATUS_CONNECTION_FIN || status == STATUS_CONNECTION_RESET;
}

static void
set_connection_failure(struct exchange *exchange, EFI_STATUS status)
{
	if (status == EFI_UNSUPPORTED)
		exchange_set_failure(exchange, EXCHANGE_NO_TCP);
	else if (status == EFI_TIMEOUT || status == EFI_NO_RESPONSE)
		exchange_set_failure(exchange, "nothing answers there");
	else if (status == STATUS_CONNECTION_RESET || status == STATUS_CONNECTION_REFUSED)
		exchange_set_failure(exchange, "the connection was refused");
	else
		fail_with_status(exchange, "the firmware can't connect to the server", status);
}

/*
 * Sends the request's header (RFC 9112, 3.2 and 6.2). A GET uses HTTP/1.0, because a server could answer an HTTP/1.1
 * request in chunks.
 */
static EFI_STATUS
send_request_head(struct tcp *tcp, const struct exchange *exchange)
{
	const bool posts = exchange->body != NULL;
	char head[HEAD_SIZE];
	struct text text = text_start(head, sizeof(head));

	text_printf(&text, "%s %s%s%s HTTP/1.%u\r\nHost: %s", posts ? "POST" : "GET", exchange->at.path,
		    exchange->query ? "?" : "", exchange->query ? exchange->query : "", posts ? 1u : 0u,
		    exchange->at.host);
	if (exchange->at.has_port)
		text_printf(&text, ":%u", exchange->at.port);
	text_put(&text, "\r\nUser-Agent: baretick\r\n");
	if (posts)
		text_printf(&text, "Content-Type: application/json\r\nContent-Length: %zu\r\n", exchange->body_length);
	text_put(&text, "Connection: close\r\n\r\n");
	return tcp_send(tcp, head, text.length, PIECE_MS);
}

/* Sends the body in pieces. Each piece has its own time limit. */
static EFI_STATUS
send_request_body(struct tcp *tcp, const struct exchange *exchange)
{
	EFI_STATUS status = EFI_SUCCESS;
	struct pause pause;

	if (!pause_begin(&pause, BODY_MS))
		return EFI_OUT_OF_RESOURCES;
	for (size_t at = 0; at < exchange->body_length && !EFI_ERROR(status); at += PIECE_BYTES) {
		size_t left = exchange->body_length - at;

		status = pause_is_over(&pause) ? EFI_TIMEOUT :
			 tcp_send(tcp, exchange->body + at, left < PIECE_BYTES ? left : PIECE_BYTES, PIECE_MS);
	}
	pause_end(&pause);
	return status;
}

static EFI_STATUS
send_request(struct tcp *tcp, const struct exchange *exchange)
{
	EFI_STATUS status = send_request_head(tcp, exchange);

	return EFI_ERROR(status) || !exchange->body ? status : send_request_body(tcp, exchange);
}

/* The part of the answer that has arrived. */
struct reception {
	char *bytes;
	size_t size, length;
	struct answer answer;
	EFI_STATUS end; /* status of the last receive */
};

/* Returns true if the answer is complete. For a POST, and for any status other than 200, the first line is enough. */
static bool
is_answer_complete(const struct exchange *exchange, struct reception *in)
{
	const struct answer *answer = &in->answer;
	bool whole = answer_parse_header(in->bytes, in->length, &in->answer);

	if (exchange->body || answer->status != EXCHANGE_OK)
		return answer->status || in->length >= LINE_SIZE;
	return whole && (answer->refused || (answer->has_length && (answer->length > EXCHANGE_BODY_MAX ||
								    answer->length <= in->length - answer->body_at)));
}

static void
receive_answer(struct tcp *tcp, const struct exchange *exchange, struct reception *in)
{
	struct pause pause;
	size_t part;

	in->end = EFI_OUT_OF_RESOURCES;
	if (!pause_begin(&pause, ANSWER_MS))
		return;
	in->end = EFI_SUCCESS;
	while (!EFI_ERROR(in->end) && !is_answer_complete(exchange, in) && in->length < in->size) {
		part = in->size - in->length;
		in->end = pause_is_over(&pause) ? EFI_TIMEOUT : tcp_receive(tcp, in->bytes + in->length, &part, PART_MS);
		in->length += EFI_ERROR(in->end) ? 0 : part;
	}
	pause_end(&pause);
}

/* Stores the reason why the answer is incomplete. Always returns false. */
static bool
set_early_end_failure(struct exchange *exchange, const struct reception *in, const char *closed)
{
	if (in->end == EFI_TIMEOUT)
		return exchange_set_failure(exchange, SILENT);
	return is_connection_closed(in->end) ? exchange_set_failure(exchange, closed) :
				    fail_with_status(exchange, "the firmware can't receive the server's answer",
						     in->end);
}

/*
 * Moves the body to the start of the buffer. Returns false if the body is incomplete, too long or has an unsupported
 * form.
 */
static bool
move_body_to_start(struct exchange *exchange, const struct reception *in)
{
	const struct answer *answer = &in->answer;
	size_t length = in->length - answer->body_at;

	if (answer->refused)
		return exchange_set_failure(exchange, answer->refused);
	if ((answer->has_length ? answer->length : length) > EXCHANGE_BODY_MAX || in->length == in->size)
		return exchange_set_failure(exchange, "the server's answer is longer than 64 KiB");
	if (!answer->body_at || (answer->has_length ? length < answer->length : in->end != STATUS_CONNECTION_FIN))
		return set_early_end_failure(exchange, in, "the connection was closed before the answer was complete");
	exchange->answer_length = answer->has_length ? (size_t)answer->length : length;
	__builtin_memmove(exchange->answer, in->bytes + answer->body_at, exchange->answer_length);
	return true;
}

/*
 * Sends the request and receives the answer. Reads the answer even if sending failed, because a server that rejects the
 * request may answer early and close the connection.
 */
static bool
send_and_receive(struct tcp *tcp, struct exchange *exchange)
{
	char line[LINE_SIZE];
	struct reception in = { .bytes = exchange->answer ? exchange->answer : line,
				.size = exchange->answer ? exchange->answer_size : sizeof(line) };
	EFI_STATUS sent = send_request(tcp, exchange);

	receive_answer(tcp, exchange, &in);
	exchange->status = in.answer.status;
	if (exchange->status)
		return exchange->body || exchange->status != EXCHANGE_OK || move_body_to_start(exchange, &in);
	if (sent == EFI_TIMEOUT)
		return exchange_set_failure(exchange, "the server does not accept the request");
	if (is_connection_closed(sent))
		return exchange_set_failure(exchange, "the connection was closed before the request was complete");
	if (EFI_ERROR(sent))
		return fail_with_status(exchange, "the firmware can't send the request", sent);
	return EFI_ERROR(in.end) ? set_early_end_failure(exchange, &in, "the connection was closed without an answer") :
				   exchange_set_failure(exchange, "the server's answer is not HTTP");
}

enum exchange_end
exchange_run(EFI_HANDLE card, struct exchange *exchange)
{
	const char *unknown = exchange->at.has_ipv4 ? NULL : dns_look_up(card, exchange->at.host, exchange->at.ipv4);
	struct tcp tcp;

	if (unknown) {
		exchange_set_failure(exchange, unknown);
		return EXCHANGE_NOT_REACHED;
	}
	EFI_STATUS status = tcp_open(&tcp, card, exchange->at.ipv4, exchange->at.port);
	if (EFI_ERROR(status)) {
		set_connection_failure(exchange, status);
		return EXCHANGE_NOT_REACHED;
	}
	bool answered = send_and_receive(&tcp, exchange);
	tcp_close(&tcp);
	return answered ? EXCHANGE_ANSWERED : EXCHANGE_FAILED;
}
