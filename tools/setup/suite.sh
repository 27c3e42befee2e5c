# SPDX-License-Identifier: GPL-2.0
# A newer Debian release in a folder, for kernels whose headers want its compiler.
# shellcheck shell=bash disable=SC2034,SC2153 # variables from and for kernels.sh

# A folder is entered with its own mounts, which go away with the last process in it.
# shellcheck disable=SC2016 # expanded by the inner shell
SUITE_ENTER='
set -e
root=$1 top=$2 cache=$3 cwd=$4
shift 4
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/dev/shm"
mount -t tmpfs tmpfs "$root/tmp"
for dir in "$top" "$cache"; do
	mkdir -p "$root$dir"
	mount --bind "$dir" "$root$dir"
done
cp /etc/resolv.conf "$root/etc/resolv.conf" 2>/dev/null || true
cd "$root$cwd" 2>/dev/null || cd "$root$top"
exec chroot "$root" env -C "${PWD#"$root"}" LC_ALL=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"
'

# suite_in FOLDER COMMAND...: runs it there; the project and the cache are at their own paths.
suite_in() {
	local root=$CACHE/suites/$1
	shift
	apt_need_root
	"${AS_ROOT[@]}" unshare --mount bash -c "$SUITE_ENTER" - "$root" "$TOP" "$CACHE" "$PWD" "$@"
}

# The mirror that this system's own packages come from has the other releases too.
suite_mirror() {
	# shellcheck disable=SC2016 # apt's own variables
	apt-get indextargets --format '$(SITE) $(CODENAME) $(CREATED_BY)' |
		sed -n "s/ $(. /etc/os-release && echo "$VERSION_CODENAME") Packages\$//p" | head -n 1
}

# suite_make FOLDER SUITE: the folder, with SUITE's packages to be had too. Once made it stays as it
# is; remove it to have the suite's newer kernel.
suite_make() {
	local root=$CACHE/suites/$1 mirror new
	[[ ! -d $root ]] || return 0
	apt_need_root debootstrap
	apt_ensure debootstrap
	mirror=$(suite_mirror)
	[[ -n $mirror ]] || die "apt knows no mirror of this Debian release"
	mkdir -p "$CACHE/suites"
	new=$root.new
	"${AS_ROOT[@]}" rm -rf "$new"
	say "debootstrap $1"
	"${AS_ROOT[@]}" debootstrap --variant=minbase "$1" "$new" "$mirror" >"$CACHE/suites/$1.log" 2>&1 ||
		die "debootstrap $1 failed; see $CACHE/suites/$1.log"
	printf 'deb %s %s main\n' "$mirror" "$1" "$mirror" "$2" |
		"${AS_ROOT[@]}" tee "$new/etc/apt/sources.list" >/dev/null
	# Nothing may start in there, and what apt was told here about its mirror holds there too.
	printf '#!/bin/sh\nexit 101\n' | "${AS_ROOT[@]}" tee "$new/usr/sbin/policy-rc.d" >/dev/null
	"${AS_ROOT[@]}" chmod 755 "$new/usr/sbin/policy-rc.d"
	apt-config dump | grep -E '^Acquire::(Check|http|https|Retries)' |
		"${AS_ROOT[@]}" tee "$new/etc/apt/apt.conf.d/90host" >/dev/null
	"${AS_ROOT[@]}" mv -T "$new" "$root"
}

suite_query() {
	dpkg-query --admindir="$CACHE/suites/$1/var/lib/dpkg" -W -f "$2" "$3" 2>/dev/null || true
}

# suite_resolve NAME: as kernel_resolve, in the folder.
suite_resolve() {
	local folder=${KERNEL_FOLDER[$1]} meta=${KERNEL_HEADERS[$1]} suite=${KERNEL_SUITE[$1]} words
	suite_make "$folder" "$suite"
	if [[ $(suite_query "$folder" '${db:Status-Status}' "$meta") != installed ]]; then
		say "installing $meta of $suite in the folder $folder"
		read -ra words <<<"$FOLDER_PACKAGES"
		suite_in "$folder" sh -ec 'suite=$1; shift
			export DEBIAN_FRONTEND=noninteractive
			apt-get -qq -o Acquire::Retries=3 update
			apt-get -qq -y -o Acquire::Retries=3 -o Dpkg::Use-Pty=0 install \
				--no-install-recommends -t "$suite" "$@"' \
			sh "$suite" "$meta" "${words[@]}" </dev/null >"$CACHE/suites/$folder.log" 2>&1 ||
			die "installing $meta failed; see $CACHE/suites/$folder.log"
	fi
	RELEASE=$(suite_query "$folder" '${Depends}' "$meta" | grep -o 'linux-headers-[0-9][^ ,]*' | head -n 1)
	RELEASE=${RELEASE#linux-headers-}
	[[ -n $RELEASE ]] || die "$meta of $suite depends on no linux-headers-RELEASE"
	VERSION=$(suite_query "$folder" '${Version}' "linux-headers-$RELEASE")
}

# suite_image NAME ROOT: unpacks the image and modules into ROOT as usr/lib/modules/RELEASE.
suite_image() {
	local folder=${KERNEL_FOLDER[$1]} root=$2 deb part
	# An image is split in two in the newer packaging.
	for part in "linux-binary-$RELEASE" "linux-modules-$RELEASE"; do
		say "downloading $part"
		suite_in "$folder" sh -ec 'cd "$1"; apt-get -qq -o Acquire::Retries=3 \
			-o APT::Sandbox::User=root download "$2"; chown "$3" ./*.deb' \
			sh "${root%/*}" "$part" "$EUID" >&2 || die "could not download $part"
		deb=$(find "${root%/*}" -maxdepth 1 -name "${part}_*.deb" -print -quit)
		dpkg-deb -x "$deb" "$root"
	done
	# The config is in none of them but comes with the headers.
	cp "$CACHE/suites/$folder/usr/lib/modules/$RELEASE/config" "$root/usr/lib/modules/$RELEASE/" ||
		die "no config of $RELEASE"
}
