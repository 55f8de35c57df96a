/*
 * Reads files that QEMU passes to its guest through the fw_cfg device. The device is accessed only in a guest, because
 * on bare metal its ports may belong to another device.
 */
#ifndef BARETICK_FW_CFG_H
#define BARETICK_FW_CFG_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Reads the file NAME into BUFFER of SIZE bytes, without a terminating 0, and sets LENGTH. If there is no fw_cfg, or no
 * such file among its first 1,024 files, returns false and sets LENGTH to 0. If the file is larger than SIZE, returns
 * false, sets LENGTH to the file's size, and fills BUFFER with its first bytes.
 */
bool fw_cfg_read_file(const char *name, char *buffer, size_t size, size_t *length);

#endif
