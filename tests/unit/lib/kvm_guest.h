/*
 * A guest under this machine's KVM, without firmware. Its core registers its kvm-clock page. Then it reads its TSC and
 * halts, each time that the test continues it. If no guest can be made, guest.lacking is the reason.
 */
#ifndef BARETICK_KVM_GUEST_H
#define BARETICK_KVM_GUEST_H

#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <linux/kvm.h>

#include "test.h"
#include "paravirtual/pages.h"

#define MEMORY_SIZE 0x4000
#define CODE_AT     0x1000
#define PAGE_AT     0x2000
#define TSC_AT      0x3000
#define RUN_S       10  /* longest time in seconds that the guest may run until it halts */

/*
 * The guest's code, in real mode. It writes the page's address with bit 0 to MSR 4B564D01h. Then it repeats for ever:
 * RDTSC, store both halves at TSC_AT, HLT.
 */
static const uint8_t code[] = {
	0x66, 0xb9, 0x01, 0x4d, 0x56, 0x4b, 0x66, 0xb8, 0x01, PAGE_AT >> 8, 0x00, 0x00, 0x66, 0x31, 0xd2, 0x0f, 0x30, 0xf4,
	0x0f, 0x31, 0x66, 0xa3, 0x00, TSC_AT >> 8, 0x66, 0x89, 0x16, 0x04, TSC_AT >> 8, 0xf4, 0xeb, 0xf2,
};

static struct {
	int kvm, vm, cpu;
	uint8_t *memory;
	struct kvm_run *run;
	size_t run_size;
	const char *lacking; /* reason why there is no guest, or NULL */
	uint64_t begin_ns;
} guest;

static const volatile struct pvclock *
get_page(void)
{
	return (const volatile struct pvclock *)(guest.memory + PAGE_AT);
}

/* Runs the guest until its next HLT. Returns false if the guest does not reach it within RUN_S seconds. */
static bool
run_to_next_halt(void)
{
	int done;

	alarm(RUN_S);
	done = ioctl(guest.cpu, KVM_RUN, 0);
	alarm(0);
	return done == 0 && guest.run->exit_reason == KVM_EXIT_HLT;
}

/* Returns the guest's TSC, read by the guest itself. A test calls it instead of baretick's own TSC reading. */
static uint64_t
read_guest_tsc(void)
{
	uint64_t tsc;

	assert_true(run_to_next_halt());
	memcpy(&tsc, guest.memory + TSC_AT, sizeof(tsc));
	return tsc;
}

static uint64_t
read_host_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void
ignore_signal(int signal)
{
}

/* Makes the guest's memory and core. Returns the reason if that is not possible, otherwise NULL. */
static const char *
make_memory_and_core(void)
{
	struct kvm_userspace_memory_region region = { .memory_size = MEMORY_SIZE };
	int size;

	guest.kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	if (guest.kvm < 0)
		return "/dev/kvm can't be opened";
	guest.vm = ioctl(guest.kvm, KVM_CREATE_VM, 0);
	size = ioctl(guest.kvm, KVM_GET_VCPU_MMAP_SIZE, 0);
	if (guest.vm < 0 || size <= 0)
		return "/dev/kvm makes no guest";
	guest.memory = mmap(NULL, MEMORY_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	region.userspace_addr = (uintptr_t)guest.memory;
	if (guest.memory == MAP_FAILED || ioctl(guest.vm, KVM_SET_USER_MEMORY_REGION, &region) < 0)
		return "/dev/kvm takes no memory for a guest";
	memcpy(guest.memory + CODE_AT, code, sizeof(code));
	guest.cpu = ioctl(guest.vm, KVM_CREATE_VCPU, 0);
	guest.run_size = (size_t)size;
	guest.run = guest.cpu < 0 ? MAP_FAILED : mmap(NULL, guest.run_size, PROT_READ | PROT_WRITE, MAP_SHARED, guest.cpu, 0);
	return guest.run == MAP_FAILED ? "/dev/kvm makes no core for a guest" : NULL;
}

static const char *
start_guest(void)
{
	struct kvm_regs regs = { .rip = CODE_AT, .rflags = 2 };
	struct kvm_clock_data now;
	struct kvm_sregs sregs;

	if (ioctl(guest.kvm, KVM_CHECK_EXTENSION, KVM_CAP_ADJUST_CLOCK) <= 0 || ioctl(guest.vm, KVM_GET_CLOCK, &now) < 0)
		return "/dev/kvm has no clock that can be asked";
	if (ioctl(guest.cpu, KVM_GET_SREGS, &sregs) < 0)
		return "/dev/kvm does not tell a core's registers";
	sregs.cs.base = 0;
	sregs.cs.selector = 0;
	if (ioctl(guest.cpu, KVM_SET_SREGS, &sregs) < 0 || ioctl(guest.cpu, KVM_SET_REGS, &regs) < 0)
		return "/dev/kvm does not take a core's registers";
	if (!run_to_next_halt())
		return "a guest of a few instructions does not come to its HLT under /dev/kvm";
	return get_page()->version ? NULL : "KVM writes no page for kvm-clock";
}

static void
guest_set_up(void)
{
	memset(&guest, 0, sizeof(guest));
	guest.kvm = guest.vm = guest.cpu = -1;
	guest.run = MAP_FAILED;
	guest.memory = MAP_FAILED;
	/* SIGALRM interrupts a KVM_RUN that does not return */
	sigaction(SIGALRM, &(struct sigaction){ .sa_handler = ignore_signal }, NULL);
	guest.begin_ns = read_host_ns();
	guest.lacking = make_memory_and_core();
	if (!guest.lacking)
		guest.lacking = start_guest();
}

static void
guest_tear_down(void)
{
	if (guest.run != MAP_FAILED)
		munmap(guest.run, guest.run_size);
	if (guest.memory != MAP_FAILED)
		munmap(guest.memory, MEMORY_SIZE);
	for (int i = 0; i < 3; i++)
		if ((int[]){ guest.cpu, guest.vm, guest.kvm }[i] >= 0)
			close((int[]){ guest.cpu, guest.vm, guest.kvm }[i]);
}

#endif
