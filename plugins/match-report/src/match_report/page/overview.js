/* The whole program on one page: time, the bottleneck and what would help, units, memories, the longest layers. */

function overviewView() {
  const parts = [
    headline(),
    bottleneckCard(),
    make("h2", {}, "Units, modelled"),
    unitTable(data.lanes.modelled, "unit"),
  ];
  if (measured) parts.push(make("h2", {}, "Clocks of the twin"), unitTable(data.lanes.twin, "clock"));
  parts.push(...offload());
  parts.push(make("h2", {}, "Memories"), memoryTable(), make("h2", {}, "Longest layers"), longest());
  const notes = [...report.notes, ...report.target.notes].map((note) => make("li", {}, note));
  parts.push(make("h2", {}, "Program"), make("dl", { class: "facts" }, ...facts()));
  if (notes.length) parts.push(make("h2", {}, "Notes"), make("ul", { class: "notes" }, ...notes));
  parts.push(make("h2", {}, "Downloads"), downloads());
  return parts;
}

/* ---- the numbers that everybody asks for ---- */

function headline() {
  const clock = report.target.clock_hz;
  const at = clock ? ` at ${number(clock.value / 1e6)} MHz${clock.estimate ? " (an estimate)" : ""}` : "";
  const time = (cycles, what) => {
    const text = milliseconds(cycles);
    return text
      ? stat(what, text, `${number(cycles)} cycles${at}`)
      : stat(what, `${number(cycles)} cycles`, "no clock is published");
  };
  const full = [...report.memories].sort((a, b) => share(b) - share(a))[0];
  const stats = [time(report.predicted_cycles, "one inference, modelled")];
  if (measured) {
    const error = report.predicted_cycles / measured.cycles - 1;
    stats.push(
      time(measured.cycles, `on the twin; the model is ${percent(Math.abs(error))} ${error < 0 ? "below" : "above"}`),
    );
  }
  if (full)
    stats.push(
      stat(
        `fullest memory: ${full.name}`,
        percent(share(full)),
        `${bytes(full.used_bytes)} of ${bytes(full.available_bytes)}`,
      ),
    );
  const macs = report.layers.reduce((sum, layer) => sum + layer.macs, 0);
  if (macs)
    stats.push(
      stat(
        "rate",
        `${number(macs / Math.max(1, report.predicted_cycles), 2)} MAC/cycle`,
        `${plural(macs, "MAC")} in all`,
      ),
    );
  if (report.energy.pj !== null) stats.push(stat("energy, modelled", `${number(report.energy.pj / 1e6, 3)} µJ`, ""));
  return make("dl", { class: "stats", id: "headline" }, ...stats);
}

const share = (memory) => memory.used_bytes / Math.max(1, memory.available_bytes);

function stat(name, value, more) {
  return make("div", {}, make("dt", {}, name), make("dd", {}, make("strong", {}, value), make("span", {}, more)));
}

/* ---- the bottleneck ---- */

/* What a unit does in a part of its time. */
const WORK = {
  compute: () => "computing",
  copies: (part) => `waiting for copies${part.links.length ? ` over ${part.links.join(" and ")}` : ""}`,
  control: () => "starting kernels and synchronising",
};

const bottleneckText = ({ unit, share, parts }) =>
  `${unit}, busy ${percent(share)} of the time, ${parts.length > 1 ? "mostly " : ""}${WORK[parts[0].work](parts[0])}`;

function bottleneckCard() {
  const found = data.bottleneck;
  if (!found) return make("p", { class: "note" }, "This program takes no cycles.");
  const most = found.parts[0],
    does = found.parts.map((part) => `${number(part.cycles)} of ${WORK[part.work](part)}`);
  return make(
    "section",
    { class: "card", id: "bottleneck", "aria-labelledby": "bottleneck-name" },
    make("h2", { id: "bottleneck-name" }, `Bottleneck: ${bottleneckText(found)}`),
    make("p", {}, `${plural(found.cycles, "modelled cycle")}: ${does.join(", ")}.`),
    make(
      "p",
      {},
      `The layer with most ${most.work === "compute" ? "computing" : most.work}, ${number(most.layer_cycles)} cycles: `,
      layerLink(most.layer, byIndex.get(most.layer).title),
    ),
    make("h3", {}, "What would help"),
    ...(data.helps.length ? [helpList()] : [make("p", {}, "Nothing in this report saves one percent or more.")]),
  );
}

function helpList() {
  return make(
    "ol",
    { class: "helps", id: "helps" },
    ...data.helps.map((help) =>
      make(
        "li",
        {},
        make(
          "div",
          { class: "saves" },
          make("strong", {}, `at most ${percent(help.share)}`),
          `${number(help.cycles)} cycles`,
        ),
        make(
          "div",
          {},
          make("strong", {}, help.action),
          make("p", {}, help.why),
          ...(help.next ? [make("code", {}, help.next)] : []),
          ...(help.layer === null ? [] : [layerLink(help.layer, "show the layer")]),
        ),
      ),
    ),
  );
}

/* ---- units, memories, layers ---- */

function unitTable(lanes, kind) {
  const cycles = (name, work) => {
    const part = data.parts.find((entry) => entry.unit === name && entry.work === work);
    return part ? number(part.cycles) : "0";
  };
  const planned = kind === "unit";
  const more = planned
    ? [
        ["compute", true, "wide"],
        ["copies", true, "wide"],
        ["control", true, "wide"],
      ]
    : [];
  const rows = lanes
    .filter((lane) => lane.kind === kind || lane.kind === "link")
    .map((lane) => [
      [
        dot(lane.kind === "link" ? OTHER : colour(lane.unit)),
        make("span", lane.bottleneck ? { class: "hot" } : {}, lane.kind === "link" ? `${lane.name} (link)` : lane.name),
      ],
      bar(lane.busy, lane.kind === "link" ? OTHER : colour(lane.unit)),
      make(
        "span",
        lane.bottleneck ? { class: "hot" } : {},
        `${percent(lane.busy)}${lane.bottleneck ? ", busiest" : ""}`,
      ),
      ...(planned
        ? ["compute", "copies", "control"].map((work) => (lane.kind === "unit" ? cycles(lane.name, work) : ""))
        : []),
    ]);
  const name = planned
    ? "Units and links: share of the time they are busy, cycles by kind of work"
    : "Clocks of the twin: share of the time they are busy";
  return table(
    `busy-${kind}`,
    name,
    [[planned ? "unit" : "clock", false, "unit"], ["share", false, "bars"], ["busy", true], ...more],
    rows,
  );
}

function memoryTable() {
  const rows = report.memories.map((use) => {
    const hot = share(use) > 0.95 ? { class: "hot" } : {};
    return [
      make("span", hot, use.name),
      bar(share(use), OTHER),
      make("span", hot, percent(share(use))),
      bytes(use.used_bytes),
      bytes(use.available_bytes),
    ];
  });
  const columns = [["memory"], ["share", false, "bars"], ["full", true], ["peak", true], ["available", true]];
  return table("memories", "Memories: peak use and what there is", columns, rows);
}

function longest() {
  const cycles = (row) => (row.twin_cycles === null ? row.predicted_cycles : row.twin_cycles);
  const total = Math.max(1, measured ? measured.cycles : report.predicted_cycles);
  const top = [...data.rows].sort((a, b) => cycles(b) - cycles(a)).slice(0, 5);
  const rows = top.map((row) => [
    layerLink(row.index, row.title),
    [dot(colour(row.unit)), row.unit],
    bar(cycles(row) / total, colour(row.unit)),
    number(cycles(row)),
    percent(cycles(row) / total),
  ]);
  const columns = [
    ["layer", false, "title"],
    ["unit", false, "unit"],
    ["share", false, "bars wide"],
    [measured ? "cycles, twin" : "cycles", true],
    ["of all", true],
  ];
  return table("longest", "The five layers with the most cycles", columns, rows);
}

/* ---- further facts ---- */

function facts() {
  const found = [
    ["network", `${report.source.file} (sha256 ${report.source.sha256.slice(0, 16)})`],
    ["target", `${report.target.name}: ${report.target.description}`],
    ["cost figures", report.target.preset || "those of the target"],
  ];
  if (report.sequential_cycles !== null && report.queues.length)
    found.push([
      "one after another",
      `${number(report.sequential_cycles)} cycles modelled; the concurrent program takes ${percent(report.predicted_cycles / report.sequential_cycles)} of them`,
    ]);
  if (report.bounds) found.push(["lower bound", `${number(Math.max(report.bounds.work, report.bounds.path))} cycles`]);
  for (const row of report.regions) {
    const of = (part, total) => `${number(part)} of ${number(total)}`;
    found.push([
      `regions on ${row.unit}`,
      `${of(row.chosen, row.found)} found: ${of(row.nodes, row.nodes_total)} operators, ${of(row.macs, row.macs_total)} multiply-accumulates`,
    ]);
  }
  return found.flatMap(([name, text]) => [make("dt", {}, name), make("dd", {}, text)]);
}

/* ---- files ---- */

const KINDS_OF_FILES = { csv: "text/csv", json: "application/json", svg: "image/svg+xml" };

/* Links to the files that the page carries; they are unpacked after the page is shown. */
function downloads() {
  const list = make("ul", { class: "downloads", id: "download-list" });
  setTimeout(async () => {
    const files = Object.entries(await unpacked("downloads"));
    list.append(
      ...files.map(([name, text]) => {
        const type = KINDS_OF_FILES[name.split(".").pop()] || "text/plain";
        const href = URL.createObjectURL(new Blob([text], { type }));
        return make("li", {}, make("a", { href, download: name }, name), ` ${bytes(text.length)}`);
      }),
    );
    if (!files.length) list.replaceWith(make("p", { class: "note" }, "This page carries no files."));
  });
  return list;
}
