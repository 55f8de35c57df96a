/* Names of facts. See fact_names.h. Only replays need them, so they are not in the table of facts.c. */
#include "replay/fact_names.h"

#define TABLE(name, type) \
	static const char *get_field_of_##name(uint8_t field) { \
		switch (field) {
#define CASE(number, member) case number: return #member;
#define NUMBER(number, member, least, most)          CASE(number, member)
#define NUMBER_OR_0(number, member, least, most)     CASE(number, member)
#define FLAG(number, member)                         CASE(number, member)
#define ENUM(number, member, last)                   CASE(number, member)
#define TEXT(number, member)                         CASE(number, member)
#define SOME_TEXT(number, member)                    CASE(number, member)
#define ID_TEXT(number, member, also)                CASE(number, member)
#define WORDS(number, member)                        CASE(number, member)
#define ID(number, member, also)                     CASE(number, member)
#define SOME_WORDS(number, member)                   CASE(number, member)
#define WORD(number, member, words)                  CASE(number, member)
#define OPTIONAL(number, member)                     CASE(number, member)
#define OPTIONAL_SOME(number, member)                CASE(number, member)
#define OPTIONAL_ID(number, member, also)            CASE(number, member)
#define OPTIONAL_WORD(number, member, words)         CASE(number, member)
#define GROUP(number, member, table)                 CASE(number, member)
#define LIST(number, member, table, count)           CASE(number, member)
#define ARRAY(number, member, table)                 CASE(number, member)
#define END(name) \
		} \
		return "?"; \
	}
#include "analysis/facts.def"

const char *
fact_names_get_field(enum facts_table table, uint8_t number)
{
	static const char *(*const fields[FACTS_TABLES])(uint8_t number) = {
#define TABLE(name, type) get_field_of_##name,
#include "analysis/facts.def"
	};

	return fields[table](number);
}

const uint8_t fact_unique_fields[FACTS_TABLES] = {
#define TABLE(name, type)
#define UNIQUE(table, number) [FACTS_OF_##table] = (number),
#include "analysis/facts.def"
};

const char *const fact_list_names[FACTS_LISTS] = {
	[FACTS_REPORT] = "report", [FACTS_CLOCKS] = "clocks", [FACTS_CLAIMS] = "claims", [FACTS_CORES] = "cores",
	[FACTS_INTERVALS] = "intervals", [FACTS_CHECKS] = "checks", [FACTS_NOTES] = "notes", [FACTS_LOOPS] = "loops",
	[FACTS_LOOP_REASONS] = "calibrations", [FACTS_ROWS] = "series.rows", [FACTS_ROW_CLOCKS] = "series.clocks",
	[FACTS_ROW_OFFSETS] = "series.offsets", [FACTS_PROBLEMS] = "problems",
};
