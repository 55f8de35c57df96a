/*
 * A request over whichever network card leads to the server, by the firmware's own drivers (IPv4, DHCP). Nothing is
 * left behind: no connection, no child of a service, no policy of addresses that was not there. The drivers of the
 * cards stay connected.
 */
#ifndef BARETICK_NETWORK_H
#define BARETICK_NETWORK_H

#include "uefi/network/exchange.h"

/*
 * Connects the drivers of the network cards, waits for an address, does EXCHANGE. Whether it was answered; else its
 * reason says why not. Bounded: 8 s for an address, and for each card what exchange_do() takes. MAC: by the card of
 * that hardware address alone, whose drivers are connected already; NULL: by any.
 */
bool network_ask(struct exchange *exchange, const uint8_t *mac);

#endif
