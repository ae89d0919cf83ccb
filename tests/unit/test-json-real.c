/* SPDX-License-Identifier: Apache-2.0 */
/* Real numbers in shortest form. Vectors: RFC 8785 appendix B. */
#include "tests/fixture/test.h"

#include <math.h>

#include "kernel/base/json.h"

static void assert_real(uint64_t bits, const char *expected)
{
	WFS_AUTO_BUFFER struct wfs_buffer buffer = {0};
	double value = 0;

	memcpy(&value, &bits, sizeof(value));
	wfs_json_write_real(&buffer, value);
	assert_string_equal(wfs_buffer_text(&buffer), expected);
}

TEST(json_real_follows_the_vectors_of_the_standard)
{
	/* RFC 8785 appendix B */
	assert_real(UINT64_C(0x0000000000000000), "0");
	assert_real(UINT64_C(0x8000000000000000), "0");
	assert_real(UINT64_C(0x0000000000000001), "5e-324");
	assert_real(UINT64_C(0x8000000000000001), "-5e-324");
	assert_real(UINT64_C(0x7fefffffffffffff), "1.7976931348623157e+308");
	assert_real(UINT64_C(0xffefffffffffffff), "-1.7976931348623157e+308");
	assert_real(UINT64_C(0x4340000000000000), "9007199254740992");
	assert_real(UINT64_C(0xc340000000000000), "-9007199254740992");
	assert_real(UINT64_C(0x4430000000000000), "295147905179352830000");
	assert_real(UINT64_C(0x44b52d02c7e14af5), "9.999999999999997e+22");
	assert_real(UINT64_C(0x44b52d02c7e14af6), "1e+23");
	assert_real(UINT64_C(0x44b52d02c7e14af7), "1.0000000000000001e+23");
	assert_real(UINT64_C(0x444b1ae4d6e2ef4e), "999999999999999700000");
	assert_real(UINT64_C(0x444b1ae4d6e2ef4f), "999999999999999900000");
	assert_real(UINT64_C(0x444b1ae4d6e2ef50), "1e+21");
	assert_real(UINT64_C(0x3eb0c6f7a0b5ed8c), "9.999999999999997e-7");
	assert_real(UINT64_C(0x3eb0c6f7a0b5ed8d), "0.000001");
	assert_real(UINT64_C(0x41b3de4355555553), "333333333.3333332");
	assert_real(UINT64_C(0x41b3de4355555554), "333333333.33333325");
	assert_real(UINT64_C(0x41b3de4355555555), "333333333.3333333");
	assert_real(UINT64_C(0x41b3de4355555556), "333333333.3333334");
	assert_real(UINT64_C(0x41b3de4355555557), "333333333.33333343");
	assert_real(UINT64_C(0xbecbf647612f3696), "-0.0000033333333333333333");
	assert_real(UINT64_C(0x43143ff3c1cb0959), "1424953923781206.2");
}

TEST(json_real_is_shortest_at_powers_of_two)
{
	WFS_AUTO_BUFFER struct wfs_buffer buffer = {0};

	/* The 16-digit rounding of 2^-44 reads back as its neighbour below. */
	wfs_json_write_real(&buffer, 0x1p-44);
	wfs_buffer_append_byte(&buffer, ' ');
	wfs_json_write_real(&buffer, 0x1p-1022);
	wfs_buffer_append_byte(&buffer, ' ');
	wfs_json_write_real(&buffer, 0x1p-24);

	assert_string_equal(wfs_buffer_text(&buffer),
		"5.684341886080802e-14 2.2250738585072014e-308 5.960464477539063e-8");
}

TEST(json_real_reads_back_as_itself)
{
	uint64_t bits = UINT64_C(0x9e3779b97f4a7c15);

	for (int i = 0; i < 20000; i++) {
		WFS_AUTO_BUFFER struct wfs_buffer buffer = {0};
		double value = 0;

		bits ^= bits << 13;
		bits ^= bits >> 7;
		bits ^= bits << 17;
		memcpy(&value, &bits, sizeof(value));
		if (!isfinite(value))
			continue;
		wfs_json_write_real(&buffer, value);
		if (strtod(wfs_buffer_text(&buffer), NULL) != value)
			fail_msg("%a became %s", value, wfs_buffer_text(&buffer));
	}
}

TEST(json_real_canonical_tells_reals_integers_and_neither_apart)
{
	int64_t integer = 42;

	assert_int_equal(wfs_json_real_canonical(0.5, &integer), 1);
	assert_int_equal(wfs_json_real_canonical(1e21, &integer), 1);
	assert_int_equal(wfs_json_real_canonical(0x1p63, &integer), 0);
	assert_int_equal(wfs_json_real_canonical(-0x1p63, &integer), 0);
	assert_int_equal(wfs_json_real_canonical(nextafter(1e21, 0), &integer), 0);
	assert_int_equal(wfs_json_real_canonical(NAN, &integer), 0);
	assert_int_equal(wfs_json_real_canonical(-INFINITY, &integer), 0);
	assert_int_equal(integer, 42);

	assert_int_equal(wfs_json_real_canonical(-0.0, &integer), 2);
	assert_int_equal(integer, 0);
	assert_int_equal(wfs_json_real_canonical(nextafter(-0x1p63, 0), &integer), 2);
	assert_true(integer == INT64_C(-9223372036854774784));
}
