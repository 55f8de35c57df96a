/* Reads files from QEMU's fw_cfg device. See fw_cfg.h. Numbers and formats are from QEMU's docs/specs/fw_cfg.rst. */
#include <stdint.h>

#include "base/text.h"
#include "hw/fw_cfg.h"
#include "hw/hw.h"

#define PORT_SELECTOR 0x510 /* 16 bits wide; a write selects an item and moves PORT_DATA to the item's first byte */
#define PORT_DATA     0x511 /* a read returns the selected item's next byte, or 0 after its last byte */

#define KEY_SIGNATURE 0x0000 /* the item that contains "QEMU" */
#define KEY_FILES     0x0019 /* the directory: the number of its entries in 32 bits, followed by the entries */

#define FILE_NAME_SIZE 56u /* size of the field with a file's name, which includes the final 0 */
#define FILES_MAX      1024u /* our limit; QEMU has a few dozen files */

struct file { /* an entry of the directory; the fields have this order, and numbers are big-endian */
	uint32_t size;
	uint16_t key;
	char name[FILE_NAME_SIZE + 1];
};

/* Reads the next SIZE bytes (at most 4) of the selected item as a number. */
static uint32_t
read_number(unsigned size)
{
	uint32_t value = 0;

	for (unsigned i = 0; i < size; i++)
		value = value << 8 | hw_in8(PORT_DATA);
	return value;
}

static bool
is_fw_cfg_present(void)
{
	hw_out16(PORT_SELECTOR, KEY_SIGNATURE);
	return read_number(4) == 0x51454d55; /* the characters "QEMU" */
}

static void
read_directory_entry(struct file *file)
{
	file->size = read_number(4);
	file->key = (uint16_t)read_number(2);
	read_number(2); /* skips the reserved field */
	for (unsigned i = 0; i < FILE_NAME_SIZE; i++)
		file->name[i] = (char)hw_in8(PORT_DATA);
	file->name[FILE_NAME_SIZE] = 0;
}

static bool
find_file(const char *name, struct file *file)
{
	hw_out16(PORT_SELECTOR, KEY_FILES);
	uint32_t count = read_number(4);
	for (uint32_t i = 0; i < count && i < FILES_MAX; i++) {
		read_directory_entry(file);
		if (text_equal(file->name, name))
			return true;
	}
	return false;
}

bool
fw_cfg_read_file(const char *name, char *buffer, size_t size, size_t *length)
{
	struct file file;

	*length = 0;
	if (!is_fw_cfg_present() || !find_file(name, &file))
		return false;
	*length = file.size;
	hw_out16(PORT_SELECTOR, file.key);
	for (size_t i = 0; i < file.size && i < size; i++)
		buffer[i] = (char)hw_in8(PORT_DATA);
	return file.size <= size;
}
