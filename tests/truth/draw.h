/* Random numbers that define a machine. The same seed gives the same numbers. */
#ifndef BARETICK_DRAW_H
#define BARETICK_DRAW_H

#include <stdbool.h>
#include <stdint.h>

void draw_set_seed(uint64_t seed, uint64_t kind);

uint64_t draw_64_bits(void);
uint64_t draw_below(uint64_t below);
int64_t draw_between(int64_t low, int64_t high); /* both limits are included */
/* returns a random value from LOW to HIGH whose logarithm is uniformly distributed */
uint64_t draw_log_uniform(uint64_t low, uint64_t high);
int64_t draw_signed(uint64_t magnitude);           /* returns MAGNITUDE or its negative */
bool draw_chance(unsigned percent);

#endif
