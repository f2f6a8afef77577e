# SPDX-License-Identifier: Apache-2.0
# ${name}: builds lib${name}.a. Set CC and INCLUDES (for example -I of the SDK) for your platform.
CC ?= cc
AR ?= ar
CFLAGS ?= -O2 -Wall -Wextra -Wpedantic
# Standard C; products and sums are not fused, so that results are the same with every compiler.
STANDARD := -std=c11 -ffp-contract=off
% if folders:
# Set ${" and ".join(dict.fromkeys(folder.partition("/")[0] for folder in folders))} to your own copy of the library.
STANDARD += ${" ".join(f"-isystem $({variable}){slash}{rest}" for variable, slash, rest in (folder.partition("/") for folder in folders))}
% endif
INCLUDES ?=
% if libraries:
# Libraries that applications link with in addition to lib${name}.a.
LDLIBS = ${" ".join(f"-l{library}" for library in libraries)}
% endif
OBJECTS = ${" ".join(s[:-2] + ".o" for s in c_files)}

lib${name}.a: $(OBJECTS)
	$(AR) rcs $@ $^

%%.o: %.c
	$(CC) $(CFLAGS) $(STANDARD) $(INCLUDES) -I. -c $< -o $@

# The largest stack frames as gcc states them, and a bound: three frames of the other files, all frames of ${name}.c.
stack: $(OBJECTS:.o=.c)
	@rm -rf stack && mkdir stack
	@set -e; for file in $^; do $(CC) $(CFLAGS) $(STANDARD) $(INCLUDES) -I. -fstack-usage -c $$file -o stack/$$file.o; done
	@cat stack/*.su | grep -v '^${name}.c:' | sort -t '	' -k 2 -n -r > stack/frames
	@head -n 10 stack/frames
	@(head -n 3 stack/frames; cat stack/${name}*.su | grep '^${name}.c:') | ${"\\"}
	    awk -F '\t' '{ sum += $$2 } END { print sum " bytes at most" }'
	@rm -rf stack

.PHONY: clean stack
clean:
	rm -f $(OBJECTS) lib${name}.a
