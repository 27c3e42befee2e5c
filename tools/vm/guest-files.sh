# SPDX-License-Identifier: GPL-2.0
# Files of this machine for the guest, with the shared libraries and interpreters they need.
# shellcheck shell=bash

ELF_FILES=()
LIBRARY_DIRS=

guest_copy() {
	local to=$RUN_ROOT$2
	[[ $2 == /* ]] || die "'$2' is not an absolute path of the guest"
	mkdir -p "$(dirname "$to")"
	cp -L --preserve=mode "$1" "$to"
}

# Remembers what the program needs, to be looked up for all of them at once.
guest_note_needs() {
	local magic='' line interpreter
	LC_ALL=C IFS= read -r -N 4 magic <"$1" 2>/dev/null || true
	if [[ $magic == $'\x7fELF' ]]; then
		ELF_FILES+=("$1")
	elif [[ ${magic:0:2} == '#!' ]]; then
		IFS= read -r line <"$1" || true
		# shellcheck disable=SC2086 # words on purpose
		set -- ${line#\#!}
		interpreter=${1:-}
		# "/usr/bin/env bash" and "/usr/bin/env -S bash -e" mean the one on PATH
		if [[ ${interpreter##*/} == env ]]; then
			shift
			[[ ${1:-} != -S ]] || shift
			interpreter=/bin/${1:-sh}
		fi
		[[ ${interpreter##*/} == sh || -e $RUN_ROOT$interpreter ]] && return
		if [[ -f $interpreter && ! -d $RUN_ROOT$interpreter ]]; then
			# The guest's /usr/bin is a link to /bin.
			guest_add "$interpreter" "/bin/${interpreter##*/}"
		fi
	fi
	return 0
}

guest_add() {
	[[ ! -e $RUN_ROOT$2 ]] || [[ -d $RUN_ROOT$2 ]] || rm -f "$RUN_ROOT$2"
	guest_copy "$1" "$2"
	guest_note_needs "$1"
}

guest_add_dir() {
	local file
	mkdir -p "$RUN_ROOT$2"
	cp -r --preserve=mode,links "$1/." "$RUN_ROOT$2/"
	while IFS= read -r -d '' file; do
		guest_note_needs "$file"
	done < <(find "$1/" -type f -print0)
}

guest_library() {
	local file=$1
	[[ -e $RUN_ROOT$file ]] || guest_copy "$file" "$file"
	case ${file%/*} in
	/lib64 | /lib/*-linux-gnu | /usr/lib/*-linux-gnu | /lib | /usr/lib) return ;;
	esac
	# Elsewhere the loader looks only if told so; it skips those of another word size.
	[[ :$LIBRARY_DIRS: == *:${file%/*}:* ]] || LIBRARY_DIRS+=${LIBRARY_DIRS:+:}${file%/*}
}

guest_libraries() {
	local elf line out
	for elf in "${ELF_FILES[@]}"; do
		if ! out=$(ldd "$(realpath "$elf")" 2>&1); then
			# A static one, an object file, or a program whose loader is not installed.
			[[ $(file -bL "$elf") != *'dynamically linked, interpreter'* ]] ||
				die "$elf: its shared libraries are not installed here ($out)"
			continue
		fi
		while IFS= read -r line; do
			[[ $line != *'not found'* ]] || die "$elf: $line"
			if [[ $line =~ (^|[[:space:]])(/[^[:space:]]+)\ \(0x ]]; then
				guest_library "${BASH_REMATCH[2]}"
			fi
		done <<<"$out"
	done
	# The caller's own directories go first, as here.
	[[ -z $LIBRARY_DIRS ]] || OPT_ENV=("LD_LIBRARY_PATH=$LIBRARY_DIRS" "${OPT_ENV[@]}")
}
