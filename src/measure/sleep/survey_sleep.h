/* Tests clocks and timers while cores sleep. */
#ifndef BARETICK_SURVEY_SLEEP_H
#define BARETICK_SURVEY_SLEEP_H

#include "measure/survey.h"

/*
 * If MAY_OTHERS_SLEEP is true, puts all cores but the boot core to sleep in each state that the option sleep= allows.
 * In HLT the boot core then sleeps, too, if MAY_BOOT_CORE_SLEEP is true. Adds the readings to the record. A core that
 * does not wake is stopped by INIT. Each wait is bounded, except the sleep of the boot core, which the firmware's tick
 * ends.
 */
void survey_test_sleep_states(struct survey *survey, bool may_others_sleep, bool may_boot_core_sleep);

#endif
