/* The interrupt table, as a firmware would have one. */
#ifndef BARETICK_VECTORS_H
#define BARETICK_VECTORS_H

/* Loads it: each exception comes to bare_exception(), and each interrupt is ignored. */
void vectors_load(void);

#endif
