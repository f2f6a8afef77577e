/* plugin.c - counts what QEMU's emulated RISC-V processor executes: DIVISION for an integer division, MULTIPLICATION for
 * an integer multiplication, OTHER for any other instruction. Debian ships no qemu-plugin.h; these are the prototypes of version 1 of the interface that are needed.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef uint64_t plugin_id_t;
struct block;
struct instruction;

extern void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id_t id, void (*translated)(plugin_id_t, struct block *));
extern void qemu_plugin_register_atexit_cb(plugin_id_t id, void (*ended)(plugin_id_t, void *), void *data);
extern size_t qemu_plugin_tb_n_insns(const struct block *block);
extern struct instruction *qemu_plugin_tb_get_insn(const struct block *block, size_t index);
extern const void *qemu_plugin_insn_data(const struct instruction *instruction);
extern size_t qemu_plugin_insn_size(const struct instruction *instruction);
extern void qemu_plugin_register_vcpu_insn_exec_inline(struct instruction *instruction, int add, void *counter,
                                                       uint64_t amount);

int qemu_plugin_version = 1;
static uint64_t executed;

/* The multiplication extension is a part of opcode OP; its upper half is div, divu, rem and remu. */
static uint64_t weight_of(const struct instruction *instruction)
{
    uint32_t word = 0;
    if (qemu_plugin_insn_size(instruction) < sizeof word) {
        return OTHER;
    }
    memcpy(&word, qemu_plugin_insn_data(instruction), sizeof word);
    if ((word & 0x7Fu) != 0x33u || word >> 25 != 1u) {
        return OTHER;
    }
    return (word >> 14 & 1u) == 1u ? DIVISION : MULTIPLICATION;
}

static void translated(plugin_id_t id, struct block *block)
{
    (void)id;
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); i++) {
        struct instruction *const instruction = qemu_plugin_tb_get_insn(block, i);
        qemu_plugin_register_vcpu_insn_exec_inline(instruction, 0, &executed, weight_of(instruction));
    }
}

static void ended(plugin_id_t id, void *data)
{
    (void)id;
    (void)data;
    fprintf(stderr, "executed %llu\n", (unsigned long long)executed);
}

int qemu_plugin_install(plugin_id_t id, const void *info, int count, char **values);
int qemu_plugin_install(plugin_id_t id, const void *info, int count, char **values)
{
    (void)info;
    (void)count;
    (void)values;
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, ended, NULL);
    return 0;
}
