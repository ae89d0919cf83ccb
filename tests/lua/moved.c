/* SPDX-License-Identifier: Apache-2.0 */
/* Space before the functions of worldfs-code, which gives each of them another address: the
 * linker puts this section first. */
__asm__(".section .text.unlikely,\"ax\",@progbits\n"
	".space 0x2730\n");
