/* Detects wrong memory accesses: sets the permissions of pages, and loads baretick's interrupt table. */
#ifndef BARETICK_PROTECT_H
#define BARETICK_PROTECT_H

/*
 * Makes only the image's code executable, and code and constants read-only. Unmaps page 0 and the pages below the
 * stack. Therefore a null pointer, a wrong jump or a stack overflow causes an exception.
 */
void protect_image_pages(void);

/* Loads the interrupt table. Exceptions call bare_handle_exception(), and interrupts are ignored. */
void vectors_load_idt(void);

#endif
