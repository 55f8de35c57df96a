/* Compares SHA-256 with published digests. Input in several pieces must give the same digest as in one piece. */
#include "test.h"
#include "base/sha256.h"

TEST(the_published_examples_have_their_digests)
{
	/* Examples of FIPS 180-4 ("abc" and the 448-bit message), and the empty message. */
	static const struct {
		const char *message, *digest;
	} examples[] = {
		{ "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
		{ "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
		{ "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
		  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
	};
	char hex[SHA256_HEX_SIZE];

	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		sha256_hex(examples[i].message, strlen(examples[i].message), hex);
		assert_string_equal(hex, examples[i].digest);
	}
}

TEST(a_million_times_the_letter_a_has_its_published_digest)
{
	static const uint8_t expected[SHA256_DIGEST_SIZE] = {
		0xcd, 0xc7, 0x6e, 0x5c, 0x99, 0x14, 0xfb, 0x92, 0x81, 0xa1, 0xc7, 0xe2, 0x84, 0xd7, 0x3e, 0x67,
		0xf1, 0x80, 0x9a, 0x48, 0xa4, 0x97, 0x20, 0x0e, 0x04, 0x6d, 0x39, 0xcc, 0xc7, 0x11, 0x2c, 0xd0,
	};
	uint8_t digest[SHA256_DIGEST_SIZE];
	struct sha256 sha256;
	char thousand[1000];

	memset(thousand, 'a', sizeof(thousand));
	sha256_init(&sha256);
	for (unsigned i = 0; i < 1000; i++)
		sha256_update(&sha256, thousand, sizeof(thousand));
	sha256_final(&sha256, digest);
	assert_memory_equal(digest, expected, sizeof(expected));
}

TEST(a_digest_does_not_depend_on_the_pieces_of_the_input)
{
	uint8_t message[200], whole[SHA256_DIGEST_SIZE], pieces[SHA256_DIGEST_SIZE];
	uint8_t before[SHA256_DIGEST_SIZE] = { 0 };
	struct sha256 sha256;

	for (size_t i = 0; i < sizeof(message); i++)
		message[i] = (uint8_t)(i * 7 + 1);
	for (size_t length = 0; length <= sizeof(message); length++) {
		sha256_init(&sha256);
		sha256_update(&sha256, message, length);
		sha256_final(&sha256, whole);
		assert_memory_not_equal(whole, before, sizeof(whole));
		memcpy(before, whole, sizeof(whole));
		for (size_t piece = 1; piece <= 65; piece += 8) {
			sha256_init(&sha256);
			for (size_t at = 0; at < length; at += piece)
				sha256_update(&sha256, message + at, at + piece < length ? piece : length - at);
			sha256_final(&sha256, pieces);
			assert_memory_equal(pieces, whole, sizeof(whole));
		}
	}
}
