/* Options from the server that the application was loaded from. The test's own exchange replaces the network. */
#include "test.h"
#include "firmware_sim.h"
#include "uefi/network/network.h"
#include "uefi/network/server.h"

#define OPTIONS "http://10.0.2.2/baretick.cfg"
#define TAKEN   "Options are taken from " OPTIONS ", where this machine was booted from."
#define NONE    "No options are taken from " OPTIONS ", where this machine was booted from: "

static const struct server server = {
	.is_found = true, .mac = { 0x52, 0x54, 0, 0xab, 0xcd, 0xef }, .options = OPTIONS,
};

/* The answer of the server, or the reason why there is none. */
static struct {
	const char *body, *reason;
	unsigned status;
	char query[256];
} lab;

bool
network_run_exchange(struct exchange *exchange, const uint8_t *mac)
{
	assert_ptr_equal(exchange->address, server.options);
	assert_ptr_equal(mac, server.mac);
	assert_null(exchange->body);
	assert_int_equal(exchange->answer_size, EXCHANGE_ANSWER_SIZE);
	text_format(lab.query, sizeof(lab.query), "%s", exchange->query);
	text_format(exchange->reason, sizeof(exchange->reason), "%s", lab.reason ? lab.reason : "");
	exchange->status = lab.status;
	exchange->answer_length = strlen(lab.body);
	memcpy(exchange->answer, lab.body, exchange->answer_length);
	return !lab.reason;
}

TEST_FIXTURE(firmware_sim_reset, NULL);

TEST(each_answer_of_the_server_has_its_sentence)
{
	static const struct {
		const char *name;
		unsigned status;
		const char *body, *reason, *sentence;
		bool good;
	} rows[] = {
		{ "options", 200, "label=x", NULL, TAKEN, true },
		{ "empty options", 200, "", NULL, TAKEN, true },
		{ "not found", 404, "no such file", NULL, "", false },
		{ "a failed server", 500, "label=x", NULL, NONE "the server answered with status 500.", false },
		{ "moved", 301, "", NULL, NONE "the server answered with status 301.", false },
		{ "refused", 0, "", "the connection was refused", NONE "the connection was refused.", false },
		/* The status of an answer that was not complete does not count. */
		{ "cut off", 404, "", "the server did not answer in time",
		  NONE "the server did not answer in time.", false },
	};
	char buffer[16], sentence[SERVER_SENTENCE_SIZE];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t length = 0;

		print_message("%s\n", rows[i].name);
		lab.status = rows[i].status;
		lab.body = rows[i].body;
		lab.reason = rows[i].reason;
		assert_int_equal(server_read_options(&server, "rack 7", buffer, sizeof(buffer), &length, sentence), rows[i].good);
		assert_string_equal(sentence, rows[i].sentence);
		assert_int_equal(length, rows[i].good ? strlen(rows[i].body) : 0);
		assert_memory_equal(buffer, rows[i].body, length);
		assert_string_equal(lab.query, "mac=525400abcdef&serial=rack%207");
	}
}

TEST(of_options_that_are_too_long_the_length_is_told)
{
	char sentence[SERVER_SENTENCE_SIZE], *buffer = malloc(4);
	size_t length = 0;

	lab.status = 200;
	lab.reason = NULL;
	lab.body = "clocks=tsc";
	assert_true(server_read_options(&server, "", buffer, 4, &length, sentence));
	assert_int_equal(length, 10);
	assert_memory_equal(buffer, "cloc", 4);
	assert_string_equal(lab.query, "mac=525400abcdef");
	free(buffer);
}
