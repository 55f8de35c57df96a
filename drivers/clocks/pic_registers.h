/* The two PICs: Intel 8259A data sheet. */
#ifndef BARETICK_PIC_REGISTERS_H
#define BARETICK_PIC_REGISTERS_H

#define PIC_MASTER_MASK 0x21u /* OCW1: interrupt mask of the first PIC */
#define PIC_SLAVE_MASK  0xa1u /* OCW1: interrupt mask of the second PIC */
#define PIC_IRQ_0       0x01u
#define PIC_IRQ_8       0x01u
#define PIC_CASCADE     0x04u /* bit mask of the first PIC's input from the second PIC */

#define PIC_MASTER      0x20u /* command port of the first PIC: ICW1, OCW2 */
#define PIC_SLAVE       0xa0u
#define PIC_ICW1        0x11u /* ICW1: edge-triggered, cascaded, ICW4 follows */
#define PIC_ICW3_MASTER PIC_CASCADE
#define PIC_ICW3_SLAVE  0x02u /* number of the first PIC's input from the second PIC */
#define PIC_ICW4        0x01u /* ICW4: 8086 mode, and interrupts end by a write of OCW2 */
#define PIC_EOI(n)      (0x60u | (n)) /* OCW2: specific end of interrupt for input N */
#define PIC_ALL_MASKED  0xffu

#endif
