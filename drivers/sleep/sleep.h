/* The sleep states of the CPU, and the local APIC timer that wakes a core from them. */
#ifndef BARETICK_DRIVERS_SLEEP_H
#define BARETICK_DRIVERS_SLEEP_H

#include "clock/sleep.h"

extern const struct sleep_driver sleep_driver;

#endif
