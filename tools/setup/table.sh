# SPDX-License-Identifier: GPL-2.0
# What can be asked for: the kernels by name, and the groups of packages. Data only.
# shellcheck shell=bash disable=SC2034 # used by the scripts that source this file

# name -> headers package, whose dependencies lead to the release and so to the image; suite; source.
declare -A KERNEL_HEADERS=(
	[6.12]=linux-headers-6.12-cloud-amd64
	[6.1]=linux-headers-cloud-amd64
	[7.x]=linux-headers-cloud-amd64
)
declare -A KERNEL_SUITE=(
	[6.12]=bookworm-security
	[6.1]=bookworm
	[7.x]=trixie-backports
)
# Headers that want the compiler of a newer release: they live in a folder with that release (suite.sh).
declare -A KERNEL_FOLDER=(
	[7.x]=trixie
)
declare -A KERNEL_SOURCE=(
	[6.12]=linux-source-6.12
	[6.1]=linux-source-6.1
)
DEFAULT_KERNEL=6.12
FOLDER_PACKAGES="make gcc libc6-dev binutils kmod xz-utils"

# group -> Debian packages, and what of a kernel goes with them (kdir, kernel, source)
declare -A GROUP_PACKAGES=(
	[build]="make gcc libc6-dev binutils kmod libsmartcols-dev libjansson-dev"
	[vm]="qemu-system-x86 busybox-static cpio kmod xz-utils file gcc libc6-dev"
	[check]="gcc-multilib g++-multilib pkgconf python3 clang-14 libclang-rt-14-dev libjson-c-dev"
	[lint]="sparse perl python3 python3-ply python3-git shellcheck codespell mandoc git"
	[bench]="gnuplot-nox"
)
declare -A GROUP_KERNEL=(
	[build]="kdir"
	[vm]="kernel"
	[check]="source"
	[lint]="source"
	[bench]=""
)
# group -> groups it includes
declare -A GROUP_INCLUDES=(
	[build]=""
	[vm]="build"
	[check]="build vm"
	[lint]="check"
	[bench]="build vm"
)

# The part of the kernel source that others build on, out of 1.5 GB
SOURCE_SUBSET=(
	COPYING
	Makefile
	MAINTAINERS
	.clang-format
	LICENSES
	Documentation/userspace-api/ioctl
	include/uapi
	scripts
	tools/include
	tools/scripts
	tools/arch/x86/include
	tools/testing/selftests/Makefile
	tools/testing/selftests/lib.mk
	tools/testing/selftests/kselftest
	tools/testing/selftests/kselftest.h
	tools/testing/selftests/kselftest_harness.h
	tools/testing/selftests/kselftest_module.h
	tools/testing/selftests/kselftest_deps.sh
	tools/testing/selftests/kselftest_install.sh
	tools/testing/selftests/run_kselftest.sh
	tools/testing/selftests/gen_kselftest_tar.sh
	tools/testing/selftests/drivers/ntsync
)
