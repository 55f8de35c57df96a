/* A connection of TCP, whose waits end. */
#ifndef BARETICK_TCP_H
#define BARETICK_TCP_H

#include "uefi/network/protocols.h"

struct tcp { /* a child of the firmware's service */
	struct tcp4 *tcp4;
	struct service_binding *binding;
	EFI_HANDLE child;
	EFI_EVENT event; /* for one token at a time */
};

/*
 * Connects to IPV4's PORT by the network card CARD, which has an address; within 3 s. EFI_UNSUPPORTED: the firmware has
 * no TCP there. After an error nothing is held.
 */
EFI_STATUS tcp_open(struct tcp *tcp, EFI_HANDLE card, const UINT8 ipv4[4], UINT16 port);

/* All of BYTES, within MS. After EFI_TIMEOUT the connection is gone, but is to be closed. */
EFI_STATUS tcp_send(struct tcp *tcp, const char *bytes, size_t length, unsigned ms);

/* Receives the next bytes. *LENGTH is the space on entry and the number of bytes on return. Limits as in tcp_send(). */
EFI_STATUS tcp_receive(struct tcp *tcp, char *bytes, size_t *length, unsigned ms);

void tcp_close(struct tcp *tcp);

#endif
