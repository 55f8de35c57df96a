/* Sends the report to a server. See send.h. */
#include "uefi/send.h"

#include "guard/guard.h"

#define SENDING " Sending the report to "

static void
post_report_text(void *context)
{
	struct send *send = context;

	post_report(send->address, send->mac, send->plan->json.bytes, send->plan->json.length, send->sentence);
}

/*
 * Sets the sentence for an exception in baretick's own code. An exception in the firmware's code is handled by the
 * firmware. The report is not lost in either case, because it was saved before.
 */
static void
set_fault_sentence(struct send *send, const struct fault *fault)
{
	struct text text = text_start(send->sentence, sizeof(send->sentence));

	text_printf(&text, "The report was not accepted by %s: ", send->address);
	fault_print_baretick_exception(&text, fault);
}

static void
send_report_now(void *context)
{
	struct send *send = context;
	struct pager *pager = send->pager;
	char saved[PAGER_SAVED_SIZE], said[PAGER_SAVED_SIZE];
	struct fault fault;

	text_copy(saved, sizeof(saved), pager->saved);
	text_format(said, sizeof(said), "%s" SENDING "%s ...", saved, send->address);
	pager_set_saved_sentence(pager, said);
	if (!guard_run(post_report_text, send, &fault))
		set_fault_sentence(send, &fault);
	text_format(said, sizeof(said), "%s %s", saved, send->sentence);
	pager_set_saved_sentence(pager, said);
	console_print_serial(pager->console, send->sentence);
	console_print_serial(pager->console, "\n");
}

void
send_report_at_end(struct send *send, const struct report *report, const struct plan *plan,
		   const struct server *booted, struct pager *pager)
{
	*send = (struct send){ .plan = plan, .address = report->facts.options.save.url, .pager = pager };
	if (!report->facts.options.save.given && !send->address[0]) {
		send->address = booted->reports;
		send->mac = booted->mac;
	}
	if (!send->address[0])
		return;
	pager->last = send_report_now;
	pager->last_context = send;
}
