/* Looks up the address of a name, by the firmware's own DNS. */
#ifndef BARETICK_DNS_H
#define BARETICK_DNS_H

#include "uefi/firmware/uefi.h"

/*
 * Asks the DNS servers of network card CARD for an IPv4 address of NAME, within 8 s. CARD has an address, and NAME is
 * shorter than URL_HOST_SIZE. Returns NULL with the first address in IPV4, or the reason as a clause. Keeps no
 * resources and no cache.
 */
const char *dns_look_up(EFI_HANDLE card, const char *name, UINT8 ipv4[4]);

#endif
