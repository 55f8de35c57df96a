/* Reads fields of a table, checks it, and lists its problems. See acpi_internal.h. */
#include "acpi/acpi_internal.h"

#include "base/text.h"

bool
acpi_add_problem(struct acpi_facts *facts, const char *format, ...)
{
	va_list arguments;

	if (facts->problem_count >= ACPI_PROBLEMS_MAX)
		return false;
	struct text text = text_start(facts->problems[facts->problem_count++], ACPI_PROBLEM_SIZE);
	va_start(arguments, format);
	text_vprintf(&text, format, arguments);
	va_end(arguments);
	return false;
}

uint64_t
acpi_read_field(const struct acpi_table *table, size_t offset, size_t size)
{
	uint64_t value = 0;

	if (offset > table->length || size > table->length - offset)
		return 0;
	for (size_t i = size; i > 0; i--)
		value = value << 8 | table->bytes[offset + i - 1];
	return value;
}

uint8_t
acpi_sum_bytes(const struct acpi_table *table)
{
	uint8_t sum = 0;

	for (size_t i = 0; i < table->length; i++)
		sum = (uint8_t)(sum + table->bytes[i]);
	return sum;
}

bool
acpi_has_signature(const struct acpi_table *table, const char *signature)
{
	size_t length = text_length(signature);

	if (table->length < length)
		return false;
	for (size_t i = 0; i < length; i++)
		if (table->bytes[i] != (uint8_t)signature[i])
			return false;
	return true;
}

bool
acpi_validate_table(const struct acpi_table *available, const char *signature, const char *name,
		    struct acpi_table *table, struct acpi_facts *facts)
{
	size_t length = (size_t)acpi_read_field(available, ACPI_HEADER_LENGTH, sizeof(uint32_t));

	if (!acpi_has_signature(available, signature))
		return acpi_add_problem(facts, "%s: its signature is not %s; it is not used", name, signature);
	if (length < ACPI_HEADER_SIZE || length > ACPI_TABLE_LENGTH_MAX)
		return acpi_add_problem(facts, "%s: its length of %zu bytes is not valid; it is not used", name,
					length);
	if (length > available->length)
		return acpi_add_problem(facts, "%s: of its %zu bytes only %zu can be read; it is not used", name,
					length, available->length);
	*table = (struct acpi_table){ available->bytes, length };
	uint8_t sum = acpi_sum_bytes(table);
	if (sum != 0)
		acpi_add_problem(facts, "%s: its checksum is off by %xh; it is not used", name, sum);
	return sum == 0;
}
