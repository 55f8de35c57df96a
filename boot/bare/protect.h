/* The permissions of memory pages. */
#ifndef BARETICK_PROTECT_H
#define BARETICK_PROTECT_H

/*
 * Makes only code executable, and code and constants read-only. Makes page 0 and the pages below the stack absent.
 * Therefore a wrong call or pointer, or a stack overflow, is an exception.
 */
void protect_pages(void);

#endif
