/* Functions that draw the kinds of machine with faulty cores. The table in kinds.c describes them. */
#ifndef BARETICK_KINDS_H
#define BARETICK_KINDS_H

void draw_offset_cores(void);
void draw_sockets(void);
void draw_drifting(void);
void draw_step_in_first(void);
void draw_step_of_boot_core(void);
void draw_step_between(void);
void draw_step_in_last(void);
void draw_core_set_back(void);
void draw_core_ahead(void);
void draw_groups(void);
void draw_halves(void);
void draw_far(void);
void draw_coarse(void);
void draw_busy(void);

void draw_timers(void);
void draw_sick_timer(void);
void draw_emulated_timers(void);

#endif
