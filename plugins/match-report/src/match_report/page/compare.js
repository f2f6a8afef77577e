/* Two programs side by side: what the page's program does differently from an earlier one. */

function compareView() {
  const found = data.comparison,
    [before, after] = found.programs;
  return [
    make("h2", {}, compareHeadline(before, after)),
    make(
      "p",
      { class: "note" },
      found.same_model
        ? "Both programs are compiled from the same model file."
        : "The programs are compiled from different model files.",
    ),
    programsTable(found, before, after),
    make("h2", {}, "Units"),
    pairTable(
      "compare-units",
      "Share of the time that each unit is busy",
      "unit",
      found.busy.map((row) => ({ ...row, name: row.unit, fill: colour(row.unit) })),
      percent,
      points,
    ),
    ...compareLayers(found.layers),
    ...movedTable(found.moved),
    ...optionsTable(found.options),
    ...filesTable(found.files),
  ];
}

/* By time where both targets have a clock, which may differ; else by cycles. */
function compareHeadline(before, after) {
  const clocks = before.clock_hz && after.clock_hz,
    time = (side) => side.cycles / (clocks ? side.clock_hz.value : 1),
    text = (side) => (clocks ? milliseconds(side.cycles, side.clock_hz) : `${number(side.cycles)} cycles`);
  if (time(before) === time(after)) return `Both programs take ${text(after)}, modelled`;
  const ratio = time(before) / Math.max(1e-12, time(after)),
    words = ratio > 1 ? `${number(ratio, 2)} times as fast` : `${number(1 / ratio, 2)} times as slow`;
  return `${after.name} is ${words} as before: ${text(after)} instead of ${text(before)}, modelled`;
}

const signed = (value, text = number) => `${value > 0 ? "+" : value < 0 ? "−" : ""}${text(Math.abs(value))}`;
const points = (before, after) => {
  const change = 100 * ((after || 0) - (before || 0));
  return Math.abs(change) < 0.05 ? "" : `${signed(change, (value) => number(value, 1))} points`;
};

/* A number with its relative change; what grew is marked by a sign, not by colour alone. */
function growth(before, after, text = number) {
  const change = (after || 0) - (before || 0);
  if (!change) return "";
  const relative = before ? ` (${signed(change / before, percent)})` : "";
  return make("span", { class: change > 0 ? "grew" : "shrank" }, `${signed(change, text)}${relative}`);
}

function programsTable(found, before, after) {
  const text = (name, value) => [name, value(before), value(after), ""];
  const rows = [
    text("program", (side) => side.name),
    text("model file", (side) => side.file),
    text("target", (side) => `${side.target}${side.preset ? `, ${side.preset}` : ""}`),
    text("execution", (side) => (side.concurrent ? "units concurrently" : "one layer after another")),
    text("bottleneck", (side) => (side.bottleneck ? bottleneckText(side.bottleneck) : "-")),
    ["cycles, modelled", number(before.cycles), number(after.cycles), growth(before.cycles, after.cycles)],
  ];
  const [first, second] = [before, after].map((side) => milliseconds(side.cycles, side.clock_hz));
  if (first || second) rows.push(["time", first || "-", second || "-", ""]);
  for (const use of found.memory) {
    const room = (side) => (use.name in side.available ? ` of ${bytes(side.available[use.name])}` : "");
    const size = (value, side) => (value === null ? "-" : `${bytes(value)}${room(side)}`);
    rows.push([
      `memory ${use.name}`,
      size(use.before, before),
      size(use.after, after),
      growth(use.before, use.after, bytes),
    ]);
  }
  const columns = [
    ["what", false, "unit"],
    ["before", false, "side"],
    ["after", false, "side"],
    ["change", false, "side"],
  ];
  return table("compare-programs", "Both programs", columns, rows);
}

/* Two bars, one above the other, on one scale. */
function pairTable(id, caption, what, rows, text, change) {
  const most = Math.max(1e-9, ...rows.flatMap((row) => [row.before || 0, row.after || 0]));
  return table(
    id,
    caption,
    [
      [what, false, "title"],
      ["before, after", false, "bars wide"],
      ["before", true],
      ["after", true],
      ["change", true],
    ],
    rows.map((row) => [
      row.name,
      make(
        "div",
        { class: "pair" },
        bar((row.before || 0) / most, "var(--idle)"),
        bar((row.after || 0) / most, row.fill),
      ),
      row.before === null ? "-" : text(row.before),
      row.after === null ? "-" : text(row.after),
      change(row.before, row.after),
    ]),
  );
}

function compareLayers(layers) {
  const rows = layers.map((row) => {
    const [before, after] = row.units.map((names) => names.join(" and ") || "none");
    const unit = before === after ? after : `${before} → ${after}`;
    const name = [row.title, make("span", { class: "soft block" }, unit)];
    return {
      ...row,
      name,
      fill: colour(row.units[1][0] || row.units[0][0]),
      changed: row.before !== row.after || before !== after,
    };
  });
  const changed = rows.filter((row) => row.changed);
  const holder = make("div", {});
  const fill = (all) =>
    holder.replaceChildren(
      pairTable(
        "compare-layers",
        "Modelled cycles by layer, the largest change first",
        "layer",
        all ? rows : changed,
        number,
        growth,
      ),
    );
  const box = make("input", { id: "compare-all", type: "checkbox", onchange: (event) => fill(event.target.checked) });
  fill(false);
  const heading = make("h2", {}, `Layers: ${number(changed.length)} of ${number(rows.length)} differ`);
  return [
    heading,
    make("div", { class: "bar" }, make("label", {}, box, " also show layers that do not differ")),
    holder,
  ];
}

function movedTable(moved) {
  const heading = make("h2", {}, moved.length ? "Nodes on other units" : "No node moved to another unit");
  if (!moved.length) return [heading];
  const side = (names) => names.join(" and ") || "none";
  const rows = moved.map((row) => [row.node, side(row.before), side(row.after)]);
  return [
    heading,
    table("compare-moved", "Nodes that moved to other units", [["node", false, "title"], ["before"], ["after"]], rows),
  ];
}

function optionsTable(options) {
  if (!options.length) return [];
  const text = (value) => (value === null ? "-" : typeof value === "string" ? value : JSON.stringify(value));
  const rows = options.map((row) => [row.name, text(row.before), text(row.after)]);
  return [
    make("h2", {}, "Options"),
    table("compare-options", "Options that differ", [["option"], ["before"], ["after"]], rows),
  ];
}

function filesTable(files) {
  if (!files.length) return [make("h2", {}, "The emitted files are the same")];
  const rows = files.map((row) => [row.name, signed(-row.removed_lines), signed(row.added_lines)]);
  const caption = "Lines that only one of the programs has, by emitted file";
  return [
    make("h2", {}, "Emitted files"),
    table("compare-files", caption, [["file"], ["removed", true], ["added", true]], rows),
  ];
}
