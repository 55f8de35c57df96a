/*
 * Sends a request through any network card that reaches the server, with the firmware's drivers (IPv4, DHCP).
 * Afterwards closes all connections and service handles, and restores the cards' address policies. The cards' drivers
 * stay connected.
 */
#ifndef BARETICK_NETWORK_H
#define BARETICK_NETWORK_H

#include "uefi/network/exchange.h"

/*
 * Connects the drivers to the network cards, waits at most 8 s for an address, and does EXCHANGE. The time limits of
 * exchange_run() apply to each card that has an address. Returns true if the server answered. Otherwise
 * exchange->reason is the reason. If MAC is not NULL, only the card with this MAC address is used, and its drivers must
 * already be connected.
 */
bool network_run_exchange(struct exchange *exchange, const uint8_t *mac);

#endif
