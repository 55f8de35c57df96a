/* The drivers' checks of what their data sheets promise, one after another within the time that the profile gives. */
#ifndef BARETICK_CHECKS_H
#define BARETICK_CHECKS_H

#include "driver.h"
#include "survey.h"

/*
 * Checks each device of which the main clock is in the survey's report. DEVICES and OPENED are in the order of
 * drivers[], OPENED as open left them. Ends early once the deadline is over.
 */
void checks_run(const struct platform *platform, struct device *devices,
		const struct clock (*opened)[DRIVER_CLOCKS_MAX], struct survey *survey);

#endif
