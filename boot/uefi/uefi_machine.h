/* The functions that UEFI adds to a machine: for cores that the firmware lends, and for checkpoints on the volume. */
#ifndef BARETICK_UEFI_MACHINE_H
#define BARETICK_UEFI_MACHINE_H

#include "machine.h"
#include "uefi/checkpoint.h"

/* Returns these functions. The caller owns CHECKPOINT, and keeps it valid as long as the machine. */
struct machine_boot uefi_machine(struct checkpoint *checkpoint);

#endif
