/*
 * The keyboard. It is polled, because not every firmware signals a pressed key. If there is no keyboard, or it
 * answers with errors, no key ever comes.
 */
#ifndef BARETICK_KEYS_H
#define BARETICK_KEYS_H

#include <stdbool.h>

struct keys {
	void *tick; /* private to the boot, wakes the processor between two polls; NULL if not available */
	bool ticks;     /* the tick was observed; otherwise the processor polls without sleep */
};

void keys_open(struct keys *keys);
void keys_close(struct keys *keys);

/* The next key, its character or SCREEN_KEY_SCAN + its scan code; false where none was pressed. */
bool keys_next(unsigned *key);

/* Discards all keys that were pressed until now. */
void keys_drop(void);

/* Lets some hundredths of a second pass, or less. */
void keys_wait(struct keys *keys);

#endif
