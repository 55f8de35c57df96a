/* Figures of more than one number, as all parts of the JSON report have them. See json_internal.h. */
#include "json_internal.h"

void
json_ppm(struct json *json, const char *key, const struct interval_ppb *ppb)
{
	if (!ppb->known) {
		json_null(json, key);
		return;
	}
	json_open_flat(json, key, '{');
	json_signed_decimal(json, "value", ppb->value, 3);
	json_signed_decimal(json, "low", ppb->low, 3);
	json_signed_decimal(json, "high", ppb->high, 3);
	json_close(json, '}');
}

void
json_bar(struct json *json, const char *name, uint64_t ns, uint64_t count)
{
	json_open_flat(json, NULL, '{');
	json_unsigned(json, name, ns);
	json_unsigned(json, "count", count);
	json_close(json, '}');
}
