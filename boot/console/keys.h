/*
 * The keyboard, for a person only: asked again and again, for not every firmware signals when a key was pressed.
 * There may be none, or one that answers with errors; then no key ever comes.
 */
#ifndef BARETICK_KEYS_H
#define BARETICK_KEYS_H

#include <stdbool.h>

struct keys {
	void *tick; /* wakes the processor between two questions; private to the boot; NULL if there is none */
	bool ticks;     /* it was seen to; else the processor waits awake */
};

void keys_open(struct keys *keys);
void keys_close(struct keys *keys);

/* The next key, its character or SCREEN_KEY_SCAN + its scan code; false where none was pressed. */
bool keys_next(unsigned *key);

/* Forgets what was pressed until now. */
void keys_drop(void);

/* Lets some hundredths of a second pass, or less. */
void keys_wait(struct keys *keys);

#endif
