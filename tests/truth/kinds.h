/* Functions that draw the kinds of machine in the other files. The table in kinds.c describes them. */
#ifndef BARETICK_KINDS_H
#define BARETICK_KINDS_H

void draw_cores_with_offsets(void);
void draw_sockets(void);
void draw_drifting_core(void);
void draw_tsc_step_in_first_pass(void);
void draw_tsc_step_of_boot_core(void);
void draw_tsc_step_between_passes(void);
void draw_tsc_step_in_last_pass(void);
void draw_far_tsc_step(void);
void draw_tsc_adjust_of_packages(void);
void draw_core_set_back(void);
void draw_core_ahead(void);
void draw_core_groups(void);
void draw_two_halves_of_cores(void);
void draw_far_offset(void);
void draw_coarse_tsc(void);
void draw_busy_host(void);

void draw_uneven_clocks(void);
void draw_event_at_edge(void);
void draw_long_run(void);
void draw_stuck_clock(void);
void draw_long_preemption(void);

void draw_timers(void);
void draw_faulty_timer(void);
void draw_emulated_timers(void);
void draw_timer_whose_access_faults(void);
void draw_timer_that_loses_one_shot(void);

void draw_sleep(void);

#endif
