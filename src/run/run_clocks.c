/* Opens and closes the clocks of a run. See run_internal.h. */
#include "run/run_internal.h"

#include "base/text.h"

/*
 * Returns true if OPTIONS include the clock ID. The null clock is always included, because the cost of other clocks is
 * calculated from their latency and its latency.
 */
static bool
is_clock_selected(const struct options *options, const char *id)
{
	if (text_equal(id, "null"))
		return true;
	for (size_t i = 0; i < options->clocks.count; i++)
		if (text_equal(options->clocks.ids[i], id))
			return true;
	return options->clocks.count == 0;
}

bool
run_includes_driver(const struct options *options, const struct driver *driver)
{
	bool any = false;

	for (size_t i = 0; i < driver->clock_count; i++)
		any |= is_clock_selected(options, driver->rows[i].id);
	return any;
}

struct opening {
	struct run *run;
	size_t driver;
};

static void
open_driver(void *argument)
{
	const struct opening *opening = argument;
	struct run *run = opening->run;
	size_t d = opening->driver;

	run->machine->drivers[d]->open(run->machine->platform, &run->devices[d], run->rows[d]);
}

/*
 * Opens driver D. If this causes an exception, for example because of a wrong address in a firmware table, the
 * driver's clocks get the state broken, with the exception as reason.
 */
static void
open_driver_guarded(struct run *run, size_t d)
{
	const struct driver *driver = run->machine->drivers[d];
	struct opening opening = { run, d };
	struct fault fault;
	struct text reason;

	if (!run->machine->hooks.guarded) {
		open_driver(&opening);
		return;
	}
	if (run->machine->hooks.guarded(open_driver, &opening, &fault))
		return;
	for (size_t i = 0; i < driver->clock_count; i++) {
		struct clock *row = &run->rows[d][i];

		*row = driver->rows[i];
		row->main = driver->rows[0].id;
		row->found_by = "";
		row->state = CLOCK_BROKEN;
		text_init(&reason, row->reason, CLOCK_REASON_SIZE);
		text_put(&reason, "Access to it faulted: ");
		fault_print(&reason, &fault);
		text_put(&reason, ".");
	}
}

void
run_open_clocks(struct run *run)
{
	const struct driver *const *drivers = run->machine->drivers;
	struct report *report = &run->report;

	for (size_t d = 0; d < RUN_DRIVERS_MAX && drivers[d]; d++) {
		struct clock *rows = run->rows[d];

		if (!run_includes_driver(&report->facts.options, drivers[d]))
			continue;
		open_driver_guarded(run, d);
		for (size_t i = 0; i < drivers[d]->clock_count && report->facts.clock_count < REPORT_CLOCKS_MAX; i++) {
			struct report_clock *entry = &report->facts.clocks[report->facts.clock_count];

			if (!is_clock_selected(&report->facts.options, rows[i].id) ||
			    (rows[i].unoffered && !report->facts.options.clocks.count))
				continue;
			entry->clock = rows[i];
			entry->series = d;
			entry->latency = &run->latencies[report->facts.clock_count++];
		}
	}
}

static void
close_driver(void *argument)
{
	const struct opening *opening = argument;

	opening->run->machine->drivers[opening->driver]->close(&opening->run->devices[opening->driver]);
}

void
run_close_clocks(struct run *run)
{
	const struct driver *const *drivers = run->machine->drivers;
	struct opening opening = { .run = run };
	struct fault fault;

	for (size_t *d = &opening.driver; *d < RUN_DRIVERS_MAX && drivers[*d]; (*d)++)
		if (!run->machine->hooks.guarded)
			close_driver(&opening);
		else if (!run->machine->hooks.guarded(close_driver, &opening, &fault))
			notes_add(&run->report.notes, "Not restored: the state of %s, because closing this clock caused an exception.",
				  drivers[*d]->rows[0].id);
}
