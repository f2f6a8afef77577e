# SPDX-License-Identifier: Apache-2.0
# ${name} for a Snitch cluster with ITA: a static library with all C files of the program.
#   make -f ita.mk ITA_BASE=0x... SNRT_INCLUDES=-I...
# ITA_BASE: address of ITA's registers in the cluster, which is not public. SNRT_INCLUDES: where snRuntime's snrt.h is.
# Link it with snRuntime. All nine cores of the cluster call match_ita_run, the host core calls ${name}_run.
ITA_CC ?= riscv64-unknown-elf-gcc
ITA_AR ?= riscv64-unknown-elf-ar
ITA_FLAGS ?= -march=rv32ima -mabi=ilp32
CFLAGS ?= -O2 -std=c11 -ffp-contract=off -Wall -Wextra -ffunction-sections -fdata-sections
SNRT_INCLUDES ?=
OUT ?= build

ifndef ITA_BASE
$(error ITA_BASE must be the address of ITA's registers)
endif

SOURCES := ${" ".join(sources)}
OBJECTS := $(SOURCES:%.c=$(OUT)/%.o)

.PHONY: all clean
all: $(OUT)/lib${name}.a

$(OUT)/%.o: %.c
	@mkdir -p $(@D)
	$(ITA_CC) $(ITA_FLAGS) $(CFLAGS) -DMATCH_ITA_BASE=$(ITA_BASE)u -I. $(SNRT_INCLUDES) -c $< -o $@

$(OUT)/lib${name}.a: $(OBJECTS)
	$(ITA_AR) rcs $@ $^

clean:
	rm -rf $(OUT)
