/* The whole program on one page: time, busy units, memories, the longest layers, notes. */

function overviewView() {
  const parts = [
    make("dl", { class: "facts" }, ...facts()),
    make("h2", {}, "Units, modelled"),
    ...busyMeters(data.lanes.modelled, "unit"),
  ];
  if (measured) parts.push(make("h2", {}, "Clocks of the twin"), ...busyMeters(data.lanes.twin, "clock"));
  parts.push(
    make("h2", {}, "Memories"),
    ...report.memories.map((use) =>
      meter(
        use.name,
        use.used_bytes / Math.max(1, use.available_bytes),
        OTHER,
        `${number(use.used_bytes)} of ${number(use.available_bytes)} bytes`,
        use.used_bytes > 0.95 * use.available_bytes,
      ),
    ),
    make("h2", {}, "Longest layers"),
    longest(),
  );
  const notes = [...report.notes, ...report.target.notes].map((note) => make("p", { class: "note" }, note));
  if (notes.length) parts.push(make("h2", {}, "Notes"), ...notes);
  return parts;
}

function facts() {
  const time = (cycles) => {
    const clock = report.target.clock_hz;
    if (!clock) return `${number(cycles)} cycles`;
    return `${number(cycles)} cycles, ${milliseconds(cycles)} at ${number(clock.value / 1e6)} MHz${clock.estimate ? " (an estimate)" : ""}`;
  };
  const found = [
    ["network", `${report.source.file} (sha256 ${report.source.sha256.slice(0, 16)})`],
    ["target", `${report.target.name}${report.target.preset ? `, cost figures ${report.target.preset}` : ""}`],
    ["modelled", time(report.predicted_cycles)],
  ];
  if (measured)
    found.push([
      "on the twin",
      `${time(measured.cycles)}; model error against the twin: ${percent(report.predicted_cycles / measured.cycles - 1)}`,
    ]);
  if (report.sequential_cycles !== null && report.queues.length)
    found.push([
      "one after another",
      `${number(report.sequential_cycles)} cycles modelled; the concurrent program takes ${percent(report.predicted_cycles / report.sequential_cycles)} of them`,
    ]);
  if (report.bounds) found.push(["lower bound", `${number(Math.max(report.bounds.work, report.bounds.path))} cycles`]);
  for (const row of report.regions) {
    const share = (part, total) => `${number(part)} of ${number(total)}`;
    found.push([
      `regions on ${row.unit}`,
      `${number(row.chosen)} of ${number(row.found)} found: ${share(row.nodes, row.nodes_total)} operators, ${share(row.macs, row.macs_total)} multiply-accumulates`,
    ]);
  }
  if (report.energy.pj !== null) found.push(["energy", `${number(report.energy.pj / 1e6, 3)} µJ modelled`]);
  return found.flatMap(([name, text]) => [make("dt", {}, name), make("dd", {}, text)]);
}

function meter(name, part, fill, text, hot) {
  return make(
    "div",
    { class: "meter" },
    make("span", hot ? { class: "hot" } : {}, name),
    make(
      "div",
      { class: "track" },
      make("div", { class: "fill", style: `width:${Math.min(100, 100 * part)}%;background:${fill}` }),
    ),
    make("span", hot ? { class: "hot" } : {}, text),
  );
}

function busyMeters(lanes, kind) {
  return lanes
    .filter((lane) => lane.kind === kind || lane.kind === "link")
    .map((lane) =>
      meter(
        lane.name,
        lane.busy,
        colour(lane.unit),
        `${percent(lane.busy)} busy${lane.bottleneck ? ", bottleneck" : ""}`,
        lane.bottleneck,
      ),
    );
}

function longest() {
  const cycles = (row) => (row.twin_cycles === null ? row.predicted_cycles : row.twin_cycles);
  const total = measured ? measured.cycles : report.predicted_cycles;
  const top = [...data.rows].sort((a, b) => cycles(b) - cycles(a)).slice(0, 5);
  return make(
    "div",
    { id: "longest" },
    ...top.map((row) => {
      const line = meter(
        row.title,
        cycles(row) / total,
        colour(row.unit),
        `${number(cycles(row))} cycles on ${row.unit}${row.twin_cycles === null ? ", modelled" : ", twin"}`,
        false,
      );
      line.classList.add("link");
      line.dataset.layer = row.index;
      line.addEventListener("click", () => choose(row.index));
      return line;
    }),
  );
}
