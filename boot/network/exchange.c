/* A request and its answer, over a connection of TCP. See exchange.h. */
#include "exchange.h"

#include "pause.h"
#include "tcp.h"

#define PIECE_BYTES 65536u
#define PIECE_MS    5000 /* for one of them to be taken */
#define BODY_MS     30000 /* for all */
#define PART_MS     5000 /* for a part of the answer's first line to come */
#define ANSWER_MS   10000 /* for all of it */
#define HEAD_SIZE   (URL_SIZE + URL_HOST_SIZE + 192)
#define LINE_SIZE   256  /* of the answer: its first line is read, and no more */

bool
exchange_fails(struct exchange *exchange, const char *reason)
{
	struct text text;

	text_init(&text, exchange->reason, sizeof(exchange->reason));
	text_put(&text, reason);
	return false;
}

static bool
fails_by(struct exchange *exchange, const char *reason, EFI_STATUS status)
{
	struct text text;

	text_init(&text, exchange->reason, sizeof(exchange->reason));
	text_printf(&text, "%s (status %lxh)", reason, (unsigned long)(status & ~EFI_ERROR_MASK));
	return false;
}

static bool
is_closed(EFI_STATUS status)
{
	return status == EFI_ABORTED || status == STATUS_CONNECTION_FIN || status == STATUS_CONNECTION_RESET;
}

static void
say_not_reached(struct exchange *exchange, EFI_STATUS status)
{
	if (status == EFI_UNSUPPORTED)
		exchange_fails(exchange, EXCHANGE_NO_TCP);
	else if (status == EFI_TIMEOUT || status == EFI_NO_RESPONSE)
		exchange_fails(exchange, "nothing answers there");
	else if (status == STATUS_CONNECTION_RESET || status == STATUS_CONNECTION_REFUSED)
		exchange_fails(exchange, "the connection was refused");
	else
		fails_by(exchange, "the firmware makes no connection to it", status);
}

/* RFC 9112, 3.2 and 6.2. */
static EFI_STATUS
send_head(struct tcp *tcp, const struct exchange *exchange)
{
	char head[HEAD_SIZE];
	struct text text;

	text_init(&text, head, sizeof(head));
	text_printf(&text, "POST %s HTTP/1.1\r\nHost: %s", exchange->at.path, exchange->at.host);
	if (exchange->at.has_port)
		text_printf(&text, ":%u", exchange->at.port);
	text_printf(&text, "\r\nUser-Agent: baretick\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n"
		    "Connection: close\r\n\r\n", exchange->body_length);
	return tcp_send(tcp, head, text.length, PIECE_MS);
}

/* Piece by piece, each with a bound of its own. */
static EFI_STATUS
send_body(struct tcp *tcp, const struct exchange *exchange)
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
send_all(struct tcp *tcp, const struct exchange *exchange)
{
	EFI_STATUS status = send_head(tcp, exchange);

	return EFI_ERROR(status) ? status : send_body(tcp, exchange);
}

/* Until its first line is there, as far as that is read. */
static EFI_STATUS
receive(struct tcp *tcp, struct exchange *exchange)
{
	char line[LINE_SIZE];
	size_t length = 0, part;
	EFI_STATUS status = EFI_SUCCESS;
	struct pause pause;

	if (!pause_begin(&pause, ANSWER_MS))
		return EFI_OUT_OF_RESOURCES;
	while (!EFI_ERROR(status) && !(exchange->status = url_status(line, length)) && length < sizeof(line)) {
		part = sizeof(line) - length;
		status = pause_is_over(&pause) ? EFI_TIMEOUT : tcp_receive(tcp, line + length, &part, PART_MS);
		length += EFI_ERROR(status) ? 0 : part;
	}
	pause_end(&pause);
	return status;
}

/* A server that refuses may answer before it has all, and close the connection: that is asked for as well. */
static bool
ask(struct tcp *tcp, struct exchange *exchange)
{
	EFI_STATUS sent = send_all(tcp, exchange), status = receive(tcp, exchange);

	if (exchange->status)
		return true;
	if (sent == EFI_TIMEOUT)
		return exchange_fails(exchange, "it does not take the request");
	if (is_closed(sent))
		return exchange_fails(exchange, "it closed the connection before the request was complete");
	if (EFI_ERROR(sent))
		return fails_by(exchange, "the firmware does not send the request", sent);
	if (status == EFI_TIMEOUT)
		return exchange_fails(exchange, "it gives no answer in time");
	if (is_closed(status))
		return exchange_fails(exchange, "it closed the connection without an answer");
	return EFI_ERROR(status) ? fails_by(exchange, "the firmware does not get the answer", status) :
				   exchange_fails(exchange, "its answer is not one of HTTP");
}

enum exchange_end
exchange_do(EFI_HANDLE card, struct exchange *exchange)
{
	struct tcp tcp;
	EFI_STATUS status = tcp_open(&tcp, card, exchange->at.ipv4, exchange->at.port);
	bool answered;

	if (EFI_ERROR(status)) {
		say_not_reached(exchange, status);
		return EXCHANGE_NOT_REACHED;
	}
	answered = ask(&tcp, exchange);
	tcp_close(&tcp);
	return answered ? EXCHANGE_ANSWERED : EXCHANGE_FAILED;
}
