/* Reads the checksum of the running image. See uefi.h. */
#include "uefi/firmware/uefi.h"

/* PE/COFF specification: offset of the PE header's position, and of CheckSum after the PE header's start */
#define PE_POINTER  0x3c
#define CHECKSUM_AT (4 + 20 + 64)
#define PE_MAGIC    0x4550u /* "PE", 0, 0 */

static uint32_t
read_32(const uint8_t *bytes)
{
	uint32_t value;

	__builtin_memcpy(&value, bytes, sizeof(value));
	return value;
}

uint32_t
image_read_checksum(void)
{
	const EFI_LOADED_IMAGE *image = firmware_find_protocol(firmware_image, &guid_loaded_image);
	const uint8_t *base = image ? image->ImageBase : NULL;

	if (!base || image->ImageSize < PE_POINTER + sizeof(uint32_t))
		return 0;
	uint64_t header = read_32(base + PE_POINTER);

	if (header + CHECKSUM_AT + sizeof(uint32_t) > image->ImageSize || read_32(base + header) != PE_MAGIC)
		return 0;
	return read_32(base + header + CHECKSUM_AT);
}
