/* The address of a name, by the firmware's own DNS. */
#ifndef BARETICK_DNS_H
#define BARETICK_DNS_H

#include "uefi/firmware/uefi.h"

/*
 * Asks the DNS servers that the network card CARD, which has an address, was told of, for an IPv4 address of NAME,
 * shorter than URL_HOST_SIZE; within 8 s. NULL, and IPV4 is the first one; or why there is none, as a clause. Nothing
 * is held, and nothing stays in a cache.
 */
const char *dns_look_up(EFI_HANDLE card, const char *name, UINT8 ipv4[4]);

#endif
