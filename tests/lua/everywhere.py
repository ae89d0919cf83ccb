# SPDX-License-Identifier: Apache-2.0
"""Things that must not change the results of code: another processor, as the C library sees it, and
load."""
# glibc 2.36 chooses its functions by these variables.
LESS = ("env", "GLIBC_TUNABLES=glibc.cpu.hwcaps=-FMA,-FMA4,-AVX,-AVX2,-AVX512F,-AVX512VL,-SSE4_1,-SSE4_2,-SSSE3,-ERMS,"
        "-AVX_Fast_Unaligned_Load")
BUSY = "x = 1\nwhile True: x = x * 7 % 1000003"
