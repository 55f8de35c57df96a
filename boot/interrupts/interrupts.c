/*
 * Implements timer windows. Stops and restarts the firmware's tick through the firmware's timer protocol. This works
 * with any timer device, because the firmware programs its device again at the restart. See interrupts.h.
 */
#include "interrupts/interrupts.h"

#include "firmware/firmware.h"
#include "firmware/processor.h"
#include "firmware/tick.h"
#include "guard/guard.h"
#include "hw/hw.h"
#include "hw/lapic.h"
#include "interrupts/recorder.h"

#define VECTORS         256u
#define EXCEPTIONS      32u   /* number of vectors for exceptions: SDM vol. 3A, 6.3.1 */
/* vector of timer interrupts; EDK II uses a few vectors from 20h up, and no known firmware uses E0h */
#define VECTOR          0xe0u
#define VECTOR_SPURIOUS 0x0fu /* EDK II's vector for spurious interrupts of the LAPIC; they need no EOI */
#define GATE_INTERRUPT  0x8eu
#define DRAIN_NOPS      64

struct timer_slot *recorder_slot;
static struct gate *gates;

static void
enable_interrupts(void)
{
	__asm__ volatile("sti" : : : "memory");
}

/*
 * Masks interrupts, after NOPs in which pending interrupts can occur. STI takes effect only after the next instruction,
 * so no interrupt could occur if CLI came directly after STI.
 */
static void
disable_interrupts(void)
{
	__asm__ volatile("nop; nop; nop; cli" : : : "memory");
}

static bool
is_spurious_vector(unsigned vector)
{
	return vector == VECTOR_SPURIOUS || vector == LAPIC_SPURIOUS_VECTOR;
}

/* Fills baretick's interrupt table. Exceptions get the handlers that they have in the table FOUND. */
static void
fill_interrupt_gates(const struct gate *found, uint16_t selector)
{
	__builtin_memcpy(gates, found, EXCEPTIONS * sizeof(*gates));
	for (unsigned vector = 0; vector < VECTORS; vector++) {
		const uint8_t *handler = vector == VECTOR ? recorder_record : is_spurious_vector(vector) ? recorder_ignore_spurious :
					 recorder_count_stray;

		if (vector < EXCEPTIONS && vector != VECTOR_SPURIOUS)
			continue;
		gates[vector] = (struct gate){ .selector = selector, .type = GATE_INTERRUPT };
		gate_set_handler(&gates[vector], (uintptr_t)handler);
	}
}

struct window {
	void (*work)(void *argument);
	void (*after)(void *argument);
	void *argument;
	bool guarded, faulted;
	struct fault fault;
};

/*
 * Handles interrupts that are still pending, while baretick's table is loaded, so that the firmware's handlers do not
 * get them. One of them may be the firmware's tick.
 */
static void
handle_pending_interrupts(void)
{
	enable_interrupts();
	for (unsigned i = 0; i < DRAIN_NOPS; i++)
		hw_pause();
	disable_interrupts();
}

/*
 * Sends the EOI that is missing if an exception ended the timer's interrupt handler. Without an EOI the LAPIC would
 * block the firmware's tick for ever, because the tick has a lower priority class.
 */
static void
send_missing_eoi(void)
{
	struct lapic lapic;

	if (!lapic_open(&lapic) && lapic_read(&lapic, LAPIC_IN_SERVICE(VECTOR / 32)) >> VECTOR % 32 & 1)
		lapic_write(&lapic, LAPIC_EOI, 0);
}

static void
run_timer_window_with_own_handlers(struct window *window)
{
	struct table_register found = processor_read_idtr(), own = { VECTORS * sizeof(*gates) - 1, (uintptr_t)gates };
	struct fault after_fault;
	uint16_t selector;

	__asm__ volatile("movw %%cs, %0" : "=r"(selector));
	fill_interrupt_gates((const struct gate *)(uintptr_t)found.base, selector);
	processor_set_idtr(&own);
	if (window->guarded)
		window->faulted = !guard_run(window->work, window->argument, &window->fault);
	else
		window->work(window->argument);
	if (window->faulted)
		send_missing_eoi();
	if (window->guarded) /* the accesses that restore a source may fault, too */
		guard_run(window->after, window->argument, &after_fault);
	else
		window->after(window->argument);
	handle_pending_interrupts();
	processor_set_idtr(&found);
}

static const char *
run_timer_window_on_boot_core(void (*work)(void *argument), void (*after)(void *argument), void *argument)
{
	struct window window = { .work = work, .after = after, .argument = argument, .guarded = true };
	struct tick tick;

	if (!tick_pause(&tick))
		return "The firmware's timer tick can't be stopped: UEFI's timer protocol is missing or failed.";
	uint64_t held = firmware_block_callbacks();
	uint64_t interrupts = hw_interrupts_mask();

	run_timer_window_with_own_handlers(&window);
	hw_interrupts_restore(interrupts);
	firmware_restore_callbacks(held);
	tick_set_stopped(&tick, false);
	if (window.faulted)
		guard_end_with_fault(&window.fault);
	return NULL;
}

/*
 * Runs a timer window on the calling core, which baretick has started. Nothing must be prepared: on such a core
 * interrupts are already masked, the firmware has no tick, and an exception halts the core (core_entry.nasm).
 */
static const char *
run_timer_window_on_started_core(void (*work)(void *argument), void (*after)(void *argument), void *argument)
{
	struct window window = { .work = work, .after = after, .argument = argument };

	run_timer_window_with_own_handlers(&window);
	return NULL;
}

struct timer_window
interrupts_allocate_timer_windows(void)
{
	struct lapic lapic;

	gates = firmware_allocate(VECTORS * sizeof(*gates));
	recorder_slot = firmware_allocate(sizeof(*recorder_slot));
	if (!gates || !recorder_slot || lapic_open(&lapic))
		return (struct timer_window){ .slot = NULL };
	recorder_slot->eoi_address = lapic_get_eoi_address(&lapic);
	return (struct timer_window){
		.slot = recorder_slot,
		.vector = VECTOR,
		.run = run_timer_window_on_boot_core,
		.run_on_core = run_timer_window_on_started_core,
		.firmware_ticks = tick_is_alive,
		.open = enable_interrupts,
		.close = disable_interrupts,
	};
}

void
interrupts_free_timer_windows(struct timer_window *window)
{
	firmware_free(gates);
	firmware_free(recorder_slot);
	gates = NULL;
	recorder_slot = NULL;
	window->run = NULL;
}
