/*
 * Protection from wrong code: the permissions of memory pages, and the interrupt table, which firmware would otherwise
 * provide.
 */
#ifndef BARETICK_PROTECT_H
#define BARETICK_PROTECT_H

/*
 * Makes only code executable, and code and constants read-only. Makes page 0 and the pages below the stack absent.
 * Therefore a wrong call or pointer, or a stack overflow, is an exception.
 */
void protect_pages(void);

/* Loads the interrupt table. Exceptions call bare_exception(), and interrupts are ignored. */
void vectors_load(void);

#endif
