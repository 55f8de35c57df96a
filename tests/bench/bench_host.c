/*
 * Measures the overhead of the sampling loop on this host. Runs the sampling loop and a plain loop with the same reads
 * alternately, and compares the fastest run of each loop. Prints one ratio per line, for `make bench`.
 */
#include <stdio.h>
#include <stdlib.h>

#include "clocks/drivers.h"
#include "paravirtual/leaves.h"
#include "clocks/platform.h"
#include "hw/hw.h"

#define SAMPLES 4096
#define TURNS   400

static uint64_t
time_plain_empty_loop(size_t count)
{
	uint64_t start = hw_tsc_lfence();

	for (size_t i = 0; i < count; i++)
		hw_tsc_lfence();
	return hw_tsc_lfence() - start;
}

static uint64_t
time_plain_tsc_loop(size_t count)
{
	uint64_t start = hw_tsc_lfence();

	for (size_t i = 0; i < count; i++) {
		hw_tsc();
		hw_tsc_lfence();
	}
	return hw_tsc_lfence() - start;
}

static void
compare_with_plain_loop(const char *what, const struct clock *clock, uint64_t (*bare)(size_t))
{
	static struct sample samples[SAMPLES];
	uint64_t best_bare = UINT64_MAX, best_sampled = UINT64_MAX;

	for (unsigned turn = 0; turn < TURNS; turn++) {
		uint64_t ticks = bare(SAMPLES);

		best_bare = ticks < best_bare ? ticks : best_bare;
		clock->sample(clock->device, samples, SAMPLES);
		ticks = samples[SAMPLES - 1].end - samples[0].begin;
		best_sampled = ticks < best_sampled ? ticks : best_sampled;
	}
	printf("host: %-34s %5.3f times the bare loop (%.1f and %.1f ticks a turn)\n", what,
	       (double)best_sampled / (double)best_bare, (double)best_sampled / SAMPLES,
	       (double)best_bare / SAMPLES);
}

int
main(void)
{
	static struct platform platform;
	static struct device tsc_device, null_device;
	static struct clock tsc[DRIVER_CLOCKS_MAX], null[DRIVER_CLOCKS_MAX];

	cpu_read_facts(&platform.cpu);
	paravirtual_read_interfaces(&platform.cpu, NULL, &platform.paravirtual);
	platform.cpu.lfence_serialises = true; /* the plain loops use LFENCE, so the sampling loop must use it too */
	tsc_driver.open(&platform, &tsc_device, tsc);
	null_driver.open(&platform, &null_device, null);
	compare_with_plain_loop("sampling nothing, lfence;rdtsc", &null[0], time_plain_empty_loop);
	compare_with_plain_loop("sampling the TSC, rdtsc in brackets", &tsc[0], time_plain_tsc_loop);
	return EXIT_SUCCESS;
}
