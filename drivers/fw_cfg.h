/*
 * QEMU's fw_cfg device: files that whoever started QEMU hands to the guest. To be asked only where CPUID
 * says that there is a hypervisor: elsewhere its ports may be another device's.
 */
#ifndef BARETICK_FW_CFG_H
#define BARETICK_FW_CFG_H

#include <stddef.h>

enum fw_cfg_answer {
	FW_CFG_NO_DEVICE, /* the ports do not answer as fw_cfg does */
	FW_CFG_NO_FILE,   /* there is no such file among the first 1,024 */
	FW_CFG_TOO_LARGE, /* LENGTH says how large; BUFFER is as it was */
	FW_CFG_READ,      /* the file's LENGTH bytes are in BUFFER; no 0 is added */
};

/* Reads the file NAME into BUFFER of SIZE bytes; LENGTH becomes its size, 0 where it was not found. */
enum fw_cfg_answer fw_cfg_read_file(const char *name, char *buffer, size_t size, size_t *length);

#endif
