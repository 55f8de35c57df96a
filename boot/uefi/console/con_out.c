/* Reads the device paths of the firmware's console. See con_out.h. */
#include "uefi/console/con_out.h"

#define SIZE_MAX_BYTES 4096u /* largest accepted size of ConOut in bytes; the path of one device takes about 50 bytes */

static const EFI_GUID guid_device_path = DEVICE_PATH_PROTOCOL;
static const EFI_GUID guid_global_variable = EFI_GLOBAL_VARIABLE;

static bool
is_uart_node(const EFI_DEVICE_PATH *node)
{
	return DevicePathType(node) == MESSAGING_DEVICE_PATH && DevicePathSubType(node) == MSG_UART_DP;
}

static size_t
get_node_size(const EFI_DEVICE_PATH *node)
{
	return (size_t)DevicePathNodeLength(node);
}

/* Returns the node at offset AT of ConOut, or NULL if no complete node is there. */
static const EFI_DEVICE_PATH *
get_path_node(const struct con_out *con_out, size_t at)
{
	const EFI_DEVICE_PATH *node = (const EFI_DEVICE_PATH *)(con_out->paths + at);

	if (at + sizeof(*node) > con_out->size || get_node_size(node) < sizeof(*node) ||
	    get_node_size(node) > con_out->size - at)
		return NULL;
	return node;
}

/*
 * Returns the offset of the path after the path at AT, or ConOut's size if the path at AT is the last. Sets HAS_UART to
 * true if the path at AT has a UART.
 */
static size_t
skip_to_next_path(const struct con_out *con_out, size_t at, bool *has_uart)
{
	const EFI_DEVICE_PATH *node;

	*has_uart = false;
	while ((node = get_path_node(con_out, at))) {
		at += get_node_size(node);
		*has_uart |= is_uart_node(node);
		if (DevicePathType(node) == END_DEVICE_PATH_TYPE)
			return DevicePathSubType(node) == END_ENTIRE_DEVICE_PATH_SUBTYPE ? con_out->size : at;
	}
	return con_out->size;
}

void
con_out_read(struct con_out *con_out)
{
	uint8_t *paths = firmware_allocate(SIZE_MAX_BYTES);
	UINTN size = SIZE_MAX_BYTES;
	bool serial;

	*con_out = (struct con_out){ .paths = NULL };
	if (!paths)
		return;
	if (EFI_ERROR(firmware_system->RuntimeServices->GetVariable((CHAR16 *)L"ConOut", (EFI_GUID *)&guid_global_variable,
								    NULL, &size, paths)) || size < sizeof(EFI_DEVICE_PATH)) {
		firmware_boot->FreePool(paths);
		return;
	}
	con_out->paths = paths;
	con_out->size = size;
	for (size_t at = 0; at < size;) {
		at = skip_to_next_path(con_out, at, &serial);
		con_out->has_serial |= serial;
		con_out->has_screen |= !serial;
	}
}

void
con_out_free(struct con_out *con_out)
{
	if (con_out->paths)
		firmware_boot->FreePool(con_out->paths);
	con_out->paths = NULL;
}

/* Compares two nodes. UART nodes always match, because they contain the baud rate, which may have changed. */
static bool
device_path_nodes_match(const EFI_DEVICE_PATH *a, const EFI_DEVICE_PATH *b)
{
	if (is_uart_node(a) && is_uart_node(b))
		return true;
	return get_node_size(a) == get_node_size(b) && __builtin_memcmp(a, b, get_node_size(a)) == 0;
}

/*
 * Compares PATH with ConOut's path at AT. Returns true if the shorter path is the start of the longer path. ConOut may
 * name a graphics card without its output. In this case ConOut has the shorter path.
 */
static bool
begins_with_same_nodes(const struct con_out *con_out, size_t at, const EFI_DEVICE_PATH *path)
{
	const EFI_DEVICE_PATH *node = get_path_node(con_out, at);
	size_t same = 0;

	while (node && DevicePathType(node) != END_DEVICE_PATH_TYPE && !IsDevicePathEndType(path)) {
		if (!device_path_nodes_match(node, path))
			return false;
		same++;
		at += get_node_size(node);
		node = get_path_node(con_out, at);
		path = (const EFI_DEVICE_PATH *)((const uint8_t *)path + get_node_size(path));
	}
	return same > 0;
}

bool
con_out_contains_device(const struct con_out *con_out, EFI_HANDLE device)
{
	const EFI_DEVICE_PATH *path = con_out->paths ? firmware_find_protocol(device, &guid_device_path) : NULL;
	bool serial;

	for (size_t at = 0; path && at < con_out->size; at = skip_to_next_path(con_out, at, &serial))
		if (begins_with_same_nodes(con_out, at, path))
			return true;
	return false;
}
