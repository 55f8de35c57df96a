/* The interrupt table, which firmware would otherwise provide. */
#ifndef BARETICK_VECTORS_H
#define BARETICK_VECTORS_H

/* Loads the interrupt table. Exceptions call bare_exception(), and interrupts are ignored. */
void vectors_load(void);

#endif
