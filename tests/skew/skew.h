/* Changes CPUID for the boot core of the test image. See skew.c. */
#ifndef BARETICK_TEST_SKEW_H
#define BARETICK_TEST_SKEW_H

/* If QEMU's fw_cfg item `opt/baretick/leaves` exists, the caller continues as a guest with these leaves. */
void skew_leaves(void);

#endif
