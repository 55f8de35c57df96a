/* Handles, memory and events of a firmware. See firmware_sim.h. */
#include "firmware_sim.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define INTERFACES_MAX 64
#define PAGE           4096u
#define VARIABLES_MAX  4

size_t firmware_sim_low_taken, firmware_sim_low_reserved, firmware_sim_low_left;
struct firmware_sim_events firmware_sim_events;

static EFI_SYSTEM_TABLE tables;
static EFI_BOOT_SERVICES services;
static EFI_RUNTIME_SERVICES runtime;

static struct {
	EFI_HANDLE handle;
	EFI_GUID guid;
	void *interface;
} installed[INTERFACES_MAX];
static size_t installed_count;
static struct { const char *name; const void *data; size_t size; } variables[VARIABLES_MAX];
static size_t variables_count;
static uintptr_t handles_count;

static bool
does_protocol_have_guid(size_t i, const EFI_GUID *guid)
{
	return memcmp(&installed[i].guid, guid, sizeof(*guid)) == 0;
}

static EFI_STATUS EFIAPI
handle_protocol(EFI_HANDLE handle, EFI_GUID *guid, void **interface)
{
	for (size_t i = 0; i < installed_count; i++)
		if (installed[i].handle == handle && does_protocol_have_guid(i, guid)) {
			*interface = installed[i].interface;
			return EFI_SUCCESS;
		}
	return EFI_UNSUPPORTED;
}

static EFI_STATUS EFIAPI
locate_protocol(EFI_GUID *guid, void *registration, void **interface)
{
	for (size_t i = 0; i < installed_count; i++)
		if (does_protocol_have_guid(i, guid)) {
			*interface = installed[i].interface;
			return EFI_SUCCESS;
		}
	return EFI_NOT_FOUND;
}

static EFI_STATUS EFIAPI
locate_handle_buffer(EFI_LOCATE_SEARCH_TYPE type, EFI_GUID *guid, void *key, UINTN *count, EFI_HANDLE **buffer)
{
	*buffer = calloc(INTERFACES_MAX, sizeof(**buffer));
	*count = 0;
	for (size_t i = 0; i < installed_count; i++)
		if (does_protocol_have_guid(i, guid))
			(*buffer)[(*count)++] = installed[i].handle;
	if (*count)
		return EFI_SUCCESS;
	free(*buffer);
	return EFI_NOT_FOUND;
}

static EFI_STATUS EFIAPI
allocate_pool(EFI_MEMORY_TYPE type, UINTN size, void **memory)
{
	*memory = malloc(size);
	return *memory ? EFI_SUCCESS : EFI_OUT_OF_RESOURCES;
}

static EFI_STATUS EFIAPI
free_pool(void *memory)
{
	free(memory);
	return EFI_SUCCESS;
}

/* malloc() returns memory far above 4 GiB on a 64-bit host, so this uses mmap(). */
static EFI_STATUS EFIAPI
allocate_pages(EFI_ALLOCATE_TYPE type, EFI_MEMORY_TYPE memory, UINTN pages, EFI_PHYSICAL_ADDRESS *address)
{
	if (type != AllocateMaxAddress || *address != UINT32_MAX || pages > firmware_sim_low_left)
		return EFI_OUT_OF_RESOURCES;
	void *taken = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

	if (taken == MAP_FAILED)
		return EFI_OUT_OF_RESOURCES;
	*address = (EFI_PHYSICAL_ADDRESS)(uintptr_t)taken;
	memset(taken, 0xa5, pages * PAGE);
	firmware_sim_low_taken += pages;
	firmware_sim_low_reserved += memory == EfiReservedMemoryType ? pages : 0;
	return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI
free_pages(EFI_PHYSICAL_ADDRESS address, UINTN pages)
{
	firmware_sim_low_taken -= pages;
	return munmap((void *)(uintptr_t)address, pages * PAGE) ? EFI_INVALID_PARAMETER : EFI_SUCCESS;
}

static EFI_STATUS EFIAPI
get_variable(CHAR16 *name, EFI_GUID *guid, UINT32 *attributes, UINTN *size, void *data)
{
	char ascii[16];

	firmware_convert_to_ascii(name, ascii, sizeof(ascii));
	for (size_t i = 0; i < variables_count; i++) {
		if (strcmp(ascii, variables[i].name) != 0)
			continue;
		if (*size < variables[i].size)
			return EFI_BUFFER_TOO_SMALL;
		memcpy(data, variables[i].data, variables[i].size);
		*size = variables[i].size;
		return EFI_SUCCESS;
	}
	return EFI_NOT_FOUND;
}

void
firmware_sim_set_variable(const char *name, const void *data, size_t size)
{
	if (variables_count == VARIABLES_MAX)
		abort();
	variables[variables_count].name = name;
	variables[variables_count].data = data;
	variables[variables_count++].size = size;
}

EFI_HANDLE
firmware_sim_handle(void)
{
	return (EFI_HANDLE)++handles_count;
}

void
firmware_sim_install_protocol(EFI_HANDLE handle, const EFI_GUID *guid, void *interface)
{
	if (installed_count == INTERFACES_MAX)
		abort();
	installed[installed_count].handle = handle;
	installed[installed_count].guid = *guid;
	installed[installed_count++].interface = interface;
}

void
firmware_sim_reset(void)
{
	services = (EFI_BOOT_SERVICES){
		.HandleProtocol = handle_protocol, .LocateProtocol = locate_protocol,
		.LocateHandleBuffer = locate_handle_buffer, .AllocatePool = allocate_pool, .FreePool = free_pool,
		.AllocatePages = allocate_pages, .FreePages = free_pages,
	};
	runtime = (EFI_RUNTIME_SERVICES){ .GetVariable = get_variable };
	tables = (EFI_SYSTEM_TABLE){ .BootServices = &services, .RuntimeServices = &runtime };
	installed_count = variables_count = 0;
	firmware_sim_low_taken = firmware_sim_low_reserved = 0;
	firmware_sim_low_left = SIZE_MAX;
	firmware_system = &tables;
	firmware_boot = &services;
	firmware_image = firmware_sim_handle();
}

static EFI_STATUS EFIAPI
create_event(UINT32 type, EFI_TPL tpl, EFI_EVENT_NOTIFY notify, void *context, EFI_EVENT *event)
{
	firmware_sim_events.notify = notify;
	firmware_sim_events.argument = context;
	firmware_sim_events.open++;
	*event = type & EVT_TIMER ? FIRMWARE_SIM_TIMER : &firmware_sim_events.checks;
	return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI
set_timer(EFI_EVENT event, EFI_TIMER_DELAY type, UINT64 time_100ns)
{
	firmware_sim_events.checks = 0;
	return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI
check_event(EFI_EVENT event)
{
	return ++firmware_sim_events.checks > firmware_sim_events.expires_after ? EFI_SUCCESS : EFI_NOT_READY;
}

static EFI_STATUS EFIAPI
close_event(EFI_EVENT event)
{
	firmware_sim_events.open--;
	return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI
stall(UINTN us)
{
	return EFI_SUCCESS;
}

void
firmware_sim_offer_events(unsigned expires_after)
{
	firmware_sim_events = (struct firmware_sim_events){ .expires_after = expires_after };
	firmware_boot->CreateEvent = create_event;
	firmware_boot->SetTimer = set_timer;
	firmware_boot->CheckEvent = check_event;
	firmware_boot->CloseEvent = close_event;
	firmware_boot->Stall = stall;
}
