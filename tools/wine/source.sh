# SPDX-License-Identifier: GPL-2.0
# Wine's source as Debian has it, made ready to build single files of it.
# shellcheck shell=bash disable=SC2016,SC2153 # expanded by the inner shells; set by check

# Only one suite's sources are in the lists, so that no version has to be named.
WINE_FETCH='
cd "$1"
apt-get -qq -o Acquire::Retries=3 -o APT::Sandbox::User=root --only-source source wine
mv wine-*/ wine
'

# Debian's source lacks what can be generated. All but ntdll and one test goes without libraries.
WINE_CONFIGURE='
uapi=$1
cd "$2"
tools/make_unicode
tools/make_requests
tools/make_specfiles
(cd dlls/dsound && ./make_fir)
(cd dlls/opengl32 && ./make_opengl)
(cd dlls/winevulkan && ./make_vulkan -x /usr/share/vulkan/registry/vk.xml \
	-X /usr/share/vulkan/registry/video.xml)
sed -n "s/^\t\(ln -sf [^ ]* [^ ]*\)$/\1/p" debian/rules >links.sh
sh -e links.sh
autoreconf -f
arch=x86_64-linux-gnu
set -- --enable-win64 --with-mingw --libdir="/usr/lib/$arch/wine" --bindir=/usr/lib/wine \
	--datarootdir=/usr/share/wine "CPPFLAGS=-I$uapi" --without-x
for part in $(./configure --help | sed -n "s/^ *--without-\([a-z0-9-]*\) .*/\1/p"); do
	[ "$part" = mingw ] || set -- "$@" "--without-$part"
done
./configure "$@"
make -j2 dlls/ntdll/ntdll.so dlls/psapi/tests/x86_64-windows/psapi_test.exe
'

WINE_PATCHED='
python3 "$1" "$2"
cd "$2"
autoreconf -f
./config.status --recheck
./config.status
grep "^#define HAVE_LINUX_WSQUERY_H" include/config.h
make -j2 dlls/ntdll/ntdll.so
'

# wine_build_folder: compilers and what Wine's build wants.
wine_build_folder() {
	local mirror
	suite_make "$WINE_BUILD_FOLDER" "$WINE_BUILD_SUITE"
	[[ ! -e $WINE/build.ready ]] || return 0
	say "installing what building Wine needs in the folder $WINE_BUILD_FOLDER"
	mirror=$(suite_mirror)
	printf 'deb-src %s trixie main\n' "$mirror" |
		"${AS_ROOT[@]}" tee "$CACHE/suites/$WINE_BUILD_FOLDER/etc/apt/sources.list.d/source.list" >/dev/null
	# shellcheck disable=SC2086 # words on purpose
	suite_in "$WINE_BUILD_FOLDER" sh -ec "$WINE_INSTALL" sh $WINE_BUILD_PACKAGES \
		</dev/null >"$WINE/build.log" 2>&1 || die "that failed; see $WINE/build.log"
	touch "$WINE/build.ready"
}

# Sets WINE_PRISTINE to Wine's source as Debian has it.
wine_fetch() {
	WINE_PRISTINE=$WINE/fetch/wine
	[[ ! -e $WINE_PRISTINE ]] || return 0
	wine_build_folder
	say "fetching Wine's source"
	rm -rf "$WINE/fetch"
	mkdir -p "$WINE/fetch"
	suite_in "$WINE_BUILD_FOLDER" sh -ec "$WINE_FETCH" sh "$WINE/fetch" \
		</dev/null >"$WINE/fetch.log" 2>&1 || die "that failed; see $WINE/fetch.log"
}

# Sets WINE_SOURCE to the same, configured, with ntdll and a test built.
wine_source() {
	local key version
	wine_fetch
	version=$(sed -n '1s/.*(\(.*\)).*/\1/p' "$WINE_PRISTINE/debian/changelog")
	[[ $version == "$(wine_version trixie)" ]] ||
		die "the source is $version, the package $(wine_version trixie): remove $WINE and try again"
	key=$(printf '%s\n' "$version" "$WINE" "$WINE_CONFIGURE" | sha256sum | cut -c 1-16)
	WINE_SOURCE=$WINE/source/$key
	[[ ! -e $WINE_SOURCE/ready ]] || return 0
	wine_build_folder
	say "building ntdll and a test of wine $version"
	rm -rf "$WINE/source"
	mkdir -p "$WINE/source"
	cp -a --reflink=auto "$WINE_PRISTINE" "$WINE_SOURCE"
	suite_in "$WINE_BUILD_FOLDER" sh -ec "$WINE_CONFIGURE" sh "$WINE/uapi" "$WINE_SOURCE" \
		</dev/null >"$WINE/source/log" 2>&1 || die "that failed; see $WINE/source/log"
	touch "$WINE_SOURCE/ready"
}

# Sets WINE_NTDLL to the ntdll.so with our change, built when something of it is new.
wine_patched() {
	local key dir
	wine_source
	key=$(cat "$HERE/hook.py" "$HERE"/ntdll/* "$TOP/uapi/linux/wsquery.h" |
		cat - <(echo "$WINE_SOURCE" "$WINE_PATCHED") | sha256sum | cut -c 1-16)
	dir=$WINE/patched/$key
	WINE_NTDLL=$dir/dlls/ntdll/ntdll.so
	[[ ! -e $dir/ready ]] || return 0
	say "building ntdll with our change"
	rm -rf "$WINE/patched"
	mkdir -p "$WINE/patched" "$WINE/uapi/linux"
	cp "$TOP/uapi/linux/wsquery.h" "$WINE/uapi/linux/"
	cp -a --reflink=auto "$WINE_SOURCE" "$dir"
	rm "$dir/ready"
	suite_in "$WINE_BUILD_FOLDER" sh -ec "$WINE_PATCHED" sh "$HERE/hook.py" "$dir" \
		</dev/null >"$WINE/patched/log" 2>&1 || die "that failed; see $WINE/patched/log"
	touch "$dir/ready"
}
