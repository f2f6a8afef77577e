# SPDX-License-Identifier: Apache-2.0
# ${name} for Carfield: an image for each processor, all of them in one file for the host.
#   make -f carfield.mk HOST_INCLUDES=... HOST_OBJECTS=... (and the same for the units)
# *_INCLUDES: -I of the SDK's headers; *_OBJECTS: its start file and code; *_LIBS: libraries.
HOST_CC ?= riscv64-unknown-elf-gcc
HOST_FLAGS ?= -march=rv64gc -mabi=lp64d -mcmodel=medany
HOST_INCLUDES ?=
HOST_OBJECTS ?=
HOST_LIBS ?= -lgcc
NM ?= riscv64-unknown-elf-nm
OBJCOPY ?= riscv64-unknown-elf-objcopy
SIZE ?= riscv64-unknown-elf-size
OUT ?= build
CFLAGS ?= -O2 -std=c11 -ffp-contract=off -Wall -Wextra -ffunction-sections -fdata-sections
# Addresses have 64 bits wherever host and units share them. Nothing is relaxed, so that the addresses of the host's
# first link are those of its last.
SHARED_FLAGS := -DMATCH_ADDRESS=uint64_t -I.
LINK_FLAGS := -nostdlib -Wl,--gc-sections -Wl,--no-relax -Wl,--no-warn-rwx-segments

HOST_SOURCES := ${" ".join([*host_sources, "example/match_carfield_main.c"])}
HOST := $(HOST_SOURCES:%.c=$(OUT)/host/%.o)
LOOPS := ${" ".join(f"{name}_{unit}_loop" for unit in units)}

.PHONY: all sizes clean
all: $(OUT)/${name}.elf sizes

$(OUT)/host/%.o: %.c
	@mkdir -p $(@D)
	$(HOST_CC) $(HOST_FLAGS) $(CFLAGS) $(SHARED_FLAGS) $(HOST_INCLUDES) -c $< -o $@

# ---- the host alone: where constants lie; the units' code is not there yet -------------------------------------------

$(OUT)/host_first.elf: $(HOST) match_carfield_host.ld
	$(HOST_CC) $(HOST_FLAGS) $(LINK_FLAGS) -T match_carfield_host.ld \
	    $(LOOPS:%=-Wl,--defsym=%=${f"0x{next(iter(entries.values())):08X}"}) $(HOST) $(HOST_OBJECTS) $(HOST_LIBS) -o $@

# Symbols of constants as a linker script for the units.
$(OUT)/constants.ld: $(OUT)/host_first.elf
	$(NM) $< | awk '$$2 == "R" && $$3 ~ /^${name}_/ { print $$3 " = 0x" $$1 ";" }' | sort > $@
% for unit, sources in units.items():
<% upper = unit.upper() %>
# ---- ${unit} ----------------------------------------------------------------------------------------------------------

${upper}_CC ?= riscv64-unknown-elf-gcc
${upper}_FLAGS ?= ${"-march=rv32imc -mabi=ilp32" if unit == "pulp" else "-march=rv32imafd -mabi=ilp32d"}
${upper}_INCLUDES ?=
${upper}_OBJECTS ?=
${upper}_LIBS ?= -lgcc
${upper}_SOURCES := ${" ".join([*sources, f"example/{main_of[unit]}"])}
${upper} := $(${upper}_SOURCES:%.c=$(OUT)/${unit}/%.o)

$(OUT)/${unit}/%.o: %.c
	@mkdir -p $(@D)
	$(${upper}_CC) $(${upper}_FLAGS) $(CFLAGS) $(SHARED_FLAGS) $(${upper}_INCLUDES) -c $< -o $@

$(OUT)/${unit}.elf: $(${upper}) $(OUT)/constants.ld match_carfield_${unit}.ld
	$(${upper}_CC) $(${upper}_FLAGS) $(LINK_FLAGS) -Wl,--undefined=${name}_${unit}_loop \
	    -T match_carfield_${unit}.ld $(OUT)/constants.ld $(${upper}) $(${upper}_OBJECTS) $(${upper}_LIBS) -o $@

$(OUT)/${unit}.bin: $(OUT)/${unit}.elf
	$(OBJCOPY) -O binary $< $@

$(OUT)/${unit}_image.o: $(OUT)/${unit}.bin
	printf '.section .match_${unit}_image, "a"\n.incbin "$<"\n' > $(OUT)/${unit}_image.S
	$(HOST_CC) $(HOST_FLAGS) -c $(OUT)/${unit}_image.S -o $@
% endfor

# ---- packing: the host again, with the images and the addresses of the units' loops ------------------------------------

$(OUT)/${name}.elf: ${" ".join(f"$(OUT)/{unit}_image.o" for unit in units)}
	$(HOST_CC) $(HOST_FLAGS) $(LINK_FLAGS) -T match_carfield_host.ld \
% for unit in units:
	    -Wl,--defsym=${name}_${unit}_loop=0x$$($(NM) $(OUT)/${unit}.elf | awk '$$3 == "${name}_${unit}_loop" { print $$1 }') \
% endfor
	    $(HOST) $^ $(HOST_OBJECTS) $(HOST_LIBS) -o $@
	@$(NM) $@ | awk '$$2 == "R" && $$3 ~ /^${name}_/ { print $$3 " = 0x" $$1 ";" }' | sort | cmp - $(OUT)/constants.ld

sizes: $(OUT)/${name}.elf
	$(SIZE) ${" ".join(f"$(OUT)/{unit}.elf" for unit in units)} $<

clean:
	rm -rf $(OUT)
