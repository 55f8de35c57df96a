/* What the firmware states about the rate of the TSC. */
#ifndef BARETICK_TIMESTAMP_H
#define BARETICK_TIMESTAMP_H

#include "clock/claims.h"

#define TIMESTAMP_WITHIN_HZ 1000u /* firmware may compute it from kHz */

/* Adds a row if the firmware has EFI_TIMESTAMP_PROTOCOL. It has no rate if the protocol does not count the TSC. */
void timestamp_claim(struct claims *claims);

#endif
