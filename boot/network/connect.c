/* A connection of TCP, and away again. See connect.h. */
#include "connect.h"

#include "child.h"

#define CONNECT_MS   3000
#define TIME_TO_LIVE 64 /* RFC 1700 */

static const EFI_GUID guid_tcp4_binding = GUID_TCP4_BINDING;
static const EFI_GUID guid_tcp4 = GUID_TCP4;

static EFI_STATUS EFIAPI
poll(void *tcp)
{
	return ((struct tcp4 *)tcp)->poll(tcp);
}

static EFI_STATUS
connect(struct tcp4 *tcp, struct child *child, const struct url *at)
{
	struct tcp4_config config = {
		.time_to_live = TIME_TO_LIVE,
		.access_point = { .use_default_address = TRUE, .remote_port = at->port, .active = TRUE },
	};
	struct tcp4_token token = { child->event, EFI_NOT_READY };
	EFI_STATUS status;

	__builtin_memcpy(config.access_point.remote.bytes, at->ipv4, sizeof(at->ipv4));
	status = tcp->configure(tcp, &config);
	if (!EFI_ERROR(status))
		status = tcp->connect(tcp, &token);
	if (!EFI_ERROR(status))
		status = child_wait(child, poll, tcp, CONNECT_MS) ? token.status : EFI_TIMEOUT;
	tcp->configure(tcp, NULL); /* ends the token, too */
	return status;
}

bool
connect_try(EFI_HANDLE handle, struct exchange *exchange)
{
	struct child child;
	struct tcp4 *tcp = child_open(&child, handle, &guid_tcp4_binding, &guid_tcp4);
	EFI_STATUS status;

	if (!tcp)
		return exchange_fails(exchange, EXCHANGE_NO_HTTP);
	status = connect(tcp, &child, &exchange->at);
	child_close(&child);
	if (status == EFI_TIMEOUT || status == EFI_NO_RESPONSE)
		return exchange_fails(exchange, "nothing answers there");
	if (status == STATUS_CONNECTION_RESET || status == STATUS_CONNECTION_REFUSED)
		return exchange_fails(exchange, "the connection was refused");
	if (EFI_ERROR(status))
		return exchange_fails_by(exchange, "the firmware makes no connection to it", status);
	return true;
}
