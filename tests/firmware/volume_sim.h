/* A simulated volume in memory, and the faults of its driver. The application was started from this volume. */
#ifndef BARETICK_VOLUME_SIM_H
#define BARETICK_VOLUME_SIM_H

#include "firmware_sim.h"

#define VOLUME_SIM_FILES 64
#define VOLUME_SIM_PATH  64

struct volume_sim {
	struct volume_sim_file {
		char path[VOLUME_SIM_PATH];  /* path of the file, or "" if the entry is free */
		/* path of the file with its short (8.3) name; "" if it has no short name */
		char alias[VOLUME_SIM_PATH];
		bool folder;
		char *bytes;
		size_t length;
	} files[VOLUME_SIM_FILES];
	EFI_STATUS flush;     /* status that Flush returns */
	EFI_STATUS rename;    /* status that a rename returns */
	size_t write_max;     /* largest size of a Write; a larger one returns EFI_DEVICE_ERROR */
	bool low_only;        /* true if the driver refuses buffers above 4 GiB with EFI_DEVICE_ERROR */
	size_t room_bytes;    /* remaining space for files */
	unsigned writes;      /* number of calls of Write */
};

/* Installs an empty volume without faults on its own handle, as the volume that the application was started from. */
struct volume_sim *volume_sim_open(void);
void volume_sim_close(void);

/* returns NULL if there is no such file */
struct volume_sim_file *volume_sim_find_file(const char *path);
struct volume_sim_file *volume_sim_add_file(const char *path, bool folder);

#endif
