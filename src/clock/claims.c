/* Stores the rates that a machine states. See claims.h. */
#include "clock/claims.h"

#include <stdarg.h>

#include "base/text.h"

struct claim *
claims_add(struct claims *claims, enum claim_source source, enum claim_clock clock, const char *by)
{
	struct claim *claim = &claims->rows[claims->count < CLAIMS_MAX ? claims->count++ : CLAIMS_MAX - 1];

	*claim = (struct claim){ .source = source, .clock = clock };
	text_copy(claim->by, sizeof(claim->by), by);
	return claim;
}

void
claims_add_raw(struct claims *claims, const struct claim_raw *raw)
{
	for (size_t i = 0; i < claims->raw_count; i++)
		if (claims->raw[i].number == raw->number && claims->raw[i].is_msr == raw->is_msr)
			return;
	if (claims->raw_count < CLAIMS_RAW_MAX)
		claims->raw[claims->raw_count++] = *raw;
}

void
claim_set_refusal(struct claim *claim, const char *format, ...)
{
	va_list arguments;
	struct text text = text_start(claim->reason, sizeof(claim->reason));

	va_start(arguments, format);
	text_vprintf(&text, format, arguments);
	va_end(arguments);
}

void
claim_set_rate(struct claim *claim, struct rate hz, uint64_t within_hz)
{
	uint64_t whole_hz = hz.den ? hz.num / hz.den : 0;

	if (!whole_hz) {
		claim_set_refusal(claim, "It is 0.");
	} else if (whole_hz < CLAIM_HZ_MIN || whole_hz > CLAIM_HZ_MAX) {
		claim_set_refusal(claim, "It states %lu Hz. baretick accepts %lu MHz to %lu GHz.", whole_hz,
				  CLAIM_HZ_MIN / 1000000, CLAIM_HZ_MAX / 1000000000);
	} else {
		claim->hz = hz;
		claim->within_hz = within_hz;
	}
}

/*
 * Returns true if the hypervisor itself states this rate. In a guest, CPUID leaves 15h and 16h may contain the host's
 * values. Therefore claims of the hypervisor are preferred. PostgreSQL 19 prefers them for the same reason:
 * src/port/pg_cpu_x86.c, "have been observed to be wildly incorrect when virtualized".
 */
static bool
is_from_hypervisor(const struct claim *claim)
{
	return claim->source == CLAIM_KHZ_LEAF || claim->source == CLAIM_HYPERV || claim->source == CLAIM_XEN;
}

bool
claim_is_only_compared(const struct claim *claim)
{
	return claim->source == CLAIM_CPU_NAME || claim->source == CLAIM_COREBOOT;
}

const struct claim *
claims_find_first_tsc_rate(const struct claims *claims)
{
	const struct claim *first = NULL;

	for (size_t i = 0; i < claims->count; i++) {
		const struct claim *claim = &claims->rows[i];

		if (claim->clock != CLAIM_OF_TSC || !claim->hz.den || claim_is_only_compared(claim))
			continue;
		if (!first || (is_from_hypervisor(claim) && !is_from_hypervisor(first)))
			first = claim;
	}
	return first;
}
