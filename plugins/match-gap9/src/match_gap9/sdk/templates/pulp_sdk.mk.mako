# SPDX-License-Identifier: Apache-2.0
# ${name}: an application, built by the open pulp-sdk or by a gap_sdk with Makefiles.
#
# In this directory, after sourcing the SDK's configuration:
#
#   make -f pulp_sdk.mk${"".join(f" {library.variable}=..." for library in libraries)} all run
#
# Variables as in pulp-sdk d4b5bcd, tools/rules/pmsis_rules.mk and rtos/pulpos/common/rules.
APP = ${name}

ifndef RULES_DIR
ifndef GAP_SDK_HOME
$(error neither RULES_DIR (pulp-sdk) nor GAP_SDK_HOME (gap_sdk) is set: source the SDK's configuration first)
endif
RULES_DIR = $(GAP_SDK_HOME)/utils/rules
endif

APP_SRCS += ${" \\\n    ".join((*sources, *applications))}
APP_INC += $(CURDIR)
% for library in libraries:

# ${library.name}, ${library.repository}: the files are those of commit ${library.commit}.
ifeq ($(wildcard $(${library.variable})/${library.probe}),)
$(error ${library.variable} is '$(${library.variable})': set it to a checkout of ${library.name} ${"\\"}
(${library.repository}, commit ${library.commit}))
endif
APP_SRCS += ${" \\\n    ".join(f"$({library.variable})/{file}" for file in library.sources)}
APP_INC += ${" \\\n    ".join(f"$({library.variable})/{include}" for include in library.includes)}
% endfor

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
% if stores or areas:

% if stores:
# Streamed constants: from flash into the external RAM.
% else:
# Activations in the external RAM.
% endif
USE_PMSIS_BSP = 1
CONFIG_HYPERFLASH = 1
CONFIG_HYPERRAM = 1
% endif
% if stores:
READFS_FILES += ${" ".join(f"$(CURDIR)/{store.file}" for store in stores)}
% endif

include $(RULES_DIR)/pmsis_rules.mk
