/*
 * Sends a request over any network card that reaches the server, by the firmware's own drivers (IPv4, DHCP). Closes all
 * connections and children of services, and restores the cards' address policies. The cards' drivers stay connected.
 */
#ifndef BARETICK_NETWORK_H
#define BARETICK_NETWORK_H

#include "uefi/network/exchange.h"

/*
 * Connects the drivers of the network cards, waits at most 8 s for an address, and does EXCHANGE. Each card then has
 * the limits of exchange_do(). Returns true if there was an answer, otherwise EXCHANGE has the reason. With MAC only
 * the card with that address is used, whose drivers are already connected. If MAC is NULL, any card is used.
 */
bool network_ask(struct exchange *exchange, const uint8_t *mac);

#endif
