/* UEFI adds two things to a machine: cores that the firmware lends, and checkpoints on the volume. */
#ifndef BARETICK_UEFI_MACHINE_H
#define BARETICK_UEFI_MACHINE_H

#include "machine.h"
#include "uefi/checkpoint.h"

/* The caller owns CHECKPOINT, and keeps it as long as the machine. */
struct machine_boot uefi_machine(struct checkpoint *checkpoint);

#endif
