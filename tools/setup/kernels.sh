# SPDX-License-Identifier: GPL-2.0
# Kernels by name: the headers to build against, the image and modules to boot, the source to read.
# shellcheck shell=bash disable=SC2153

kernel_known() {
	[[ -n ${KERNEL_HEADERS[$1]:-} ]] || die "no kernel named '$1'; there are: ${!KERNEL_HEADERS[*]}"
}

# Sets RELEASE and VERSION of the headers that the name's metapackage leads to now.
# A newer ABI gives another release, so what is cached under the old one is simply not asked for.
kernel_resolve() {
	if [[ -n ${KERNEL_FOLDER[$1]:-} ]]; then
		suite_resolve "$1"
		return
	fi
	local meta=${KERNEL_HEADERS[$1]} depends
	apt_ensure "$meta"
	depends=$(dpkg-query -W -f '${Depends}' "$meta")
	RELEASE=$(grep -o 'linux-headers-[0-9][^ ,]*' <<<"$depends" | head -n 1)
	RELEASE=${RELEASE#linux-headers-}
	[[ -n $RELEASE ]] || die "$meta depends on no linux-headers-RELEASE: $depends"
	VERSION=$(apt_version "linux-headers-$RELEASE")
	[[ -n $VERSION ]] || die "linux-headers-$RELEASE is not installed properly"
}

kernel_kdir() {
	kernel_resolve "$1"
	local dir=/usr/src/linux-headers-$RELEASE folder=${KERNEL_FOLDER[$1]:-}
	# A folder's headers are at this path for those who are in it, and only they can use them.
	[[ -f ${folder:+$CACHE/suites/$folder}$dir/Module.symvers ]] || die "$dir has no Module.symvers"
	printf '%s\n' "$dir"
}

# kernel_unpack ROOT: the image package's files, from its installation here or from the package.
kernel_unpack() {
	local root=$1 package
	for package in "linux-image-$RELEASE" "linux-image-$RELEASE-unsigned"; do
		if [[ $(apt_version "$package") == "$VERSION" && -r /boot/vmlinuz-$RELEASE &&
			-d /lib/modules/$RELEASE/kernel ]]; then
			mkdir -p "$root/boot" "$root/lib/modules"
			cp "/boot/vmlinuz-$RELEASE" "/boot/config-$RELEASE" "$root/boot/"
			cp -r "/lib/modules/$RELEASE" "$root/lib/modules/"
			return
		fi
	done
	dpkg-deb -x "$(apt_fetch "linux-image-$RELEASE" "$VERSION" "$root.deb")" "$root"
}

# The image must be the headers' very version: the same ABI name can have another build behind it.
kernel_image() {
	kernel_resolve "$1"
	local dir=$CACHE/kernels/${RELEASE}_$VERSION
	if [[ ! -f $dir/vmlinuz ]]; then
		local tmp root file
		mkdir -p "$CACHE/kernels"
		tmp=$(mktemp -d "$CACHE/kernels/.new.XXXXXX")
		# shellcheck disable=SC2064 # the name of now
		trap "rm -rf '$tmp'" EXIT
		if [[ -n ${KERNEL_FOLDER[$1]:-} ]]; then
			suite_image "$1" "$tmp/image"
		else
			kernel_unpack "$tmp/image"
		fi
		say "caching kernel $RELEASE ($VERSION)"
		mkdir "$tmp/new"
		root=$tmp/image/usr/lib/modules/$RELEASE
		# Where the image and its config are has changed over the years.
		for file in "$root/vmlinuz" "$tmp/image/boot/vmlinuz-$RELEASE"; do
			[[ ! -f $file ]] || cp "$file" "$tmp/new/vmlinuz"
		done
		for file in "$root/config" "$tmp/image/boot/config-$RELEASE"; do
			[[ ! -f $file ]] || cp "$file" "$tmp/new/config"
		done
		[[ -d $root/kernel ]] || root=$tmp/image/lib/modules/$RELEASE
		cp -r "$root/kernel" "$tmp/new/modules"
		printf '%s\n' "$RELEASE" >"$tmp/new/release"
		chmod 644 "$tmp/new/vmlinuz"
		# Renaming last makes an interrupted run leave nothing that looks complete.
		mv -T "$tmp/new" "$dir"
		rm -rf "$tmp"
		trap - EXIT
	fi
	printf '%s\n' "$dir"
}

# source_tarball PACKAGE VERSION: prints a tarball of the source, from the installed package or the cache.
source_tarball() {
	local package=$1 version=$2 tar=$CACHE/source/$1_$2.tar.xz
	if [[ $(apt_version "$package") == "$version" && -r /usr/src/$package.tar.xz ]]; then
		tar=/usr/src/$package.tar.xz
	elif [[ ! -f $tar ]]; then
		local tmp deb
		mkdir -p "$CACHE/source"
		tmp=$(mktemp -d "$CACHE/source/.new.XXXXXX")
		deb=$(apt_fetch "$package" "$version" "$tmp")
		dpkg-deb --fsys-tarfile "$deb" | tar -xO "./usr/src/$package.tar.xz" >"$tmp/tar.xz"
		mv "$tmp/tar.xz" "$tar"
		rm -rf "$tmp"
	fi
	printf '%s\n' "$tar"
}

# kernel_source NAME subset|full
kernel_source() {
	kernel_resolve "$1"
	local package=${KERNEL_SOURCE[$1]:-} what=$2
	[[ -n $package ]] || die "no source package is known for $1"
	local dir=$CACHE/source/${package}_$VERSION.$what
	if [[ ! -d $dir ]]; then
		apt_ensure xz-utils
		local tar tmp members=()
		tar=$(source_tarball "$package" "$VERSION")
		tmp=$(mktemp -d "$CACHE/source/.new.XXXXXX")
		say "unpacking $package $VERSION ($what)"
		if [[ $what == subset ]]; then
			members=("${SOURCE_SUBSET[@]/#/$package/}")
			# An older source lacks some of them; what is there is what can be had.
			tar -xJf "$tar" -C "$tmp" "${members[@]}" 2>"$tmp/err" ||
				grep -v 'Not found in archive\|Exiting with failure' "$tmp/err" >&2 || true
		else
			tar -xJf "$tar" -C "$tmp"
		fi
		[[ -f $tmp/$package/Makefile ]] || die "$tar did not unpack"
		mv -T "$tmp/$package" "$dir"
		rm -rf "$tmp"
	fi
	printf '%s\n' "$dir"
}
