/*
 * Reads the keyboard by polling, because some firmware does not signal a pressed key. If there is no keyboard, or if
 * the keyboard answers with errors, no key is ever read.
 */
#ifndef BARETICK_KEYS_H
#define BARETICK_KEYS_H

#include <stdbool.h>

struct keys {
	void *tick; /* timer event that wakes the processor between two polls, or NULL; private */
	bool ticks; /* true after the event `tick` was observed; until then the processor polls without sleeping */
};

void keys_open(struct keys *keys);
void keys_close(struct keys *keys);

/*
 * Reads the next key into KEY: its character, or SCREEN_KEY_SCAN + its scan code. Returns false if no key was pressed.
 */
bool keys_read_next(unsigned *key);

/* Discards all keys that were pressed until now. */
void keys_discard_all(void);

/* Waits until the keyboard should be read again, for some hundredths of a second at most. */
void keys_wait_for_key(struct keys *keys);

#endif
