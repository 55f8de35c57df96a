/* Implements a TCP connection. See network_internal.h. */
#include "uefi/network/network_internal.h"

#define CONNECT_MS   3000
#define TIME_TO_LIVE 64 /* recommended default of the IP field "time to live": RFC 1700 */

static const EFI_GUID guid_tcp4_binding = GUID_TCP4_BINDING;
static const EFI_GUID guid_tcp4 = GUID_TCP4;

static bool
open_tcp_child(struct tcp *tcp, EFI_HANDLE card)
{
	tcp->binding = firmware_find_protocol(card, &guid_tcp4_binding);
	tcp->child = NULL;
	if (!tcp->binding || EFI_ERROR(tcp->binding->create_child(tcp->binding, &tcp->child)))
		return false;
	tcp->tcp4 = firmware_find_protocol(tcp->child, &guid_tcp4);
	if (tcp->tcp4 && !EFI_ERROR(firmware_boot->CreateEvent(0, 0, NULL, NULL, &tcp->event)))
		return true;
	tcp->binding->destroy_child(tcp->binding, tcp->child);
	return false;
}

/*
 * Returns true if the event is signalled within MS milliseconds. Polls, because the firmware processes packets only
 * while it is polled.
 */
static bool
wait_for_signal(struct tcp *tcp, unsigned ms)
{
	struct pause pause;
	bool signalled;

	if (!pause_begin(&pause, ms))
		return false;
	do
		tcp->tcp4->poll(tcp->tcp4);
	while (!(signalled = firmware_boot->CheckEvent(tcp->event) == EFI_SUCCESS) && pause_wait_briefly(&pause));
	pause_end(&pause);
	return signalled;
}

/*
 * Waits for TOKEN, which is on the caller's stack. After a time-out the connection is reset, so that the driver no
 * longer uses TOKEN.
 */
static EFI_STATUS
wait_for_token(struct tcp *tcp, const struct tcp4_token *token, unsigned ms)
{
	if (wait_for_signal(tcp, ms))
		return token->status;
	tcp->tcp4->configure(tcp->tcp4, NULL);
	return EFI_TIMEOUT;
}

static EFI_STATUS
connect_to_address(struct tcp *tcp, const UINT8 ipv4[4], UINT16 port)
{
	struct tcp4_config config = {
		.time_to_live = TIME_TO_LIVE,
		.access_point = { .use_default_address = TRUE, .remote_port = port, .active = TRUE },
	};
	struct tcp4_token token = { tcp->event, EFI_NOT_READY };

	__builtin_memcpy(config.access_point.remote.bytes, ipv4, sizeof(config.access_point.remote.bytes));
	EFI_STATUS status = tcp->tcp4->configure(tcp->tcp4, &config);
	if (!EFI_ERROR(status))
		status = tcp->tcp4->connect(tcp->tcp4, &token);
	return EFI_ERROR(status) ? status : wait_for_token(tcp, &token, CONNECT_MS);
}

EFI_STATUS
tcp_open(struct tcp *tcp, EFI_HANDLE card, const UINT8 ipv4[4], UINT16 port)
{
	if (!open_tcp_child(tcp, card))
		return EFI_UNSUPPORTED;
	EFI_STATUS status = connect_to_address(tcp, ipv4, port);
	if (EFI_ERROR(status))
		tcp_close(tcp);
	return status;
}

EFI_STATUS
tcp_send(struct tcp *tcp, const char *bytes, size_t length, unsigned ms)
{
	struct tcp4_data data = { .push = TRUE, .length = (UINT32)length, .fragments = 1,
				  .fragment = { (UINT32)length, (char *)bytes } };
	struct tcp4_io io = { { tcp->event, EFI_NOT_READY }, &data };
	EFI_STATUS status = tcp->tcp4->transmit(tcp->tcp4, &io);

	return EFI_ERROR(status) ? status : wait_for_token(tcp, &io.token, ms);
}

EFI_STATUS
tcp_receive(struct tcp *tcp, char *bytes, size_t *length, unsigned ms)
{
	struct tcp4_data data = { .length = (UINT32)*length, .fragments = 1, .fragment = { (UINT32)*length, bytes } };
	struct tcp4_io io = { { tcp->event, EFI_NOT_READY }, &data };
	EFI_STATUS status = tcp->tcp4->receive(tcp->tcp4, &io);

	if (!EFI_ERROR(status))
		status = wait_for_token(tcp, &io.token, ms);
	*length = EFI_ERROR(status) || data.length > *length ? 0 : data.length;
	return status;
}

void
tcp_close(struct tcp *tcp)
{
	tcp->tcp4->configure(tcp->tcp4, NULL); /* a NULL configuration also ends pending requests */
	tcp->binding->destroy_child(tcp->binding, tcp->child);
	firmware_boot->CloseEvent(tcp->event);
}
