# SPDX-License-Identifier: GPL-2.0
# "make help" lists what there is. Everything is built below build/.

KERNELRELEASE ?= $(shell uname -r)
KDIR ?= /lib/modules/$(KERNELRELEASE)/build
# Kernels for the emulated machine, by the names of tools/setup; the tests run on each.
KERNELS ?= 6.12 6.1
HOST ?=

SETUP := tools/setup/setup
# The module is built in a directory of links for each kernel: kbuild writes beside its sources.
RELEASE = $(shell sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' $(KDIR)/include/generated/utsrelease.h)
MODULE_DIR = $(CURDIR)/build/$(RELEASE)

DESTDIR ?=
PREFIX ?= /usr/local

all: module tools ## the module for the running kernel (or KDIR=...) and the user-space parts

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20
	@echo '  Variables: KDIR (kernel headers), KERNELS (for check: "$(KERNELS)"), HOST=1 (run on this'
	@echo '  machine instead of the emulated one), DESTDIR and PREFIX (install), WSQUERY_CACHE'

run: ## the main job: query a process with memory of every kind, in the emulated machine
ifeq ($(HOST),)
	@$(SETUP) --kernel 6.12 build vm
	@$(MAKE) -s --no-print-directory module-6.12 tools
	@tools/run/run
else
	@$(SETUP) --no-kernel build
	@$(MAKE) -s --no-print-directory module tools
	@tools/run/run --host
endif

check: ## all tests, on each of KERNELS in the emulated machine
	@tools/check/check $(KERNELS)

fuzz: ## the parsers of user space under sanitizers, a minute each
	@$(SETUP) --no-kernel check
	@tools/fuzz/run --seconds 60

lint: ## checkpatch, sparse, W=1, kernel-doc, shellcheck, manual pages
	@tools/check/lint

bench: ## cost per page beside every other interface
	@$(SETUP) --kernel 6.12 bench
	@$(MAKE) -s --no-print-directory module-6.12 tools
	@tools/bench/run

shell: ## a shell in the emulated machine, with the module loaded
	@$(SETUP) --kernel 6.12 build vm
	@$(MAKE) -s --no-print-directory module-6.12
	@tools/vm/vm --swap 1G --shell

module: ## the module alone
	@test -e $(KDIR)/include/generated/utsrelease.h || { \
		echo "No kernel headers in $(KDIR). Install those of the running kernel, or say" \
		     "KDIR=..., or try the module in the emulated machine: make run"; exit 1; }
	@mkdir -p $(MODULE_DIR)
	@cp -asf $(CURDIR)/Kbuild $(CURDIR)/module $(CURDIR)/uapi $(MODULE_DIR)/
	$(MAKE) -C $(KDIR) M=$(MODULE_DIR) $(KFLAGS) modules

# The module for a kernel of tools/setup, whose headers may need a compiler of their own.
module-%:
	@kdir=$$($(SETUP) path kdir $*) && \
		$(SETUP) in $* -- $(MAKE) -s --no-print-directory -C $(CURDIR) module KDIR=$$kdir

tools: ## the library, the command, and what the emulated machine runs
	@$(MAKE) -s --no-print-directory -C tools/lib
	@$(MAKE) -s --no-print-directory -C tools/cli
	@$(MAKE) -s --no-print-directory -C tools/run

install: all ## into DESTDIR and PREFIX, the module for KDIR; see Documentation/install.md
	@$(MAKE) -s --no-print-directory -C tools/lib install PREFIX=$(PREFIX) DESTDIR=$(DESTDIR)
	@$(MAKE) -s --no-print-directory -C tools/cli install PREFIX=$(PREFIX) DESTDIR=$(DESTDIR)
	install -d $(DESTDIR)$(PREFIX)/share/man/man4 $(DESTDIR)/lib/modules/$(RELEASE)/extra \
		$(DESTDIR)/etc/modules-load.d $(DESTDIR)/etc/udev/rules.d
	install -m 644 man/wsquery.4 $(DESTDIR)$(PREFIX)/share/man/man4
	install -m 644 packaging/wsquery.conf $(DESTDIR)/etc/modules-load.d
	install -m 644 packaging/99-wsquery.rules $(DESTDIR)/etc/udev/rules.d
	install -m 644 $(MODULE_DIR)/module/wsquery.ko $(DESTDIR)/lib/modules/$(RELEASE)/extra
	@test -n "$(DESTDIR)" || depmod $(RELEASE)

soak: ## 100 million page answers compared with the kernel's other interfaces
	@$(SETUP) --kernel 6.12 build vm
	@$(MAKE) -s --no-print-directory module-6.12
	@tools/trust/soak

check-debug: ## everything on two kernels with KASAN, lockdep, kmemleak and faults, and KCSAN
	@tools/trust/check-debug

wine-patch: ## print the change to Wine's ntdll, for Wine 10.0
	@tools/wine/patch

wine-check: ## build Wine with the change and measure it; half an hour the first time
	@$(SETUP) --kernel 6.12 build vm
	@$(MAKE) -s --no-print-directory module-6.12
	@tools/wine/check

clean: ## remove build/
	rm -rf build

.PHONY: all help run check fuzz lint bench shell module tools install soak check-debug wine-patch wine-check clean
