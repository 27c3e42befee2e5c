# SPDX-License-Identifier: GPL-2.0
# What the emulated machine gets: an ext4 image of each folder with Wine, and our programs.
# shellcheck shell=bash disable=SC2016,SC2153 # expanded by the inner shells; set by check

# image_make DIR IMAGE SPARE: an ext4 image of DIR with SPARE MiB left, and an eighth.
image_make() {
	local size
	size=$("${AS_ROOT[@]}" du -sm --apparent-size "$1" | cut -f 1)
	rm -f "$2"
	"${AS_ROOT[@]}" /sbin/mke2fs -q -F -t ext4 -O ^has_journal -d "$1" "$2" \
		"$((size + size / 8 + $3))M" >/dev/null
	[[ $EUID -eq 0 ]] || "${AS_ROOT[@]}" chown "$EUID" "$2"
}

# wine_image SUITE: an image of the folder, made anew when the folder was.
wine_image() {
	local suite=$1 image=$WINE/$1.img
	[[ ! -e $image || $WINE/$suite.ready -nt $image ]] || return 0
	say "making an image of the folder $suite"
	image_make "$WINE/suites/$suite" "$image.new" 400
	mv "$image.new" "$image"
}

# wine_job IMAGE: an image of guest.sh, our Windows programs, Wine's test and the patched ntdll. The
# folder has a /tmp of its own, so they are gathered in the cache.
wine_job() {
	local dir=$WINE/job
	rm -rf "$dir"
	mkdir -p "$dir"
	suite_in "$WINE_BUILD_FOLDER" sh -ec 'cd "$1/windows"
		for program in *.c; do
			x86_64-w64-mingw32-gcc -O2 -s -Wall -Wextra -Werror -o "$2/${program%.c}.exe" \
				"$program" -lpsapi
		done' sh "$HERE" "$dir"
	cp "$WINE_SOURCE/dlls/psapi/tests/x86_64-windows/psapi_test.exe" "$WINE_NTDLL" "$HERE/guest.sh" "$dir/"
	image_make "$dir" "$1" 8
}
