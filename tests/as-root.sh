#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by tests that need root: repeats the test by sudo if its user is another one. Root's files of
# trust and keys are beside those of that user.
if [ "$(id -u)" != 0 ]; then
	sudo -n true 2>/dev/null || { echo "# skipped: needs root, or sudo without a password"; exit 77; }
	mapfile -d '' -t variables < <(env -0)
	exec sudo -n env -i "${variables[@]}" "XDG_STATE_HOME=${XDG_STATE_HOME-/root/.local/state}-root" \
		"XDG_CONFIG_HOME=${XDG_CONFIG_HOME-/root/.config}-root" "$0" "$@"
fi
