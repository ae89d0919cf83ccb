/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/world/crashes.h"

int wfs_crashes_load(struct wfs_txn *txn, struct wfs_quarantine *quarantine)
{
	struct wfs_code_crash crash;
	size_t count = 0;
	int r = wfs_code_crash_next(txn, NULL, &crash);

	for (; !r; r = wfs_code_crash_next(txn, &crash.code, &crash)) {
		struct wfs_quarantine_row row = {
			.code = crash.code, .crashes = crash.crashes, .at_ns = crash.at_ns};

		if (++count > WFS_QUARANTINE_ROWS_MAX || crash.crashes == 0 ||
			crash.name.size > WFS_QUARANTINE_NAME_MAX)
			return -EIO;
		if (crash.name.size > 0)
			memcpy(row.name, crash.name.data, crash.name.size);
		r = wfs_quarantine_load(quarantine, &row);
		if (r)
			return r;
	}
	return r == -ENOENT ? 0 : r;
}

int wfs_crashes_keep(struct wfs_txn *txn, struct wfs_quarantine *quarantine, bool *ret_changed)
{
	struct wfs_quarantine_row row;
	int r = 0;

	while (!r && wfs_quarantine_changed(quarantine, &row)) {
		r = wfs_code_crash_put(txn,
			&(struct wfs_code_crash){
				.code = row.code,
				.crashes = row.crashes,
				.at_ns = row.at_ns,
				.name = wfs_bytes_text(row.name),
			});
		*ret_changed = true;
	}
	return wfs_trace(r);
}
