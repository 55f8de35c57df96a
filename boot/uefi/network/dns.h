/* Looks up the address of a name with the firmware's DNS. */
#ifndef BARETICK_DNS_H
#define BARETICK_DNS_H

#include "uefi/firmware/uefi.h"

/*
 * Requests an IPv4 address of NAME from the DNS servers of network card CARD. This takes at most 8 s. CARD must have an
 * address, and NAME must be shorter than URL_HOST_SIZE. Returns NULL and sets IPV4 to the first address, or returns the
 * reason of a failure as a clause. No resources stay allocated, and no address is stored for later calls.
 */
const char *dns_look_up(EFI_HANDLE card, const char *name, UINT8 ipv4[4]);

#endif
