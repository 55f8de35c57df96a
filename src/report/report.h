/*
 * The report: all results of a run as plain data. It has one of each of four values: facts, figures, outcomes and
 * advice. Each has its own header and its own writer. src/render writes the report as text, JSON and CSV. A value that
 * was not measured is marked by a flag or by a count of 0. It is never a plausible number.
 *
 * The caller owns all memory, and allocates it before the cores are started.
 */
#ifndef BARETICK_REPORT_H
#define BARETICK_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/scale.h"
#include "base/sha256.h"
#include "report/advice.h"
#include "report/facts.h"
#include "report/figures.h"
#include "report/outcomes.h"

struct report_record { /* The run's record of raw readings, see src/record. */
	void *bytes; /* contents of the file report.record; the run owns this memory */
	size_t length; /* size in bytes; 0 if the run did not start */
	uint64_t dropped; /* number of entries that were not recorded because there was no space */
	char sha256[SHA256_HEX_SIZE];
};

/* All results. The figures are calculated from the facts, the outcomes from both, and the advice from all three. */
struct report {
	struct facts facts;
	struct figures figures;
	struct outcomes outcomes;
	struct advice advice;
	struct notes notes;
	struct report_record record;
	/* the options as a user would type them; "" if all have their default values */
	char options_given[OPTIONS_GIVEN_SIZE];
	uint64_t duration_ns;     /* duration of each long measurement, from the option duration= or the profile */
};

/*
 * Returns a name for the machine: the option label=, or the serial number, or the product. Returns "" if the report
 * has none of these.
 */
const char *report_machine_name(const struct report *report);

/* Returns true if a hypervisor or an emulator runs this machine. */
static inline bool
report_is_guest(const struct report *report)
{
	return report->facts.machine.hypervisor[0];
}

/*
 * Returns true if an emulator executes the instructions (QEMU's TCG). Emulated timers are threads of the host or run
 * in the emulator's main loop, so their delays do not prove that a device is faulty.
 */
bool report_is_machine_emulated(const struct report *report);

/* Returns the id of clock I. If I is REPORT_CLOCKS_MAX, returns "tsc", even if the TSC is not in the report. */
const char *report_clock_id(const struct report *report, size_t i);

/* The words for the values of enums, which are the indexes. Reports contain these words. "" stands for no value. */
extern const char *const verdict_words[], *const clock_state_words[], *const tsc_difference_words[];
extern const char *const policy_words[], *const rate_fit_words[], *const announced_words[], *const survives_words[];
extern const char *const taken_notices_words[], *const taken_blames_words[], *const taken_safety_words[];
extern const char *const taken_evidence_words[];

/*
 * Returns true if ENTRY is the main read method of a device, and not the null clock. Only clocks for which this is true
 * are compared with each other.
 */
bool report_clock_is_main_of_device(const struct report_clock *entry);

/* Returns the judgement of the clock ENTRY, which must be in REPORT. */
static inline const struct clock_outcome *
report_get_clock_outcome(const struct report *report, const struct report_clock *entry)
{
	return &report->outcomes.clocks[entry - report->facts.clocks];
}

/* Returns the judgement of ROW, which must be in REPORT. */
const struct discontinuity_outcome *report_get_discontinuity_outcome(const struct report *report,
								     const struct report_discontinuity *row);

/* Returns the judgement of PASS, which must be in REPORT. */
static inline const struct pass_outcome *
report_get_pass_outcome(const struct report *report, const struct report_pass *pass)
{
	return &report->outcomes.sync.passes[pass - report->figures.skew.passes];
}

/*
 * Returns the clock's rate in Hz times 1,000, as measured. A clock without a measured rate has the measured rate of its
 * device's main clock, if these two clocks read the same counter. Returns the nominal frequency if no rate was
 * measured, or if the measured interval is wide and contains the nominal frequency. Returns 0 if no rate is known.
 */
uint64_t report_clock_rate_millihz(const struct report *report, const struct report_clock *entry);

/*
 * Returns the duration of TICKS of the clock in ps, according to report_clock_rate_millihz(). Returns 0 if the rate is
 * unknown.
 */
uint64_t report_clock_ticks_to_ps(const struct report *report, const struct report_clock *entry, uint64_t ticks);

/* Returns the number of warps: TSC readings of one core that were lower than an earlier reading of another core. */
uint64_t report_count_warps(const struct report *report);

/* Returns the size of the largest warp of CHECK in ns. */
uint64_t report_get_worst_warp_ns(const struct report *report, const struct report_contended *check);

/* Returns the offset or drift of rank B relative to rank A, or OFFSET_UNKNOWN if OFFSETS has no such ranks. */
struct offset report_get_offset_of_ranks(const struct offsets *offsets, size_t a, size_t b);

/*
 * Returns the drift of core B's TSC relative to core A's TSC in ppb, from the first pass to the last. A and B are
 * ranks. Returns OFFSET_UNKNOWN if the two were not measured against each other in both passes. In a star schedule,
 * each core is measured against the boot core only. The drift of two other cores is then unknown, because the boot
 * core's TSC may have changed between their measurements.
 */
struct offset report_get_pair_drift(const struct report *report, size_t a, size_t b);

/* Returns the drift of CORE's TSC relative to the boot core's TSC in ppb, or OFFSET_UNKNOWN. */
struct offset report_get_core_drift(const struct report *report, const struct report_core *core);

/* Return the judgement of CORE's TSC, and of the TSC of the core with this rank. */
const struct core_outcome *report_get_core_outcome(const struct report *report, const struct report_core *core);
const struct core_outcome *report_get_outcome_of_rank(const struct report *report, size_t rank);

/* The judge marks cores by fields of struct core_outcome. Each number here counts the cores with one of these marks. */
struct core_faults {
	size_t off_majority, drifting, stepped, stepping_back; /* the stepped cores are among the drifting cores */
};

struct core_faults report_count_core_faults(const struct report *report);

/* Summary of the cores' TSC_ADJUST. */
struct tsc_adjusts {
	size_t known; /* number of cores whose CPUID was read */
	size_t cores; /* number of cores that have the register TSC_ADJUST */
	const struct report_core *least, *most; /* the first cores with the smallest and with the largest value */
	size_t least_count, most_count;         /* numbers of cores with the same value as LEAST and as MOST */
	/*
	 * The core whose value differs most from the value of the first core of its package, and that first core; NULL if
	 * the values are equal within each package. Packages may have different values: they may be reset at different
	 * times, and Linux accepts this (arch/x86/kernel/tsc_sync.c).
	 */
	const struct report_core *odd, *first;
	size_t packages;
};

/*
 * Returns the first core in the report whose facts are known and that is in the same package as core I. This is core I
 * itself if the facts of core I are not known.
 */
const struct report_core *report_get_first_core_of_package(const struct report *report, size_t i);

struct tsc_adjusts report_collect_tsc_adjusts(const struct report *report);
/* Returns the difference of the TSC_ADJUST of A and B in ticks, as an absolute value. */
uint64_t report_get_adjust_difference(const struct report_core *a, const struct report_core *b);

/* Returns the scale that converts TSC ticks to ns, with the bounds of the TSC's rate. */
struct scale report_get_tsc_scale(const struct report *report);

/*
 * Converts OFFSET, the offset of one core's TSC against another's, to ns. The bounds are rounded outwards. Returns
 * OFFSET_UNKNOWN if a bound is unknown or there was no pass.
 */
struct offset report_offset_to_ns(const struct report *report, struct offset offset);

/* Returns TICKS in ns, as an interval because the TSC's rate is not exact. More than 2^60 ticks count as 2^60. */
struct offset report_ticks_to_ns(const struct report *report, uint64_t ticks);

/* Returns TICKS of the TSC in ms, rounded up. */
uint64_t report_ticks_to_ms(const struct report *report, uint64_t ticks);

/* Returns an upper bound in ns of the difference between any two TSCs in PASS, all of whose offsets are known. */
uint64_t report_get_bound_of_pass_ns(const struct report *report, const struct report_pass *pass);

/* Returns the clock with this id, or NULL. */
const struct report_clock *report_find_clock(const struct report *report, const char *id);

/* Returns the core with this APIC id, or NULL. */
const struct report_core *report_find_core(const struct report *report, uint32_t apic_id);

/* Returns the nominal frequency of ENTRY's clock: its driver's, or figures.tsc_claim for the TSC. DEN may be 0. */
struct rate report_get_claimed_rate(const struct report *report, const struct report_clock *entry);

/* Returns the rate of ENTRY's clock and the cost of a read. */
const struct clock_figures *report_get_figures(const struct report *report, const struct report_clock *entry);

/* Returns the rate of CLOCK, which must be in a row of facts.series. */
const struct series_rate *report_get_soak_rate(const struct report *report, const struct series_clock *clock);

/* Returns the stolen time of CORE, and its part in the passes. */
const struct core_figures *report_get_core_figures(const struct report *report, const struct report_core *core);

/* Returns the TSC at which ENTRY's clock failed, or after the discontinuity in which only it jumped; 0 if neither. */
uint64_t report_get_failure_tsc(const struct report *report, const struct report_clock *entry);

/* Returns true if the report has a clock with this id whose state is "present". */
bool report_has_clock(const struct report *report, const char *id);

/* Returns the time in ns since the start of the run at which the boot core's TSC had the value TSC. */
uint64_t report_run_time_ns(const struct report *report, uint64_t tsc);

/*
 * Returns the latest time in ns since the start of the run at which the boot core's TSC may have had the value TSC.
 * If the TSC stepped back, it had some values a second time.
 */
uint64_t report_max_run_time_ns(const struct report *report, uint64_t tsc);

/*
 * Returns the latest pass. Returns the first pass if it is the only one, and a pass without cores if there is none.
 */
const struct report_pass *report_get_last_pass(const struct report *report);

/* Returns the pass that reports show. It has no cores if there was no pass. */
const struct report_pass *report_get_shown_pass(const struct report *report);

/* Return the core with this rank, which is its index among the cores that took part in the passes, and its APIC id. */
const struct report_core *report_get_core_of_rank(const struct report *report, size_t rank);
uint32_t report_get_apic_id_of_rank(const struct report *report, size_t rank);

/* Returns the offset of CORE's TSC against the boot core's TSC in PASS, in ticks. Returns OFFSET_UNKNOWN if unknown. */
struct offset report_get_core_offset(const struct report *report, const struct report_pass *pass,
				     const struct report_core *core);

/* Adds CLAIM to the report, unless there is no space. */
void report_add_claim(struct report *report, const struct claim *claim);

/* The time services of the firmware by enum firmware_service. */
extern const struct firmware_words {
	const char *id;   /* such as "efi_stall"; rows of rules have it instead of a clock */
	const char *name; /* for a sentence with "The firmware's", such as "Stall()" */
} report_firmware_words[];
/* The devices of the firmware's tick by enum firmware_tick: "hpet", "lapic", "pit", or NULL if it is not known. */
extern const char *const report_firmware_ticks[];

/* The ids of enum claim_clock: "tsc", "lapic", "crystal". */
extern const char *const claim_clock_ids[];

/* Add a note, or all notes of MORE, as far as there is space. A text that is too long is cut. */
void notes_add_all(struct notes *notes, const struct notes *more);
void notes_add(struct notes *notes, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
