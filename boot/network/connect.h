/* Whether a server takes connections. The firmware's HTTP does not give up on a silent one for a minute. */
#ifndef BARETICK_CONNECT_H
#define BARETICK_CONNECT_H

#include "exchange.h"

/* A connection of TCP to EXCHANGE's server by the network card HANDLE, and away again. False: its reason says why. */
bool connect_try(EFI_HANDLE handle, struct exchange *exchange);

#endif
