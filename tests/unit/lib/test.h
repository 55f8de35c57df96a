/*
 * Defines TEST(). TEST(a_sentence_that_the_test_proves), followed by a body, defines and registers a test. The program
 * runs its tests in the order of the source. This header includes cmocka.h and its requirements, and has the main
 * function.
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

/* cmocka 2 marks assert_in_range as deprecated, but cmocka 1 of Debian 12 and 13 has no replacement for it. */
#define CMOCKA_DISABLE_DEPRECATION_WARNINGS
#include <cmocka.h>

#define TEST_MAX 256 /* largest number of tests in a program */

typedef void test_function(void);
typedef test_function *test_fixture[2]; /* functions that are called before and after a test, or NULL */

/* cmocka gets a pointer to a test as its state. Therefore tests and their fixtures need no parameter. */
static struct test {
	test_function *run, *set_up, *tear_down;
} tests_to_run[TEST_MAX];
static struct CMUnitTest tests_of_program[TEST_MAX];
static size_t tests_of_program_count;

static inline void
test_run(void **state)
{
	((const struct test *)*state)->run();
}

static inline int
test_set_up(void **state)
{
	const struct test *test = *state;

	if (test->set_up)
		test->set_up();
	return 0;
}

static inline int
test_tear_down(void **state)
{
	const struct test *test = *state;

	if (test->tear_down)
		test->tear_down();
	return 0;
}

/*
 * Functions that run before and after each test of the file. They may make assertions. TEST_FIXTURE(set_up, tear_down)
 * sets both, and must stand before the first test.
 */
static const test_fixture fixture_of_program;
#define TEST_FIXTURE(set_up, tear_down) static const test_fixture fixture_of_program = { set_up, tear_down }

static inline void
test_add(const char *name, test_function *function, const test_fixture fixture)
{
	struct test *test = &tests_to_run[tests_of_program_count];

	if (tests_of_program_count == TEST_MAX)
		abort();
	*test = (struct test){ function, fixture[0], fixture[1] };
	tests_of_program[tests_of_program_count++] = (struct CMUnitTest){ .name = name, .test_func = test_run,
		.setup_func = test_set_up, .teardown_func = test_tear_down, .initial_state = test };
}

/* Registers FUNCTION as the test NAME. The optional arguments are its own set_up and tear_down. */
#define TEST_ADD(name, function, ...) \
	static void __attribute__((constructor)) \
	name##_is_added(void) \
	{ \
		const test_fixture own = { __VA_ARGS__ }; \
		test_add(#name, function, sizeof(#__VA_ARGS__) > 1 ? own : fixture_of_program); \
	}

/* TEST(name) runs with the fixture of the file. TEST(name, set_up, tear_down) runs with its own fixture. */
#define TEST(name, ...) \
	static void name(void); \
	TEST_ADD(name, name, __VA_ARGS__) \
	static void name(void)

int
main(void)
{
	/*
	 * cmocka_run_group_tests() is a macro that accepts only arrays with a constant size. Therefore this calls the
	 * function that the macro uses.
	 */
	return _cmocka_run_group_tests("tests", tests_of_program, tests_of_program_count, NULL, NULL);
}

#endif
