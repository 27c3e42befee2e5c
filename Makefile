# SPDX-License-Identifier: GPL-2.0
KERNELRELEASE ?= $(shell uname -r)
KDIR ?= /lib/modules/$(KERNELRELEASE)/build
UTS = $(shell sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' $(KDIR)/include/generated/utsrelease.h)
MDIR = $(CURDIR)/build/$(UTS)
module:
	mkdir -p $(MDIR)
	cp -asf $(CURDIR)/Kbuild $(CURDIR)/module $(CURDIR)/uapi $(MDIR)/
	$(MAKE) -C $(KDIR) M=$(MDIR) W=1 modules
.PHONY: module
