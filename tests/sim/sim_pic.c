/*
 * The two PICs of the simulated machine, by Intel's 8259A data sheet. Only the set-up of a PC is modelled: cascaded,
 * with specific EOIs. An input sends no further interrupt while its interrupt is in service.
 */
#include "sim_sources.h"

#include "sim_internal.h"

#define SLAVE_PORTS 0xa0u
#define MASK_PORT   1u
#define ICW1        0x10u
#define EOI         0x60u
#define EOI_BITS    0xe0u
#define CASCADE     2u /* input of the first PIC that receives the second PIC's output */
#define INPUTS      8u

static struct sim_interrupts *const all = &sim.interrupts;

static void
write_initialization_word(struct sim_pic *pic, uint8_t *mask, uint8_t value)
{
	if (pic->step == 1)
		pic->base = value;
	else if (pic->step == 2)
		pic->cascade = value;
	else if (pic->step == 3)
		pic->initialized = value & 1;
	else
		*mask = value;
	pic->step = pic->step && pic->step < 3 ? pic->step + 1 : 0;
}

void
sim_pic_out(uint16_t port, uint8_t value)
{
	bool slave = port >= SLAVE_PORTS;
	struct sim_pic *pic = &all->pics[slave];

	if (port & MASK_PORT) {
		write_initialization_word(pic, &sim.pic_mask[slave], value);
	} else if (value & ICW1) {
		*pic = (struct sim_pic){ .step = 1 };
		sim.pic_mask[slave] = 0;
	} else if ((value & EOI_BITS) == EOI) {
		pic->in_service &= (uint8_t)~(1u << (value & 7));
	}
}

static bool
can_input_interrupt(bool slave, unsigned input)
{
	const struct sim_pic *pic = &all->pics[slave];

	return pic->initialized && !((sim.pic_mask[slave] | pic->in_service) >> input & 1);
}

uint32_t
sim_pic_get_vector(uint32_t irq)
{
	bool slave = irq >= INPUTS;

	if ((sim.lapic.registers[SIM_LINT0] & (SIM_LINT0_EXTINT | SIM_LINT0_MASKED)) != SIM_LINT0_EXTINT)
		return 0;
	if (slave && (!can_input_interrupt(false, CASCADE) || all->pics[0].cascade != 1u << CASCADE ||
		      all->pics[1].cascade != CASCADE))
		return 0;
	return can_input_interrupt(slave, irq % INPUTS) ? all->pics[slave].base + irq % INPUTS : 0;
}

void
sim_pic_set_in_service(uint32_t irq)
{
	all->pics[irq >= INPUTS].in_service |= (uint8_t)(1u << irq % INPUTS);
	if (irq >= INPUTS)
		all->pics[0].in_service |= 1u << CASCADE;
}
