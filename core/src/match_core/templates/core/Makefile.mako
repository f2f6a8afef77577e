# ${name}: builds lib${name}.a. Set CC and INCLUDES (for example -I of the SDK) for your platform.
CC ?= cc
AR ?= ar
CFLAGS ?= -O2 -std=c11 -Wall -Wextra -Wpedantic
INCLUDES ?=
% if libraries:
# Libraries that applications link with in addition to lib${name}.a.
LDLIBS = ${" ".join(f"-l{library}" for library in libraries)}
% endif
OBJECTS = ${" ".join(s[:-2] + ".o" for s in c_files)}

lib${name}.a: $(OBJECTS)
	$(AR) rcs $@ $^

%%.o: %.c
	$(CC) $(CFLAGS) $(INCLUDES) -I. -c $< -o $@

.PHONY: clean
clean:
	rm -f $(OBJECTS) lib${name}.a
