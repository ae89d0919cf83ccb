/* SPDX-License-Identifier: Apache-2.0 */
/* Room in front of the functions of worldfs-code, so that each of them gets another address: the linker puts this section first. */
__asm__(".section .text.unlikely,\"ax\",@progbits\n"
	".space 0x2730\n");
