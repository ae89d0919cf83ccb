# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced first by the mount tests. Gives a scratch directory with a world and a mount point, which
# are removed however the test ends, and a watchdog. Prints `ok - …` for each check; the first check
# that fails ends the test with status 1.
#
# Before it sources this file, the caller may set `seconds` (of the watchdog, 100), and `needs_root`: then
# an ordinary user's test is repeated by sudo. SLOWDOWN in the environment says how many times slower the
# program is than in a release build.
set -euo pipefail

: "${WORLDFS:?the program under test}" "${SOURCE_ROOT:?the project directory}"
: "${SLOWDOWN:=1}"
[ -e /dev/fuse ] || { echo "# skipped: no /dev/fuse"; exit 77; }
# shellcheck source=tests/as-root.sh
if [ -n "${needs_root-}" ]; then . "$SOURCE_ROOT/tests/as-root.sh"; fi
if [ -z "${WATCHDOG-}" ]; then
	WATCHDOG=1 exec timeout -k 10 "$((${seconds:-100} * SLOWDOWN))" "$0" "$@"
fi

scratch=$(mktemp -d) # on its own: `cd ""` stays where it is, and that is removed at the end
scratch=$(cd "$scratch" && pwd -P)
world=$scratch/world
tree=$scratch/tree
ctl=$tree/ctl
mkdir "$tree"
# The list of trusted worlds is kept here, and not in the user's own directories.
export XDG_STATE_HOME=$scratch/user-state XDG_CONFIG_HOME=$scratch/user-config

# Prints the pid of the process that owns the world; fails if no process does.
owner_pid() {
	"$WORLDFS" -w "$world" status --json 2>/dev/null | grep -o '"pid":[0-9]*' | cut -d: -f2 | head -1
}

# What a test ends itself: it may define this again.
at_end() {
	:
}

cleanup() {
	local status=$? pid
	trap - EXIT
	set +e
	at_end
	# Works even if a daemon hangs: nothing here may wait for it.
	pid=$(timeout 5 "$WORLDFS" -w "$world" status --json 2>/dev/null | grep -o '"pid":[0-9]*' | cut -d: -f2 || true)
	while read -r point; do
		umount -l "$point" 2>/dev/null || fusermount3 -uzq -- "$point" 2>/dev/null || true
	done < <(mounts)
	if [ -n "$pid" ]; then
		kill "$pid" 2>/dev/null || true
		for _ in {1..100}; do
			kill -0 "$pid" 2>/dev/null || break
			sleep 0.05
		done
		kill -9 "$pid" 2>/dev/null || true
	fi
	chmod -R u+w "$scratch" 2>/dev/null || true # copies of a world are read-only
	rm -rf "$scratch"
	exit "$status"
}
trap cleanup EXIT
trap 'exit 124' TERM INT

ok() {
	echo "ok - $*"
}

fail() {
	echo "not ok - $*"
	exit 1
}

# check WHAT COMMAND…: the command must succeed
check() {
	local what=$1
	shift
	"$@" || fail "$what ('$*' gives $?)"
	ok "$what"
}

# refused WHAT COMMAND…: the command must fail; its messages are in $scratch/stderr
refused() {
	local what=$1
	shift
	if "$@" 2>"$scratch/stderr"; then
		fail "$what ('$*' succeeds)"
	fi
	ok "$what"
}

# is WHAT EXPECTED ACTUAL
is() {
	[ "$2" = "$3" ] || fail "$1: expected '$2', got '$3'"
	ok "$1"
}

# matches WHAT EXTENDED_PATTERN ACTUAL
matches() {
	[[ $3 =~ $2 ]] || fail "$1: expected '$2', got '$3'"
	ok "$1"
}

# wait_for WHAT COMMAND…: waits until the command succeeds, at most 20 s
wait_for() {
	local what=$1 tries
	shift
	for ((tries = 0; tries < 400 * SLOWDOWN; tries++)); do
		if "$@"; then
			ok "$what"
			return
		fi
		sleep 0.05
	done
	fail "$what (waited $((20 * SLOWDOWN)) s)"
}

# make_world [NAME]: makes a world from tests/data/worlds/NAME
make_world() {
	"$WORLDFS" init "$world" --from "$SOURCE_ROOT/tests/data/worlds/${1:-counter}" >"$scratch/init" ||
		fail "init refused"
	trust_world
}

# Has the user agree to host.json as it is now.
trust_world() {
	"$WORLDFS" -w "${1:-$world}" trust --yes >/dev/null 2>&1 || fail "trust refused"
}

# mount_world [OPTION…]
mount_world() {
	"$WORLDFS" -w "$world" mount "$tree" "$@" >"$scratch/mount" || fail "mount refused: status $?"
}

# kill_owner: kills the owner process of a mount, and waits until the processes beside it have ended:
# until then they may take a new mount, to which Linux gives the number of the old one, for that.
kill_owner() {
	kill -9 "$(owner_pid)"
	wait_for "the process is killed" nobody_owns
	wait_for "and those beside it have ended" no_keeper
}
no_keeper() {
	! pgrep -f -- "-w $world mount" >/dev/null
}

umount_world() {
	"$WORLDFS" umount "$tree" || fail "umount refused"
}

# The directories that contain the control connections of this user's mounts.
run_directory() {
	if [ "$(id -u)" = 0 ]; then
		echo /run/worldfs
	elif [ -n "${XDG_RUNTIME_DIR-}" ]; then
		echo "$XDG_RUNTIME_DIR/worldfs"
	else
		echo "/tmp/worldfs-$(id -u)"
	fi
}

# Where the control connection of the mount is mounted; kept while the mount is up.
ctl_point=
remember_ctl() {
	ctl_point=$(readlink "$tree/ctl" || echo "$tree/ctl")
}

# Mount points of this test, innermost first.
mounts() {
	awk -v tree="$tree" -v ctl="$ctl_point" \
		'$5 == tree || index($5, tree "/") == 1 || (ctl != "" && $5 == ctl) { print $5 }' \
		/proc/self/mountinfo | sort -r
}

nothing_mounted() {
	[ -z "$(mounts)" ] && { [ -z "$ctl_point" ] || [ ! -e "$(dirname "$ctl_point")" ] ||
		[ "$ctl_point" = "$tree/ctl" ]; }
}

nobody_owns() {
	! owner_pid >/dev/null
}

# scaled COUNT: the part of COUNT that a slow build does in the time of a fast one
scaled() {
	echo $(($1 / SLOWDOWN))
}

# put TEXT FILE: writes one line
put() {
	echo "$1" >"$2"
}

# add KEY BY [PAD]: prints an event of the world `counter`, one line
add() {
	printf '{"schema":"test/Add@1","value":{"key":"%s","by":%s%s}}\n' "$1" "$2" "${3:+,\"pad\":\"$3\"}"
}

# height: prints the number of records in the journal, read through the mount
height() {
	grep -o '"journal_height":[0-9]*' "$tree/journal/head" | cut -d: -f2
}
