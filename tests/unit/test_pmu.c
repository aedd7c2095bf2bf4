/* SPDX-License-Identifier: MIT */
/* Discovery on machines that are not here, whole and in pieces. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "cleanup.h"
#include "fake_machine.h"

static void intel_server(void **state)
{
	_cleanup_free_ struct pmu_machine *machine = NULL;
	const struct pmu *cpu;

	(void)state;
	fake_machine("intel-server");
	machine = fake_discover();
	assert_int_equal(machine->vendor, PMU_INTEL);
	assert_int_equal(machine->family, 6);
	assert_int_equal(machine->model, 0x8f);
	assert_int_equal(machine->stepping, 8);
	assert_string_equal(machine->model_name, "Intel(R) Xeon(R) Platinum 8480+");
	assert_false(machine->hypervisor);
	assert_true(machine->dump);
	assert_int_equal(machine->paranoid, 3);
	assert_string_equal(machine->lockdown, "none");
	assert_int_equal(CPU_COUNT(&machine->online), 224);
	assert_int_equal(machine->n_pmus, 1);
	cpu = pmu_named(machine, "cpu");
	assert_int_equal(cpu->type, 4);
	assert_int_equal(cpu->max_precise, 3);
	assert_int_equal(cpu->n_fields, 11);
	assert_int_equal(cpu->n_aliases, 13);
	assert_true(CPU_EQUAL(&cpu->cpus, &machine->online));
	assert_null(pmu_named(machine, "cpu_core"));
}

/* Each half on its own CPUs, without those that are offline. */
static void hybrid_laptop(void **state)
{
	_cleanup_free_ struct pmu_machine *machine = NULL;
	const struct pmu *core, *atom;

	(void)state;
	fake_machine("hybrid-laptop");
	machine = fake_discover();
	assert_string_equal(machine->lockdown, "integrity");
	assert_int_equal(machine->n_pmus, 2);
	core = pmu_named(machine, "cpu_core");
	atom = pmu_named(machine, "cpu_atom");
	assert_int_equal(core->type, 4);
	assert_int_equal(atom->type, 10);
	assert_int_equal(CPU_COUNT(&core->cpus), 16);
	assert_int_equal(CPU_COUNT(&atom->cpus), 6);
	assert_true(CPU_ISSET(21, &atom->cpus) && !CPU_ISSET(22, &atom->cpus));
}

static void amd_server(void **state)
{
	_cleanup_free_ struct pmu_machine *machine = NULL;
	const struct pmu *ibs;

	(void)state;
	fake_machine("amd-server");
	machine = fake_discover();
	assert_int_equal(machine->vendor, PMU_AMD);
	assert_int_equal(machine->family, 0x19);
	assert_int_equal(machine->n_pmus, 3);
	ibs = pmu_named(machine, "ibs_op");
	assert_int_equal(ibs->type, 11);
	assert_int_equal(ibs->max_precise, -1);
	assert_int_equal(ibs->n_fields, 2);
	assert_true(CPU_EQUAL(&ibs->cpus, &machine->online));
}

static void virtual_machines(void **state)
{
	_cleanup_free_ struct pmu_machine *without = NULL, *with = NULL;

	(void)state;
	fake_machine("vm-without-pmu");
	without = fake_discover();
	assert_true(without->hypervisor);
	assert_int_equal(without->n_pmus, 0);
	fake_machine("vm-with-counters");
	with = fake_discover();
	assert_true(with->hypervisor);
	assert_int_equal(with->pmus[0].max_precise, 0);
}

/* Without files there is nothing; with only the processor's name, little, and all else unknown. */
static void half_a_dump(void **state)
{
	_cleanup_free_ struct pmu_machine *machine = NULL;

	(void)state;
	assert_int_equal(pmu_discover(fake_root, &machine), -ENOENT);
	assert_null(machine);
	fake_file("proc/cpuinfo", "processor\t: 0\n\nprocessor\t: 3\nvendor_id\t: CentaurHauls\n");
	machine = fake_discover();
	assert_int_equal(machine->vendor, PMU_OTHER_VENDOR);
	assert_int_equal(machine->paranoid, INT32_MAX);
	assert_string_equal(machine->lockdown, "");
	assert_int_equal(CPU_COUNT(&machine->online), 2);
	assert_int_equal(machine->n_pmus, 0);
}

#define CPU "sys/bus/event_source/devices/cpu/"

static void odd_files(void **state)
{
	_cleanup_free_ struct pmu_machine *machine = NULL;
	const struct pmu *cpu;

	(void)state;
	fake_processor("GenuineIntel", 6, 0x8f, 1);
	fake_file("sys/kernel/security/lockdown", "none [broken\n");
	fake_file("sys/devices/system/cpu/online", "0-x\n");
	fake_file(CPU "type", "4\n");
	fake_file(CPU "caps/max_precise", "many\n");
	fake_file(CPU "caps/branches", "-5\n");
	fake_file(CPU "cpus", "nonsense\n");
	fake_file(CPU "format/event", "config:0-7\n");
	fake_file(CPU "format/broken", "config:7-0\n");
	fake_file(CPU "format/empty", "");
	fake_file(CPU "events/mem-loads.scale", "1\n");
	fake_file(CPU "events/a-name-longer-than-anything-in-sysfs-can-be", "event=1\n");
	fake_file("sys/bus/event_source/devices/ibs_op/type", "none\n");
	machine = fake_discover();
	assert_string_equal(machine->lockdown, "");
	assert_int_equal(machine->n_pmus, 1);
	cpu = pmu_named(machine, "cpu");
	assert_int_equal(cpu->max_precise, -1);
	assert_int_equal(cpu->n_fields, 1);
	assert_int_equal(cpu->n_aliases, 0);
	assert_int_equal(CPU_COUNT(&cpu->cpus), 1);
}

/* More fields and events than there is room for: the first ones count, nothing is overrun. */
static void too_many(void **state)
{
	_cleanup_free_ struct pmu_machine *machine = NULL;
	char name[128];

	(void)state;
	fake_processor("GenuineIntel", 6, 0x8f, 1);
	fake_file(CPU "type", "4\n");
	for (int i = 0; i < 2 * PMU_ALIASES_MAX; i++) {
		snprintf(name, sizeof(name), CPU "format/f%d", i);
		fake_file(name, "config:1\n");
		snprintf(name, sizeof(name), CPU "events/e%d", i);
		fake_file(name, "f1=1\n");
	}
	machine = fake_discover();
	assert_int_equal(machine->pmus[0].n_fields, PMU_FIELDS_MAX);
	assert_int_equal(machine->pmus[0].n_aliases, PMU_ALIASES_MAX);
}

static void this_machine(void **state)
{
	_cleanup_free_ struct pmu_machine *machine = NULL, *again = NULL;

	(void)state;
	assert_int_equal(pmu_discover("", &machine), 0);
	assert_int_equal(pmu_discover("/", &again), 0);
	assert_false(machine->dump || again->dump);
	assert_true(CPU_COUNT(&machine->online) > 0);
}

#define rooted(test) cmocka_unit_test_setup_teardown(test, fake_root_new, fake_root_free)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        rooted(intel_server),
	        rooted(hybrid_laptop),
	        rooted(amd_server),
	        rooted(virtual_machines),
	        rooted(half_a_dump),
	        rooted(odd_files),
	        rooted(too_many),
	        cmocka_unit_test(this_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
