/* Common code of the interrupt sources. See timers.h. */
#include "base/text.h"
#include "clocks/pic_registers.h"
#include "hw/hw.h"
#include "timers/pic.h"
#include "timers/timers.h"

bool
timer_set_unusable(struct timer *timer, enum clock_state state, const char *why)
{
	timer->state = state;
	text_copy(timer->reason, sizeof(timer->reason), why);
	return false;
}

bool
timer_find_lapic(struct timer *timer)
{
	struct lapic lapic;
	const char *refusal = lapic_open(&lapic);

	timer->route = (struct timer_route){ .kind = "lapic" };
	if (refusal)
		return timer_set_unusable(timer, CLOCK_ABSENT, refusal);
	timer->address = lapic.x2apic ? 0 : lapic.base;
	timer->state = CLOCK_PRESENT;
	return true;
}

struct lapic
timer_get_lapic(const struct timer *timer)
{
	return (struct lapic){ timer->address == 0, timer->address };
}

bool
timer_pic_is_masked(struct timer *timer)
{
	return (hw_in8(PIC_MASTER_MASK) & PIC_IRQ_0) ||
	       timer_set_unusable(timer, CLOCK_DISABLED,
				  "In use by the firmware (the first PIC's IRQ 0 is not masked): not tested.");
}

bool
timer_find_interrupt_line(const struct platform *platform, struct timer *timer, struct ioapic_line line)
{
	struct lapic lapic;

	timer->line_bits = line.bits;
	if (timer->driver->by_pic)
		return pic_check_irq_route(platform, timer, line.irq);
	timer->route = (struct timer_route){ .kind = "ioapic", .pin = line.pin };
	if (lapic_open(&lapic) || lapic_read_id(&lapic) > IOAPIC_ID_MAX)
		return timer_set_unusable(timer, CLOCK_DISABLED,
					  "The timer's interrupts can't address this core: the APIC id has more than eight bits.");
	if (line.pin > IOAPIC_PIN_MAX || !ioapic_find_masked_pin(&platform->acpi.madt, 1u << line.pin, &timer->pin_address,
								 &timer->entry, &timer->route.pin))
		return timer_set_unusable(timer, CLOCK_DISABLED,
					  "The timer's I/O APIC pin is in use by the firmware, or missing: not tested.");
	return true;
}

void
timer_route_interrupt_line(struct timer *timer, uint32_t vector)
{
	struct lapic lapic;

	timer->route.vector = vector;
	if (timer->driver->by_pic) {
		pic_set_up(timer->route.pin, vector);
		return;
	}
	timer->line_found = ioapic_read(timer->pin_address, timer->entry);
	if (!lapic_open(&lapic))
		ioapic_write(timer->pin_address, timer->entry,
			     ioapic_make_edge_entry(lapic_read_id(&lapic), vector) | timer->line_bits);
}

void
timer_send_eoi(const struct timer *timer)
{
	if (timer->driver->by_pic)
		pic_send_eoi(timer->route.pin);
}

void
timer_restore_interrupt_line(const struct timer *timer)
{
	if (timer->driver->by_pic)
		pic_restore(timer->route.pin);
	else
		ioapic_write(timer->pin_address, timer->entry, timer->line_found);
}
