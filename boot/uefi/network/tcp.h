/* A TCP connection with time limits for each operation. */
#ifndef BARETICK_TCP_H
#define BARETICK_TCP_H

#include "uefi/network/protocols.h"

struct tcp { /* the connection, which is a child of the firmware's TCP service */
	struct tcp4 *tcp4;
	struct service_binding *binding;
	EFI_HANDLE child;
	EFI_EVENT event; /* used for one token at a time */
};

/*
 * Connects to PORT of IPV4 through the network card CARD, which must have an address. This takes at most 3 s. Returns
 * EFI_UNSUPPORTED if the firmware has no TCP for CARD. After an error nothing stays allocated.
 */
EFI_STATUS tcp_open(struct tcp *tcp, EFI_HANDLE card, const UINT8 ipv4[4], UINT16 port);

/*
 * Sends all BYTES within MS milliseconds. After EFI_TIMEOUT the connection is reset, but tcp_close() is still needed.
 */
EFI_STATUS tcp_send(struct tcp *tcp, const char *bytes, size_t length, unsigned ms);

/*
 * Receives the next bytes. *LENGTH is the space in BYTES on entry and the number of bytes on return. MS and the
 * connection after EFI_TIMEOUT are as in tcp_send().
 */
EFI_STATUS tcp_receive(struct tcp *tcp, char *bytes, size_t *length, unsigned ms);

void tcp_close(struct tcp *tcp);

#endif
