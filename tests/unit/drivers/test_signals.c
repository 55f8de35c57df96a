/* A hypervisor's signals that announce disruptions: their addresses from ACPI, and their values. */
#include "test.h"
#include "acpi/acpi.h"
#include "paravirtual/leaves.h"
#include "paravirtual/signals.h"
#include "sim.h"
#include "sim_paravirtual.h"

#define GUID_AT UINT64_C(0x7000028)

static void
set_up(void)
{
	sim_reset();
	sim_paravirtual_make_kvm_guest(false);
}

TEST_FIXTURE(set_up, NULL);

static uint8_t table[128];

/* Reads an SSDT with the table id OEM_TABLE and the SIZE bytes of BODY. */
static bool
read_ssdt(const char *oem_table, const char *body, size_t size, struct acpi_facts *facts)
{
	uint8_t sum = 0;

	memset(table, 0, sizeof(table));
	memcpy(table, "SSDT", 4);
	memcpy(table + 16, oem_table, strlen(oem_table));
	memcpy(table + 36, body, size);
	for (size_t i = 0; i < 36 + size; i++)
		sum += table[i];
	table[9] = (uint8_t)-sum;
	*facts = (struct acpi_facts){ .found = true };
	return acpi_read_ssdt(table, 36 + size, facts);
}

TEST(qemus_tables_give_the_addresses_of_generation_id_and_vmclock)
{
	static const char vgia[] = "....\x08VGIA\x0c\x00\x00\x00\x07...", none[] = "....\x08VGIA\x0c\0\0\0\0...",
			  memory[] = "..\x8a\x2b\x00\x00\x0c\x02" "GRANULAR" "\x00\xb0\xff\xfe\0\0\0\0" "........";
	struct acpi_facts facts;

	assert_true(read_ssdt("VMGENID", vgia, sizeof(vgia), &facts));
	assert_int_equal(facts.vmgenid, GUID_AT);
	assert_true(read_ssdt("VMGENID", none, sizeof(none), &facts));
	assert_int_equal(facts.vmgenid, 0);
	assert_true(read_ssdt("VMCLOCK", memory, sizeof(memory), &facts));
	assert_int_equal(facts.vmclock, 0xfeffb000);
	assert_true(read_ssdt("BXPC", memory, sizeof(memory), &facts));
	assert_int_equal(facts.vmclock, 0);
	assert_true(read_ssdt("VMCLOCK", vgia, sizeof(vgia), &facts));
	assert_int_equal(facts.vmclock, 0);
	table[20]++;
	assert_false(acpi_read_ssdt(table, 36 + sizeof(vgia), &facts));
	assert_false(acpi_read_ssdt(table, 35, &facts));
}

static uint64_t guid[2];

static uint64_t
read_guid(uint64_t address, unsigned width_bytes)
{
	return guid[address == GUID_AT + 8];
}

static struct signals
read_signals(uint64_t vmgenid, uint64_t vmclock, bool clear)
{
	struct platform platform;
	struct signals signals;

	sim_describe_platform(&platform);
	signals_read_disruption_markers(&(struct signal_places){ &platform.paravirtual, vmgenid, vmclock }, NULL, clear,
					&signals);
	return signals;
}

TEST(without_a_page_and_without_devices_there_is_no_signal)
{
	assert_int_equal(read_signals(0, 0, true).count, 0);
	assert_int_equal(read_signals(GUID_AT, SIM_VMCLOCK_BASE, true).count, 0); /* an address without memory */
}

TEST(kvms_flag_is_cleared_at_the_start_and_read_at_the_end)
{
	hw_msr_write(MSR_KVM_SYSTEM_TIME_NEW, (uintptr_t)sim_paravirtual.memory | 1);
	sim_paravirtual_set_stopped_flag();
	assert_int_equal(read_signals(0, 0, true).list[0].value, 0);
	assert_int_equal(read_signals(0, 0, false).list[0].value, 0);
	sim_paravirtual_set_stopped_flag();
	assert_int_equal(read_signals(0, 0, false).list[0].value, PVCLOCK_GUEST_STOPPED);
	assert_true(((struct pvclock *)sim_paravirtual.memory)->flags & PVCLOCK_TSC_STABLE);
}

TEST(both_halves_of_the_generation_id_are_compared_and_0_is_no_id)
{
	struct signals signals;
	uint64_t first;

	sim_map_region((struct sim_region){ GUID_AT, 16, read_guid, NULL });
	signals = read_signals(GUID_AT, 0, true);
	assert_int_equal(signals.count, 1);
	assert_true(signals.list[0].unusable && signals.list[0].restores_only);
	for (size_t i = 0; i < 2; i++) {
		guid[0] = guid[1] = 5;
		first = read_signals(GUID_AT, 0, true).list[0].value;
		guid[i]++;
		signals = read_signals(GUID_AT, 0, false);
		assert_false(signals.list[0].unusable);
		assert_int_not_equal(signals.list[0].value, first);
	}
}

static uint64_t vmclock_page[14]; /* the page: struct vmclock_abi as an array of 8-byte words */

static uint64_t
read_vmclock_page(uint64_t address, unsigned width_bytes)
{
	return vmclock_page[(address - SIM_VMCLOCK_BASE) / 8];
}

static uint64_t
vmclock_value(void)
{
	struct signals signals = read_signals(0, SIM_VMCLOCK_BASE, false);

	assert_int_equal(signals.count, 1);
	assert_false(signals.list[0].restores_only);
	return signals.list[0].value;
}

TEST(vmclocks_generation_is_used_only_if_its_flag_is_set)
{
	uint64_t first;

	sim_map_region((struct sim_region){ SIM_VMCLOCK_BASE, 112, read_vmclock_page, NULL });
	assert_true(read_signals(0, SIM_VMCLOCK_BASE, true).list[0].unusable);
	vmclock_page[0] = 0x4b4c4356; /* "VCLK" */
	assert_false(read_signals(0, SIM_VMCLOCK_BASE, true).list[0].unusable);
	first = vmclock_value();
	vmclock_page[13]++; /* changes vm_generation_counter */
	assert_int_equal(vmclock_value(), first);
	vmclock_page[2]++;  /* changes disruption_marker */
	assert_int_not_equal(vmclock_value(), first);
	vmclock_page[3] = 1 << 8; /* sets VMCLOCK_FLAG_VM_GEN_COUNTER_PRESENT */
	first = vmclock_value();
	vmclock_page[13]++;
	assert_int_not_equal(vmclock_value(), first);
	vmclock_page[12]++; /* changes time_maxerror_nanosec, which is no signal */
	first = vmclock_value();
	vmclock_page[12]++;
	assert_int_equal(vmclock_value(), first);
}
