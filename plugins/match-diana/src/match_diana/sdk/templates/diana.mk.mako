# SPDX-License-Identifier: Apache-2.0
# ${name} for DIANA: a static library with all C files of the program.
#   make -f diana.mk DIANA_INCLUDES="-I... -I..."
# DIANA_INCLUDES: where the headers of the kernel library (ABurrello/dory-hal: kernels.h, utils.h,
# encoders_instruction_memory.h), DORY's dory.h (pulp-platform/dory, Hardware_targets/Diana/Diana_TVM/Utils_files) and
# the SDK (dianaKUL/pulp-sdk-diana: pulp.h, hal, archi) are. An application (example/main.c) links the library with the
# kernel library's sources, DORY's dory.c (memcpy_dig, memcpy_analog) and the SDK.
DIANA_CC ?= riscv32-unknown-elf-gcc
DIANA_AR ?= riscv32-unknown-elf-ar
DIANA_FLAGS ?= -march=rv32imc -mabi=ilp32
# What the SDK's own rules define. The last one: the kernel library's header declares a sum that its source calls
# otherwise.
DIANA_DEFINES ?= -DPULP_CHIP=CHIP_PULPISSIMO -DPULP_CHIP_STR=pulpissimo \
    -DPULP_CHIP_FAMILY=CHIP_PULPISSIMO -DPULP_CHIP_FAMILY_STR=pulpissimo -D__riscv__ -DRV_ISA_RV32 \
    -Ddigital_element_wise_sum=element_wise_sum
# The SDK's headers need the GNU dialect.
CFLAGS ?= -O3 -std=gnu11 -ffp-contract=off -Wall -Wextra -ffunction-sections -fdata-sections
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
	$(DIANA_CC) $(DIANA_FLAGS) $(DIANA_DEFINES) $(CFLAGS) -I. $(DIANA_INCLUDES) -c $< -o $@

$(OUT)/lib${name}.a: $(OBJECTS)
	$(DIANA_AR) rcs $@ $^

clean:
	rm -rf $(OUT)
