/* Collects the ids of clocks and rules that options accept. See names.h. */
#include "names.h"

#include "clocks/drivers.h"
#include "run/run.h"

void
names_collect_option_ids(struct names *names)
{
	run_list_clock_ids(drivers, names->clock_ids);
	rules_list_ids_with_limit(names->rule_ids);
	names->options = (struct options_names){ names->clock_ids, names->rule_ids };
}
