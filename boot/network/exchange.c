/* A request and its answer by EFI_HTTP_PROTOCOL. See exchange.h. */
#include "exchange.h"

#include "child.h"

#define PIECE_BYTES 65536u
#define PIECE_MS    5000 /* for one of them to be taken */
#define BODY_MS     30000 /* for all */
#define ANSWER_MS   6000 /* EDK II's HttpDxe gives up after 5 s */
#define ANSWERS_MAX 2    /* times that long */

static const EFI_GUID guid_http_binding = GUID_HTTP_BINDING;
static const EFI_GUID guid_http = GUID_HTTP;

struct way {
	struct http *http;
	struct child child;
	struct exchange *exchange;
};

bool
exchange_fails(struct exchange *exchange, const char *reason)
{
	struct text text;

	text_init(&text, exchange->reason, sizeof(exchange->reason));
	text_put(&text, reason);
	return false;
}

bool
exchange_fails_by(struct exchange *exchange, const char *reason, EFI_STATUS status)
{
	struct text text;

	text_init(&text, exchange->reason, sizeof(exchange->reason));
	text_printf(&text, "%s (status %lxh)", reason, (unsigned long)(status & ~EFI_ERROR_MASK));
	return false;
}

static EFI_STATUS EFIAPI
poll(void *http)
{
	return ((struct http *)http)->poll(http);
}

/* UEFI 2.10, 29.6: EFI_HTTP_STATUS_CODE numbers the statuses from 1 on. */
static unsigned
status_of(unsigned number)
{
	static const unsigned short statuses[] = {
		0, 100, 101, 200, 201, 202, 203, 204, 205, 206, 300, 301, 302, 303, 304, 305, 307, 400, 401, 402, 403, 404,
		405, 406, 407, 408, 409, 410, 411, 412, 413, 414, 415, 416, 417, 500, 501, 502, 503, 504, 505, 308,
	};

	return number < sizeof(statuses) / sizeof(statuses[0]) ? statuses[number] : 0;
}

static EFI_STATUS
send(struct way *way, struct http_message *message)
{
	struct http_token token = { way->child.event, EFI_NOT_READY, message };
	EFI_STATUS status = way->http->request(way->http, &token);

	if (EFI_ERROR(status))
		return status;
	if (child_wait(&way->child, poll, way->http, PIECE_MS))
		return token.status;
	way->http->configure(way->http, NULL); /* or the driver would go on with a token that is gone */
	return EFI_TIMEOUT;
}

/* The headers and the first piece in one message; then piece by piece, each with a bound of its own. */
static EFI_STATUS
send_all(struct way *way, struct http_request *request, struct http_header *headers, size_t header_count)
{
	const struct exchange *exchange = way->exchange;
	size_t left = exchange->body_length, piece = left < PIECE_BYTES ? left : PIECE_BYTES;
	struct http_message message = { .request = request, .header_count = header_count, .headers = headers,
					.body_length = piece, .body = piece ? (char *)exchange->body : NULL };
	EFI_STATUS status;
	struct pause pause;

	if (!pause_begin(&pause, BODY_MS))
		return EFI_OUT_OF_RESOURCES;
	for (;;) {
		status = send(way, &message);
		left -= piece;
		if (EFI_ERROR(status) || !left)
			break;
		if (firmware_boot->CheckEvent(pause.over) == EFI_SUCCESS) {
			status = EFI_TIMEOUT;
			break;
		}
		piece = left < PIECE_BYTES ? left : PIECE_BYTES;
		message = (struct http_message){ .body_length = piece,
						 .body = (char *)exchange->body + exchange->body_length - left };
	}
	pause_end(&pause);
	return status;
}

/* Once more after a time-out of the firmware's own. */
static EFI_STATUS
receive(struct way *way, struct http_message *message)
{
	struct http_token token = { way->child.event, EFI_NOT_READY, message };
	EFI_STATUS status = EFI_TIMEOUT;

	for (unsigned i = 0; i < ANSWERS_MAX && status == EFI_TIMEOUT; i++) {
		token.status = EFI_NOT_READY;
		status = way->http->response(way->http, &token);
		if (EFI_ERROR(status))
			continue;
		if (!child_wait(&way->child, poll, way->http, ANSWER_MS)) {
			way->http->configure(way->http, NULL);
			return EFI_TIMEOUT;
		}
		status = token.status;
	}
	return status;
}

static void
free_headers(struct http_message *message)
{
	for (size_t i = 0; message->headers && i < message->header_count; i++) {
		if (message->headers[i].name)
			firmware_boot->FreePool(message->headers[i].name);
		if (message->headers[i].value)
			firmware_boot->FreePool(message->headers[i].value);
	}
	if (message->headers)
		firmware_boot->FreePool(message->headers);
}

/* Of a refusal nothing but its status is looked at. */
static EFI_STATUS
answer(struct way *way)
{
	struct http_response response = { 0 };
	struct http_message message = { .response = &response };
	EFI_STATUS status = receive(way, &message);

	if (EFI_ERROR(status) && status != STATUS_HTTP_ERROR)
		return status;
	way->exchange->status = status_of(response.status);
	if (!EFI_ERROR(status))
		free_headers(&message);
	return EFI_SUCCESS;
}

static bool
fails(struct exchange *exchange, EFI_STATUS status, bool sent)
{
	switch (status) {
	case EFI_TIMEOUT:
		return exchange_fails(exchange, sent ? "the firmware has no answer to the request in time" :
						       "it does not take the request");
	case EFI_ABORTED:
	case STATUS_CONNECTION_FIN:
	case STATUS_CONNECTION_RESET:
		return exchange_fails(exchange, sent ? "it closed the connection without an answer" :
						       "it closed the connection before the request was complete");
	default:
		return exchange_fails_by(exchange, sent ? "its answer can't be read" : "the firmware does not send the request",
					 status);
	}
}

static bool
ask(struct way *way)
{
	struct exchange *exchange = way->exchange;
	char host[URL_HOST_SIZE + 8], length[24];
	struct http_header headers[] = {
		{ (CHAR8 *)"Host", (CHAR8 *)host }, { (CHAR8 *)"User-Agent", (CHAR8 *)"baretick" },
		{ (CHAR8 *)"Content-Type", (CHAR8 *)"application/json" }, { (CHAR8 *)"Content-Length", (CHAR8 *)length },
	};
	CHAR16 url[URL_SIZE];
	struct http_request request = { HTTP_POST, url };
	struct text text;
	EFI_STATUS status;

	text_init(&text, host, sizeof(host));
	text_printf(&text, exchange->at.has_port ? "%s:%u" : "%s", exchange->at.host, exchange->at.port);
	text_init(&text, length, sizeof(length));
	text_printf(&text, "%zu", exchange->body_length);
	for (size_t i = 0; i == 0 || exchange->address[i - 1]; i++)
		url[i] = (unsigned char)exchange->address[i];
	status = send_all(way, &request, headers, sizeof(headers) / sizeof(headers[0]));
	if (EFI_ERROR(status))
		return fails(exchange, status, false);
	status = answer(way);
	return EFI_ERROR(status) ? fails(exchange, status, true) : true;
}

bool
exchange_do(EFI_HANDLE handle, struct exchange *exchange)
{
	struct http_access_point access_point = { .use_default_address = TRUE };
	struct http_config config = { .version = HTTP_11, .access_point = &access_point };
	struct way way = { .exchange = exchange };
	EFI_STATUS status;
	bool answered;

	way.http = child_open(&way.child, handle, &guid_http_binding, &guid_http);
	if (!way.http)
		return exchange_fails(exchange, EXCHANGE_NO_HTTP);
	status = way.http->configure(way.http, &config);
	answered = EFI_ERROR(status) ? exchange_fails_by(exchange, "the firmware's HTTP does not start", status) : ask(&way);
	way.http->configure(way.http, NULL);
	child_close(&way.child);
	return answered;
}
