/*
 * QEMU's fw_cfg device: files that its user hands to the guest. To be asked only in a guest: elsewhere its ports may
 * be another device's.
 */
#ifndef BARETICK_FW_CFG_H
#define BARETICK_FW_CFG_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Reads the file NAME into BUFFER of SIZE bytes: true, and its LENGTH, without a 0 behind it. False: there is no
 * fw_cfg, or no such file among its first 1,024 (LENGTH 0); or the file is larger than SIZE (LENGTH, then greater than
 * SIZE, says how large, and BUFFER has its first bytes).
 */
bool fw_cfg_read_file(const char *name, char *buffer, size_t size, size_t *length);

#endif
