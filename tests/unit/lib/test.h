/*
 * A test is TEST(the_sentence_that_it_proves) and a body: it registers itself. The program runs its tests in the order
 * of the source. This header includes cmocka.h and the headers that cmocka.h needs, and it has the main function.
 */
#ifndef BARETICK_TEST_H
#define BARETICK_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* cmocka 2 calls assert_in_range deprecated, and cmocka 1 of Debian 12 and 13 has no other name for it. */
#define CMOCKA_DISABLE_DEPRECATION_WARNINGS
#include <cmocka.h>

#define TEST_MAX 256 /* tests in a program */

typedef CMFixtureFunction test_fixture[2]; /* called before and after a test, or NULL */

static struct CMUnitTest tests_of_program[TEST_MAX];
static size_t tests_of_program_count;

/* The functions of all tests of a file: TEST_FIXTURE(set_up, tear_down) once, before the first test. */
static const test_fixture fixture_of_program;
#define TEST_FIXTURE(set_up, tear_down) static const test_fixture fixture_of_program = { set_up, tear_down }

static inline void
test_add(const char *name, CMUnitTestFunction function, const test_fixture fixture)
{
	if (tests_of_program_count == TEST_MAX)
		abort();
	tests_of_program[tests_of_program_count++] = (struct CMUnitTest){ .name = name, .test_func = function,
		.setup_func = fixture[0], .teardown_func = fixture[1] };
}

/* Adds FUNCTION as the test NAME, with the fixture of the file or with an own set_up and tear_down. */
#define TEST_ADD(name, function, ...) \
	static void __attribute__((constructor)) \
	name##_is_added(void) \
	{ \
		const test_fixture own = { __VA_ARGS__ }; \
		test_add(#name, function, sizeof(#__VA_ARGS__) > 1 ? own : fixture_of_program); \
	}

/* TEST(name) has the fixture of the file, TEST(name, set_up, tear_down) its own. */
#define TEST(name, ...) \
	static void name(void **state); \
	TEST_ADD(name, name, __VA_ARGS__) \
	static void name(void **state __attribute__((unused)))

int
main(void)
{
	/* The function behind cmocka_run_group_tests, which takes only an array whose size the compiler knows. */
	return _cmocka_run_group_tests("tests", tests_of_program, tests_of_program_count, NULL, NULL);
}

#endif
