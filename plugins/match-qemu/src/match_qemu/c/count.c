/* SPDX-License-Identifier: Apache-2.0 */
/* count.c - a plug-in of QEMU (docs/devel/tcg-plugins.rst of QEMU) that counts the instructions of every processor. It
 * is built where it is used, because distributions ship no header: the few declarations of QEMU's plug-in interface
 * that it needs are repeated here.
 *
 * Arguments: marks=ADDRESS, size=BYTES of the array match_marks, from=ADDRESS and to=ADDRESS of the code that writes
 * it. The file counts.txt gets a line "mark INDEX PROCESSOR COUNT" for the first write to each byte, and a line
 * "processor INDEX COUNT" for each processor at the end. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef PLUGIN_VERSION
#define PLUGIN_VERSION 1
#endif
#define EXPORT __attribute__((visibility("default")))
#define NO_REGISTERS 0
#define MEMORY_WRITE 2

typedef uint64_t plugin_id_t;
typedef uint32_t memory_info_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id_t, void (*)(plugin_id_t, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *, void (*)(unsigned int, void *), int, void *);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *, void (*)(unsigned int, memory_info_t, uint64_t, void *),
                                      int, int, void *);
void qemu_plugin_register_atexit_cb(plugin_id_t, void (*)(plugin_id_t, void *), void *);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *);

EXPORT int qemu_plugin_version = PLUGIN_VERSION;

#define PROCESSORS 64u

static uint64_t counts[PROCESSORS];
static uint64_t marks, size, from, to;
static uint8_t *seen;
static FILE *out;

static void block(unsigned int processor, void *instructions)
{
    counts[processor % PROCESSORS] += (uint64_t)(uintptr_t)instructions;
}

static void wrote(unsigned int processor, memory_info_t info, uint64_t address, void *unused)
{
    (void)info;
    (void)unused;
    const uint64_t index = address - marks;
    if ((index < size) && (seen[index] == 0u)) {
        seen[index] = 1u;
        (void)fprintf(out, "mark %llu %u %llu\n", (unsigned long long)index, processor,
                      (unsigned long long)counts[processor % PROCESSORS]);
    }
}

static void translated(plugin_id_t id, struct qemu_plugin_tb *tb)
{
    (void)id;
    const size_t count = qemu_plugin_tb_n_insns(tb);
    qemu_plugin_register_vcpu_tb_exec_cb(tb, block, NO_REGISTERS, (void *)(uintptr_t)count);
    for (size_t i = 0; i < count; i++) {
        struct qemu_plugin_insn *const instruction = qemu_plugin_tb_get_insn(tb, i);
        const uint64_t address = qemu_plugin_insn_vaddr(instruction);
        if ((address >= from) && (address < to)) {
            qemu_plugin_register_vcpu_mem_cb(instruction, wrote, NO_REGISTERS, MEMORY_WRITE, NULL);
        }
    }
}

static void ended(plugin_id_t id, void *unused)
{
    (void)id;
    (void)unused;
    for (unsigned int i = 0u; i < PROCESSORS; i++) {
        if (counts[i] != 0u) {
            (void)fprintf(out, "processor %u %llu\n", i, (unsigned long long)counts[i]);
        }
    }
    (void)fclose(out);
}

static uint64_t number(int argc, char **argv, const char *name)
{
    const size_t length = strlen(name);
    for (int i = 0; i < argc; i++) {
        if ((strncmp(argv[i], name, length) == 0) && (argv[i][length] == '=')) {
            return strtoull(argv[i] + length + 1, NULL, 0);
        }
    }
    return 0;
}

EXPORT int qemu_plugin_install(plugin_id_t id, const void *info, int argc, char **argv)
{
    (void)info;
    marks = number(argc, argv, "marks");
    size = number(argc, argv, "size");
    from = number(argc, argv, "from");
    to = number(argc, argv, "to");
    seen = calloc(size + 1u, 1u);
    out = fopen("counts.txt", "w");
    if ((seen == NULL) || (out == NULL)) {
        return 1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, ended, NULL);
    return 0;
}
