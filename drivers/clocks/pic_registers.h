/* The two PICs: Intel 8259A data sheet. */
#ifndef BARETICK_PIC_REGISTERS_H
#define BARETICK_PIC_REGISTERS_H

#define PIC_MASTER_MASK 0x21u /* OCW1 */
#define PIC_SLAVE_MASK  0xa1u /* likewise */
#define PIC_IRQ_0       0x01u
#define PIC_IRQ_8       0x01u

#endif
