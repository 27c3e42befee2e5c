# SPDX-License-Identifier: LGPL-2.1-or-later
# What the scripts here begin with: where things are, and the helpers of tools/setup.
# shellcheck shell=bash disable=SC2034 # variables for the others

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
TOP=$(cd "$HERE/../.." && pwd)
CACHE=$("$TOP/tools/setup/setup" path cache)
WINE=$CACHE/wine

# shellcheck source=../setup/table.sh
. "$TOP/tools/setup/table.sh"
# shellcheck source=../setup/apt.sh
. "$TOP/tools/setup/apt.sh"
# shellcheck source=../setup/suite.sh
. "$TOP/tools/setup/suite.sh"
# shellcheck source-path=SCRIPTDIR
. "$HERE/folders.sh"
# shellcheck source-path=SCRIPTDIR
. "$HERE/source.sh"
# shellcheck source-path=SCRIPTDIR
. "$HERE/images.sh"

# Two runs at once must not fill the same folders.
wine_lock() {
	mkdir -p "$WINE"
	exec 8>"$WINE/lock"
	flock 8
	apt_need_root debootstrap
}
