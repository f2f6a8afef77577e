# SPDX-License-Identifier: Apache-2.0
# net: an application, built by the open pulp-sdk or by a gap_sdk with Makefiles.
#
# In this directory, after sourcing the SDK's configuration:
#
#   make -f pulp_sdk.mk all run
#
# Variables as in pulp-sdk d4b5bcd, tools/rules/pmsis_rules.mk and rtos/pulpos/common/rules.
APP = net

ifndef RULES_DIR
ifndef GAP_SDK_HOME
$(error neither RULES_DIR (pulp-sdk) nor GAP_SDK_HOME (gap_sdk) is set: source the SDK's configuration first)
endif
RULES_DIR = $(GAP_SDK_HOME)/utils/rules
endif

APP_SRCS += match_gap9_store.c \
    net.c \
    example/match_gap9_main.c \
    example/match_gap9_profile.c
APP_INC += $(CURDIR)

# MATCH_GAP9_XPULP: the cores have XpulpV2 and the compiler its builtins. MATCH_PROFILE=0 leaves the counters out.
CONFIG_NB_CLUSTER_PE ?= 8
MATCH_PROFILE ?= 1
APP_CFLAGS += -O3 -std=gnu11 -ffp-contract=off -DNUM_CORES=8 -DMATCH_GAP9_XPULP
APP_LDFLAGS += -lm
ifeq ($(MATCH_PROFILE),1)
APP_CFLAGS += -DMATCH_PROFILE
endif
# The open SDK lacks a few of GAP9's functions.
ifdef PULP_SDK_HOME
APP_CFLAGS += -include $(CURDIR)/match_gap9_pulp_sdk.h
endif

# Streamed constants: from flash into the external RAM.
USE_PMSIS_BSP = 1
CONFIG_HYPERFLASH = 1
CONFIG_HYPERRAM = 1
READFS_FILES += $(CURDIR)/net_l3.bin

include $(RULES_DIR)/pmsis_rules.mk
