/*
 * QEMU's fw_cfg device, which passes files to the guest. It is accessed only in a guest, because on bare metal another
 * device may have its ports.
 */
#ifndef BARETICK_FW_CFG_H
#define BARETICK_FW_CFG_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Reads the file NAME into BUFFER of SIZE bytes, without a terminating 0, and sets LENGTH. Returns false with LENGTH 0
 * if there is no fw_cfg, or no such file among its first 1,024. Returns false with the file's size in LENGTH if it is
 * larger than SIZE; BUFFER then has its first bytes.
 */
bool fw_cfg_read_file(const char *name, char *buffer, size_t size, size_t *length);

#endif
