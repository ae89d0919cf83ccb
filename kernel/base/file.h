/* SPDX-License-Identifier: Apache-2.0 */
/* Whole files. */
#pragma once

/**
 * wfs_file_copy() - append all bytes of @from, from its position on, to @to
 * File systems that can share the bytes between both files do so; they are copies all the same.
 * Return: 0, -ENOSPC, -EIO, …
 */
int wfs_file_copy(int from, int to);
