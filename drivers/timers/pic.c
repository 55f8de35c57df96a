/* Routes a timer's interrupts through the PICs. See pic.h. */
#include "timers/pic.h"

#include "clocks/pic_registers.h"
#include "hw/hw.h"
#include "hw/lapic.h"
#include "timers/timers.h"

#define INPUTS 8u /* number of inputs of each PIC */
#define DELIVERY_EXTINT 0x700u /* bits 8 to 10: delivery mode ExtINT (SDM vol. 3A, 10.5.1, Local Vector Table) */

static bool
pics_reach_this_core(void)
{
	struct lapic lapic;

	if (lapic_open(&lapic))
		return false;
	uint32_t lint0 = lapic_read(&lapic, LAPIC_LVT_LINT0);
	return (lint0 & DELIVERY_EXTINT) == DELIVERY_EXTINT && !(lint0 & LAPIC_LVT_MASKED);
}

bool
pic_check_irq_route(const struct platform *platform, struct timer *timer, uint32_t irq)
{
	timer->route = (struct timer_route){ .kind = "pic", .pin = irq };
	if (platform->acpi.madt.found && !platform->acpi.madt.has_pics)
		return timer_set_unusable(timer, CLOCK_ABSENT, "The MADT says that there are no PICs (PCAT_COMPAT).");
	if ((hw_in8(PIC_MASTER_MASK) | PIC_CASCADE) != PIC_ALL_MASKED || hw_in8(PIC_SLAVE_MASK) != PIC_ALL_MASKED)
		return timer_set_unusable(timer, CLOCK_DISABLED,
					  "In use by the firmware (an input of a PIC is not masked): not tested.");
	if (!pics_reach_this_core())
		return timer_set_unusable(timer, CLOCK_DISABLED,
					  "The PICs cannot interrupt this core: LINT0 of its local APIC is masked, or not ExtINT.");
	return true;
}

/* Initializes the PIC with command port PORT. PORT + 1 is its data port. */
static void
initialize_pic(uint16_t port, uint32_t vector, uint8_t cascade)
{
	hw_out8(port, PIC_ICW1);
	hw_out8(port + 1, (uint8_t)vector);
	hw_out8(port + 1, cascade);
	hw_out8(port + 1, PIC_ICW4);
	hw_out8(port + 1, PIC_ALL_MASKED);
}

void
pic_set_up(uint32_t irq, uint32_t vector)
{
	bool second = irq >= INPUTS;

	initialize_pic(PIC_MASTER, second ? vector + INPUTS : vector, PIC_ICW3_MASTER);
	initialize_pic(PIC_SLAVE, second ? vector : vector + INPUTS, PIC_ICW3_SLAVE);
	hw_out8(PIC_MASTER_MASK, (uint8_t)~(second ? PIC_CASCADE : 1u << irq));
	if (second)
		hw_out8(PIC_SLAVE_MASK, (uint8_t)~(1u << (irq - INPUTS)));
}

void
pic_send_eoi(uint32_t irq)
{
	if (irq >= INPUTS)
		hw_out8(PIC_SLAVE, PIC_EOI(irq - INPUTS));
	hw_out8(PIC_MASTER, irq >= INPUTS ? PIC_EOI(PIC_ICW3_SLAVE) : PIC_EOI(irq));
}

void
pic_restore(uint32_t irq)
{
	hw_out8(PIC_SLAVE_MASK, PIC_ALL_MASKED);
	hw_out8(PIC_MASTER_MASK, PIC_ALL_MASKED);
	pic_send_eoi(irq);
}
