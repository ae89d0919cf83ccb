# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Completion of worldfs(1) in bash. The program itself offers the words that may come next.

_worldfs() {
	local words=() lines=() line current tail mark candidate
	# Not COMP_WORDS: bash cuts those at `:`, `=` and `@` as well.
	line=${COMP_LINE:0:COMP_POINT}
	# shellcheck disable=SC2162 # a backslash keeps a space in its word
	read -a words <<<"$line"
	case $line in
	*[!\\][[:space:]]) words+=('') ;;
	esac
	current=${words[-1]}
	# The part of the word that bash replaces.
	tail=$current
	for mark in : = @; do
		case $COMP_WORDBREAKS in
		*"$mark"*) tail=${tail##*"$mark"} ;;
		esac
	done
	COMPREPLY=()
	mapfile -t lines < <("${words[0]}" __complete "${words[@]:1}" 2>/dev/null)
	for line in "${lines[@]}"; do
		candidate=${line%%$'\t'*}
		case $candidate in
		:directories | :files)
			compopt -o filenames
			if [ "$candidate" = :files ]; then mark=-f; else mark=-d; fi
			mapfile -t COMPREPLY < <(compgen "$mark" -- "$tail")
			;;
		*)
			# A path may continue.
			case $candidate in */ | *=) compopt -o nospace ;; esac
			printf -v candidate %q "${candidate#"${current%"$tail"}"}"
			COMPREPLY+=("$candidate")
			;;
		esac
	done
}

complete -F _worldfs worldfs
