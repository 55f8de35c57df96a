/* The TSC's rate according to the firmware. */
#ifndef BARETICK_TIMESTAMP_H
#define BARETICK_TIMESTAMP_H

#include "clock/claims.h"

#define TIMESTAMP_WITHIN_HZ 1000u /* tolerance, because firmware may calculate the rate from whole kHz */

/*
 * Adds a row to CLAIMS if the firmware has EFI_TIMESTAMP_PROTOCOL. The row has no rate if the protocol's counter is not
 * the TSC.
 */
void timestamp_add_claim(struct claims *claims);

#endif
