# SPDX-License-Identifier: Apache-2.0
# net: an application, built by the open pulp-sdk or by a gap_sdk with Makefiles.
#
# In this directory, after sourcing the SDK's configuration:
#
#   make -f pulp_sdk.mk PULP_NN_DIR=... PULP_NNX_DIR=... all run
#
# Variables as in pulp-sdk d4b5bcd, tools/rules/pmsis_rules.mk and rtos/pulpos/common/rules.
APP = net

ifndef RULES_DIR
ifndef GAP_SDK_HOME
$(error neither RULES_DIR (pulp-sdk) nor GAP_SDK_HOME (gap_sdk) is set: source the SDK's configuration first)
endif
RULES_DIR = $(GAP_SDK_HOME)/utils/rules
endif

APP_SRCS += match_gap9_cluster.c \
    match_gap9_ne16.c \
    net.c \
    example/match_gap9_main.c \
    example/match_gap9_profile.c
APP_INC += $(CURDIR)

# PULP-NN, https://github.com/pulp-platform/pulp-nn: the files are those of commit 288d06b.
ifeq ($(wildcard $(PULP_NN_DIR)/32bit/src/pulp_nn_conv_Ho_parallel.c),)
$(error PULP_NN_DIR is '$(PULP_NN_DIR)': set it to a checkout of PULP-NN \
(https://github.com/pulp-platform/pulp-nn, commit 288d06b))
endif
APP_SRCS += $(PULP_NN_DIR)/32bit/src/pulp_nn_conv_Ho_parallel.c \
    $(PULP_NN_DIR)/32bit/src/pulp_nn_linear.c \
    $(PULP_NN_DIR)/32bit/src/pulp_nn_matmul.c \
    $(PULP_NN_DIR)/32bit/src/pulp_nn_utils.c
APP_INC += $(PULP_NN_DIR)/32bit/include

# pulp-nnx, https://github.com/pulp-platform/pulp-nnx: the files are those of commit c4f6ba3.
ifeq ($(wildcard $(PULP_NNX_DIR)/ne16/bsp/ne16_pulp_bsp.c),)
$(error PULP_NNX_DIR is '$(PULP_NNX_DIR)': set it to a checkout of pulp-nnx \
(https://github.com/pulp-platform/pulp-nnx, commit c4f6ba3))
endif
APP_SRCS += $(PULP_NNX_DIR)/ne16/bsp/ne16_pulp_bsp.c \
    $(PULP_NNX_DIR)/ne16/hal/ne16.c \
    $(PULP_NNX_DIR)/ne16/hal/ne16_task.c \
    $(PULP_NNX_DIR)/src/pulp_nnx_ne16.c \
    $(PULP_NNX_DIR)/util/hwpe.c \
    $(PULP_NNX_DIR)/util/pulp_nnx_util.c
APP_INC += $(PULP_NNX_DIR)/inc \
    $(PULP_NNX_DIR)/ne16/bsp \
    $(PULP_NNX_DIR)/ne16/hal \
    $(PULP_NNX_DIR)/util

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

include $(RULES_DIR)/pmsis_rules.mk
