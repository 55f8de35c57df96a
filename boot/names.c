/* Collects the ids of clocks and rules that options accept. See names.h. */
#include "names.h"

#include "clocks/drivers.h"

void
names_collect_option_ids(struct names *names)
{
	drivers_list_clock_ids(names->clock_ids, REPORT_CLOCKS_MAX);
	rules_list_ids_with_limit(names->rule_ids);
	names->options = (struct options_names){ names->clock_ids, names->rule_ids };
}
