/* The permissions of memory pages. */
#ifndef BARETICK_PROTECT_H
#define BARETICK_PROTECT_H

/*
 * Only code becomes executable. Code and constants become read-only. Page 0 and the pages below the stack become
 * absent. So a call or a pointer that goes astray is an exception.
 */
void protect_pages(void);

#endif
