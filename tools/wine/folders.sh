# SPDX-License-Identifier: GPL-2.0
# Debian in folders of the cache: two with a Wine to run, one that builds Wine's source.
# shellcheck shell=bash disable=SC2016 # expanded by the inner shells

# The one with a compiler is that of tools/setup, which other kernels' modules are built in too.
WINE_BUILD_FOLDER=trixie
WINE_BUILD_SUITE=trixie-backports
WINE_BUILD_PACKAGES="dpkg-dev gcc libc6-dev make flex bison autoconf automake pkgconf
	gcc-mingw-w64-x86-64 perl gettext unicode-data unicode-idna unicode-cldr-core
	libxml-libxml-perl autotools-dev unzip khronos-api libvulkan-dev python3"

WINE_INSTALL='
export DEBIAN_FRONTEND=noninteractive
apt-get -qq -o Acquire::Retries=3 update
apt-get -qq -y -o Acquire::Retries=3 -o Dpkg::Use-Pty=0 install --no-install-recommends "$@"
'

# Without a driver for graphics, and without asking for Mono and Gecko.
WINE_PREFIX='
HOME=$(getent passwd 0 | cut -d: -f6)
export HOME WINEPREFIX=$HOME/prefix WINEDEBUG=-all WINEDLLOVERRIDES="mscoree,mshtml="
wine wineboot -i
wine reg add "HKCU\\Software\\Wine\\Drivers" /v Graphics /d null /f
wineserver=$(find /usr/lib -name "wineserver*" -type f | head -n 1)
"$wineserver" -k || true
"$wineserver" -w
'

# wine_in FOLDER COMMAND...: as suite_in, in one of the folders with Wine.
wine_in() {
	local CACHE=$WINE
	suite_in "$@"
}

# wine_folder SUITE: Debian SUITE with its packaged Wine and a fresh prefix.
wine_folder() {
	local suite=$1
	[[ ! -e $WINE/$suite.ready ]] || return 0
	(
		# shellcheck disable=SC2030 # for suite.sh, here only
		CACHE=$WINE
		suite_make "$suite" "$suite"
	) || return
	say "installing wine in the folder $suite"
	wine_in "$suite" sh -ec "$WINE_INSTALL" sh wine wine64 </dev/null >"$WINE/$suite.log" 2>&1 ||
		die "installing wine failed; see $WINE/$suite.log"
	say "making a prefix for the wine of $suite"
	wine_in "$suite" sh -ec "$WINE_PREFIX" </dev/null >"$WINE/$suite.log" 2>&1 ||
		die "making a prefix failed; see $WINE/$suite.log"
	"${AS_ROOT[@]}" rm -rf "$WINE/suites/$suite/var/cache/apt" "$WINE/suites/$suite/var/lib/apt/lists"
	touch "$WINE/$suite.ready"
}

# wine_version SUITE: of the package in the folder.
wine_version() {
	dpkg-query --admindir="$WINE/suites/$1/var/lib/dpkg" -W -f '${Version}' wine
}
