"""Sequential programs wait for a unit with a bound: the runtimes of the packages that hand over whole layers, with a
unit that does not return, and with one that does."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from mako.template import Template
from match_gap9.timing import HEADER_NAME, render_timing_header

from tests.conftest import ROOT

HEADER = ROOT / "core" / "src" / "match_core" / "templates" / "core" / "match_runtime.h.mako"


@dataclass(frozen=True)
class Port:
    """The package, its file with the wait, headers that it needs beside it; the function that hands over a layer;
    macros that bound it to 40 looks; texts of headers instead of an SDK's; C of the unit: ``end`` lets it return."""

    package: str
    source: str
    headers: tuple[str, ...]
    call: str
    defines: tuple[str, ...]
    texts: dict[str, str]
    unit: str


PORTS = (
    Port(
        "ita",
        "match_ita_host.c",
        (),
        "match_ita_call",
        ("MATCH_ITA_CALL_LOOKS=40u",),
        {
            "match_ita_api.h": "int match_ita_call(void (*entry)(void *), void *argument);",
            "match_ita_cluster.h": """
#include "match_runtime.h"
enum { MATCH_ITA_ORDER_CALL };
typedef struct { int given; } match_ita_desk_t;
extern match_ita_desk_t match_ita_dm_desk;
int match_ita_has_ended(const match_ita_desk_t *desk);
void match_ita_await(match_ita_desk_t *desk);
void match_ita_give(match_ita_desk_t *desk, int order, void (*entry)(void *), void *argument);
""",
        },
        """
#include "match_ita_api.h"
#include "match_ita_cluster.h"
match_ita_desk_t match_ita_dm_desk;
int match_ita_has_ended(const match_ita_desk_t *desk) { return !desk->given; }
void match_ita_await(match_ita_desk_t *desk) { (void)desk; }
void match_ita_give(match_ita_desk_t *desk, int order, void (*entry)(void *), void *argument)
{
    (void)order, (void)entry, (void)argument;
    desk->given = 1;
}
static void end(void) { match_ita_dm_desk.given = 0; }
""",
    ),
    Port(
        "gap9",
        "match_gap9_platform.c",
        ("match_gap9_cores.h",),
        "match_gap9_call",
        ("MATCH_GAP9_CALL_LOOKS=40u",),
        {"match_gap9_api.h": '#include "pmsis.h"\nint match_gap9_call(void (*entry)(void *), void *argument);'},
        """
#include "match_gap9_api.h"
static struct pi_cluster_task sent;
struct pi_cluster_task *pi_cluster_task(struct pi_cluster_task *task, void (*entry)(void *), void *argument)
{
    task->entry = entry, task->arg = argument;
    return task;
}
int pi_cluster_send_task_to_cl_async(struct pi_device *device, struct pi_cluster_task *task, pi_task_t *done)
{
    (void)device, (void)done;
    sent = *task;
    return 0;
}
pi_task_t *pi_task_block(pi_task_t *task) { return task; }
void pi_task_wait_on(pi_task_t *task) { (void)task; }
void pi_team_config_offload(int cores) { (void)cores; }
static void end(void) { sent.entry(sent.arg); }
""",
    ),
    Port(
        "carfield",
        "match_carfield_host.c",
        ("match_carfield_protocol.h",),
        "match_carfield_pulp_call",
        ("MATCH_CARFIELD_CALL_WAITS=40u", "MATCH_CARFIELD_POLL=1"),
        {
            "match_carfield_api.h": """
int match_carfield_pulp_call(void (*entry)(void *), void *argument);
int match_carfield_pulp_start(void);
int match_port_wait(void);
""",
            "match_carfield_config.h": '#include "match_carfield_protocol.h"\n'
            "extern struct match_carfield_order taken[2];\n"
            "#define MATCH_CARFIELD_PULP_ENTRY 0u\n#define MATCH_CARFIELD_SPATZ_ENTRY 0u",
            "match_carfield_io.h": """
#include <stdint.h>
uint32_t bus_read(uint32_t address);
void bus_write(uint32_t address, uint32_t value);
#define MATCH_CARFIELD_READ(address) bus_read(address)
#define MATCH_CARFIELD_WRITE(address, value) bus_write((address), (value))
#define MATCH_CARFIELD_FENCE() ((void)0)
#define MATCH_CARFIELD_LOOK_AGAIN() 1
#define MATCH_CARFIELD_ORDERS taken
""",
            "dif_rv_plic.h": "",
            "car_util.h": """
enum car_rst { CAR_PULP_RST, CAR_SPATZ_RST };
static inline void car_enable_domain(enum car_rst domain) { (void)domain; }
static inline void car_reset_domain(enum car_rst domain) { (void)domain; }
#define pulp_cluster_set_bootaddress(address) ((void)(address))
""",
        },
        """
#include "match_carfield_api.h"
#include "match_carfield_protocol.h"
struct match_carfield_order taken[2];
static uint32_t letter;
#define FROM (MATCH_CARFIELD_MAILBOX(MATCH_CARFIELD_FROM_PULP) + MATCH_CARFIELD_LETTER0)
uint32_t bus_read(uint32_t address) { return (address == FROM) ? letter : 0u; }
void bus_write(uint32_t address, uint32_t value) { letter = (address == FROM) ? value : letter; }
static void end(void) { letter = MATCH_CARFIELD_ENDED; }
#define BEGIN() match_carfield_pulp_start()
""",
    ),
)

DRIVER = """
#include <stdio.h>
#include <stdlib.h>
#ifndef BEGIN
#define BEGIN() 0
#endif

static int looks, returns;

void unit_look(void)
{
    looks++;
    if (returns && (looks == 10)) {
        end();
    }
    if (looks > 1000) {
        exit(9); /* without a bound */
    }
}

static void layer(void *argument) { (void)argument; }

int main(int argc, char **argv)
{
    (void)argv;
    returns = argc > 1;
    if (BEGIN() != 0) {
        return 8;
    }
    const int first = CALL(layer, NULL), after = looks;
    printf("%d %d %d\\n", first, after, CALL(layer, NULL));
    return 0;
}
"""


@pytest.mark.parametrize("port", PORTS, ids=lambda port: port.package)
def test_a_unit_that_does_not_return_is_given_up(port: Port, tmp_path: Path) -> None:
    folder = ROOT / "plugins" / f"match-{port.package}" / "src" / f"match_{port.package}"
    for name in (port.source, *port.headers):
        shutil.copy(folder / "runtime" / name, tmp_path)
    texts = {"unit.h": "void unit_look(void);\n#define MATCH_YIELD() unit_look()\n", **port.texts}
    texts[HEADER_NAME] = render_timing_header()  # of the twin's pmsis.h
    texts["match_runtime.h"] = Template(text=HEADER.read_text(encoding="utf-8")).render()
    for name, text in {**texts, "main.c": port.unit + DRIVER}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    defines = [f"-D{name}" for name in (*port.defines, f"CALL={port.call}", 'MATCH_SYNC_HEADER="unit.h"')]
    places = [f"-I{place}" for place in (tmp_path, folder / "twin" / "include")]
    # What only other functions of the file call is not there, and not linked.
    options = ["-std=gnu11", "-O1", "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections", "-w"]
    sources = [str(tmp_path / port.source), str(tmp_path / "main.c")]
    subprocess.run(["cc", *options, *defines, *places, *sources, "-o", str(tmp_path / "app")], check=True)

    def ran(*arguments: str) -> list[int]:
        done = subprocess.run([tmp_path / "app", *arguments], capture_output=True, text=True, check=True)
        return [int(number) for number in done.stdout.split()]

    assert ran("returns")[:2] == [0, 10]
    assert ran() == [-1, 40, -1], "given up behind 40 looks; then the unit takes no more"
