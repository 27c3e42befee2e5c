# SPDX-License-Identifier: GPL-2.0
# Debian packages: what is missing, installing it, fetching one without installing it.
# shellcheck shell=bash

say() { printf 'setup: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

# Prints those of the named packages that are not installed.
apt_missing() {
	local have
	have=" $(dpkg-query -W -f '${db:Status-Status}=${Package} ' "$@" 2>/dev/null || true) "
	local p
	for p in "$@"; do
		[[ $have == *" installed=$p "* ]] || printf '%s\n' "$p"
	done
}

apt_version() {
	dpkg-query -W -f '${db:Status-Status} ${Version}' "$1" 2>/dev/null | sed -n 's/^installed //p'
}

# Sets AS_ROOT to the prefix that makes a command run as root.
apt_need_root() {
	AS_ROOT=()
	[[ $EUID -eq 0 ]] && return
	if command -v sudo >/dev/null; then
		AS_ROOT=(sudo)
	else
		die "root is needed for: apt-get install --no-install-recommends $*"
	fi
}

# Package lists age, and a stale one names versions that are gone: refresh before the first use.
APT_UPDATED=
apt_update() {
	[[ -z $APT_UPDATED ]] || return 0
	APT_UPDATED=1
	say "apt-get update"
	# A list of somebody else's that cannot be had must not stop us: what we need may be there.
	"${AS_ROOT[@]}" apt-get -qq -o Acquire::Retries=3 update >&2 ||
		say "apt-get update had errors; going on with the lists there are"
}

apt_ensure() {
	local missing try
	mapfile -t missing < <(apt_missing "$@" | sort -u)
	[[ ${#missing[@]} -gt 0 ]] || return 0
	apt_need_root "${missing[@]}"
	apt_update
	for try in 1 2 3; do
		say "apt-get install ${missing[*]}"
		if "${AS_ROOT[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -y \
			-o Acquire::Retries=3 -o DPkg::Lock::Timeout=300 \
			-o Dpkg::Use-Pty=0 install --no-install-recommends \
			"${missing[@]}" </dev/null >&2; then
			return 0
		fi
		[[ $try -eq 3 ]] || sleep $((try * 5))
	done
	die "could not install: ${missing[*]}"
}

# apt_fetch PACKAGE VERSION DIR: downloads the .deb into DIR and prints its path. Nothing is installed.
apt_fetch() {
	local package=$1 version=$2 dir=$3 try
	mkdir -p "$dir"
	for try in 1 2 3; do
		say "downloading $package $version"
		if (cd "$dir" && apt-get -qq -o Acquire::Retries=3 -o APT::Sandbox::User=root \
			download "$package=$version") >&2; then
			find "$dir" -name "${package}_*.deb" -print -quit
			return 0
		fi
		# The lists may be missing or too old to know this version.
		apt_need_root update
		APT_UPDATED=
		apt_update
	done
	die "could not download $package $version"
}
