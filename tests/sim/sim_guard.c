/* See sim_guard.h. */
#include "sim_guard.h"

#include <assert.h>
#include <setjmp.h>

static const struct fault page_fault = {
	.vector = 14, .in_image = true, .at = 0x1a30, .error = 2, .address = 0xfed000f0
};

static jmp_buf *innermost;
static struct timer_window unguarded_window;

struct window_call {
	void (*work)(void *argument);
	void *argument;
	bool faulted;
};

bool
sim_guard(void (*work)(void *argument), void *argument, struct fault *fault)
{
	jmp_buf *outer = innermost;
	jmp_buf here;
	volatile bool back = false;

	innermost = &here;
	if (!setjmp(here)) {
		work(argument);
		back = true;
	}
	innermost = outer;
	if (!back)
		*fault = page_fault;
	return back;
}

void
sim_take_fault(void)
{
	assert(innermost);
	longjmp(*innermost, 1);
}

static void
call_in_guard(void *argument)
{
	struct window_call *call = argument;
	struct fault fault;

	call->faulted = !sim_guard(call->work, call->argument, &fault);
}

static void (*after_window)(void *argument);

static void
call_after_window(void *argument)
{
	struct window_call *call = argument;
	struct fault fault;

	sim_guard(after_window, call->argument, &fault);
}

/* As boot/interrupts does: an exception ends the work in the window, and then ends the guard around the window. */
static const char *
run_guarded_window(void (*work)(void *argument), void (*after)(void *argument), void *argument)
{
	struct window_call call = { work, argument, false };
	const char *why;

	after_window = after;
	why = unguarded_window.run(call_in_guard, call_after_window, &call);
	if (call.faulted)
		sim_take_fault();
	return why;
}

void
sim_guard_timers(struct bench *bench)
{
	bench->run.survey.hooks.guarded = sim_guard;
	unguarded_window = bench->machine.window;
	bench->machine.window.run = run_guarded_window;
}
