/* Functions for limited waits, TCP connections and DNS. For boot/uefi/network only. */
#ifndef BARETICK_NETWORK_INTERNAL_H
#define BARETICK_NETWORK_INTERNAL_H

#include "uefi/firmware/uefi.h"
#include "uefi/network/protocols.h"

/*
 * A time limit for a wait, measured by the firmware's timer. If this timer has stopped, the wait ends after a maximum
 * number of polls (turns).
 */
struct pause {
	EFI_EVENT over;
	unsigned turns; /* number of remaining turns */
};

/*
 * Starts a pause of MS milliseconds. If the firmware cannot create a timer event, returns false, and pause_end() is not
 * needed.
 */
bool pause_begin(struct pause *pause, unsigned ms);
bool pause_is_over(const struct pause *pause);
bool pause_wait_briefly(struct pause *pause);            /* waits 100 us; false if the time is over */
void pause_end(struct pause *pause);

struct tcp { /* a TCP connection, which is a child handle of the firmware's TCP service */
	struct tcp4 *tcp4;
	struct service_binding *binding;
	EFI_HANDLE child;
	EFI_EVENT event; /* signalled at the end of an operation; only one operation is in progress at a time */
};

/*
 * Connects to PORT of IPV4 through the network card CARD, which must have an address. This takes at most 3 s. Returns
 * EFI_UNSUPPORTED if the firmware has no TCP for CARD. After an error nothing stays allocated.
 */
EFI_STATUS tcp_open(struct tcp *tcp, EFI_HANDLE card, const UINT8 ipv4[4], UINT16 port);

/*
 * Sends all BYTES within MS milliseconds. If this takes longer, resets the connection and returns EFI_TIMEOUT. After
 * an error, tcp_close() is needed, too.
 */
EFI_STATUS tcp_send(struct tcp *tcp, const char *bytes, size_t length, unsigned ms);

/*
 * Receives the next bytes. *LENGTH is the space in BYTES on entry, and the number of received bytes on return. MS and
 * EFI_TIMEOUT have the same meaning as in tcp_send().
 */
EFI_STATUS tcp_receive(struct tcp *tcp, char *bytes, size_t *length, unsigned ms);

void tcp_close(struct tcp *tcp);

/*
 * Requests the IPv4 address of NAME from the DNS servers of network card CARD. This takes at most 8 s. CARD must have
 * an address, and NAME must be shorter than URL_HOST_SIZE. Returns NULL and sets IPV4 to the first address, or returns
 * the reason of a failure as a clause. No resources stay allocated, and addresses are not cached.
 */
const char *dns_look_up(EFI_HANDLE card, const char *name, UINT8 ipv4[4]);

#endif
