/*
 * Sends a request through any network card that reaches the server, with the firmware's drivers (IPv4, DHCP). Closes
 * all connections and children of services, and restores the cards' address policies. The cards' drivers stay
 * connected.
 */
#ifndef BARETICK_NETWORK_H
#define BARETICK_NETWORK_H

#include "uefi/network/exchange.h"

/*
 * Connects the drivers of the network cards, waits at most 8 s for an address, and does EXCHANGE. Each card then has
 * the time limits of exchange_do(). Returns true if there was an answer. Otherwise EXCHANGE has the reason. If MAC is
 * not NULL, only the card with this MAC address is used, whose drivers are already connected.
 */
bool network_exchange(struct exchange *exchange, const uint8_t *mac);

#endif
