/* Changes the CPUID values that the boot core of the test image sees. See skew.c. */
#ifndef BARETICK_TEST_SKEW_H
#define BARETICK_TEST_SKEW_H

/* Makes the caller a guest with changed CPUID values, if QEMU's fw_cfg item `opt/baretick/leaves` exists. */
void skew_set_cpuid_leaves(void);

#endif
