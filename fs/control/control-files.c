/* SPDX-License-Identifier: Apache-2.0 */
/* The table of control files (fs/control/files.txt). */
#include "fs/control/control-impl.h"

const struct wfs_control_file wfs_control_files[] = {
#include "fs/control/control-rows.h"
};

const size_t wfs_control_file_count = WFS_ARRAY_COUNT(wfs_control_files);

const struct wfs_control_file wfs_control_artifacts = {
	.name = "artifacts",
	.verb = "invoke",
	.kind = WFS_CONTROL_CONTENT,
};
