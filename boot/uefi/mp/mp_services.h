/* Declares EFI_MP_SERVICES_PROTOCOL (PI 1.7, volume 2, 13.4), which GNU-EFI lacks. */
#ifndef BARETICK_MP_SERVICES_H
#define BARETICK_MP_SERVICES_H

#include <efi.h>

#define MP_SERVICES_GUID \
	{ 0x3fdda605, 0xa76e, 0x4f46, { 0xad, 0x29, 0x12, 0xf4, 0x53, 0x1b, 0x3d, 0x08 } }

#define MP_IS_BOOT_CORE 1u /* bits of the field status in struct mp_processor */
#define MP_IS_ENABLED   2u
#define MP_IS_HEALTHY   4u

struct mp_processor {
	UINT64 id; /* the processor's APIC id */
	UINT32 status;
	UINT32 location[3];  /* numbers of package, core and thread */
	UINT32 extended[6];  /* filled in only if a flag in get_processor_info()'s argument NUMBER is set */
};

typedef VOID EFIAPI mp_procedure(VOID *argument);

struct mp_services {
	EFI_STATUS (EFIAPI *get_number_of_processors)(struct mp_services *services, UINTN *all,
						      UINTN *enabled);
	EFI_STATUS (EFIAPI *get_processor_info)(struct mp_services *services, UINTN number,
						struct mp_processor *processor);
	/*
	 * Runs the procedure on all other cores. If EVENT is NULL, returns when all cores have finished or after
	 * TIMEOUT_US (0 means no limit). FAILED may be NULL.
	 */
	EFI_STATUS (EFIAPI *startup_all)(struct mp_services *services, mp_procedure *procedure,
					 BOOLEAN one_by_one, EFI_EVENT event, UINTN timeout_us,
					 VOID *argument, UINTN **failed);
	EFI_STATUS (EFIAPI *startup_this)(struct mp_services *services, mp_procedure *procedure,
					  UINTN number, EFI_EVENT event, UINTN timeout_us,
					  VOID *argument, BOOLEAN *finished);
	VOID *switch_boot_core, *enable_disable, *who_am_i; /* not used here */
};

#endif
