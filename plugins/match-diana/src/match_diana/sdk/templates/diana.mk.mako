# SPDX-License-Identifier: Apache-2.0
# ${name} for DIANA: a static library with all C files of the program.
#   make -f diana.mk DIANA_INCLUDES="-I... -I..."
# DIANA_INCLUDES: where the headers of the kernel library (ABurrello/dory-hal: kernels.h, utils.h,
# encoders_instruction_memory.h), DORY's dory.h (pulp-platform/dory, Hardware_targets/Diana/Diana_TVM/Utils_files) and
# the SDK (dianaKUL/pulp-sdk-diana: pulp.h, hal, archi) are. An application links the library with theirs.
# L1 is not in the host's address space: the application's arena for it is (uint8_t *)MATCH_DIANA_L1_BASE
# (match_diana_copy.h), those of the arrays' own memories are any other addresses from 256 KiB behind it on. Nobody follows
# these pointers.
DIANA_CC ?= riscv32-unknown-elf-gcc
DIANA_AR ?= riscv32-unknown-elf-ar
DIANA_FLAGS ?= -march=rv32imc -mabi=ilp32
CFLAGS ?= -O3 -std=c11 -Wall -Wextra -ffunction-sections -fdata-sections
OUT ?= build

ifndef DIANA_INCLUDES
$(error DIANA_INCLUDES must name the directories of the kernel library and the SDK)
endif

SOURCES := ${" ".join(sources)}
OBJECTS := $(SOURCES:%.c=$(OUT)/%.o)

.PHONY: all clean
all: $(OUT)/lib${name}.a

$(OUT)/%.o: %.c
	@mkdir -p $(@D)
	$(DIANA_CC) $(DIANA_FLAGS) $(CFLAGS) -I. $(DIANA_INCLUDES) -c $< -o $@

$(OUT)/lib${name}.a: $(OBJECTS)
	$(DIANA_AR) rcs $@ $^

clean:
	rm -rf $(OUT)
