/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/value/output.h"

void wfs_turn_cut(struct wfs_buffer *output)
{
	const size_t all = output->size;
	size_t size = WFS_TURN_OUTPUT_MAX;

	if (all <= size)
		return;
	while (size > 0 && ((unsigned char)output->data[size] & 0xc0) == 0x80)
		size--;
	output->size = size;
	wfs_buffer_printf(output, "\n[cut: the first %zu of %zu bytes]", size, all);
}
