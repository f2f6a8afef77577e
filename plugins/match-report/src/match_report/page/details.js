/* Details of the selected layer, shown next to every view. */

function showDetails() {
  const panel = document.getElementById("details");
  panel.hidden = chosen === null;
  document.body.classList.toggle("with-details", chosen !== null);
  if (chosen === null) return;
  const layer = byIndex.get(chosen),
    row = rows.get(chosen),
    cost = layer.schedule.cost;
  const list = (entries) =>
    make(
      "dl",
      { class: "facts" },
      ...entries.filter((entry) => entry[1]).flatMap(([name, text]) => [make("dt", {}, name), make("dd", {}, text)]),
    );
  const tile = Object.entries(layer.schedule.tile)
    .map(([dim, size]) => `${dim} ${size} of ${layer.dims[dim]}`)
    .join(", ");
  panel.replaceChildren(
    button("details-close", "close", "close (key Escape)", () => choose(null)),
    make("h2", {}, layer.title),
    make(
      "div",
      { class: "bar" },
      make("span", { class: "soft" }, "show in"),
      ...["timeline", "memory", "network", "layers"].map((view) =>
        button(`details-${view}`, view, `show the selected layer in ${view}`, () => showIn(view)),
      ),
    ),
    list([
      ["runs on", `${layer.unit}, as ${layer.pattern}`],
      [
        "share",
        layer.share && `${layer.share.dim} ${layer.share.first} to ${layer.share.first + layer.share.size - 1}`,
      ],
      ["queue", layer.queue],
      [
        "modelled",
        `${number(layer.predicted_cycles)} cycles (${number(layer.start_cycles)} to ${number(layer.end_cycles)}): compute ${number(cost.compute_cycles)}, ` +
          `transfer ${number(cost.transfer_cycles)}, launch ${number(cost.launch_cycles)}, sync ${number(cost.sync_cycles)}, overlapped −${number(cost.overlapped_cycles)}`,
      ],
      ["estimate", cost.estimate],
      [
        "on the twin",
        row &&
          row.twin_cycles !== null &&
          `${number(row.twin_cycles)} cycles; model error against the twin: ${percent(row.error)}`,
      ],
      ["busy on the twin", busyOf(chosen)],
      [
        "roof",
        row &&
          row.rate &&
          `${number(row.rate, 2)} MAC/cycle, ${percent(row.utilisation)} of ${row.unit}; ${percent(row.roof_share)} of the limit of ${row.limit}`,
      ],
      ["tiles", `${plural(layer.schedule.steps, "kernel call")}${tile ? `: ${tile}` : ""}`],
      [
        "in memory",
        layer.placements
          .map(
            (place) =>
              `${place.operand} ${place.buffers > 1 ? `${place.buffers} x ` : ""}${number(place.size_bytes)} bytes in ${place.memory}`,
          )
          .join(", "),
      ],
      ["ONNX nodes", layer.onnx_names.join(", ")],
    ]),
    alternatives(layer),
  );
}

function alternatives(layer) {
  const rows = layer.alternatives.map((entry) => [
    [dot(colour(entry.unit)), entry.unit],
    entry.pattern,
    number(entry.predicted_cycles),
    entry.chosen ? "chosen" : "",
  ]);
  return table(
    "alternatives",
    "Alternatives",
    [["considered", false, "unit"], ["pattern"], ["modelled", true], ["choice", false, "unit"]],
    rows,
  );
}

/* Cycles of a layer by clock of the twin. */
function busyOf(index) {
  const sums = data.lanes.twin
    .filter((lane) => lane.kind === "clock")
    .map((lane) => [
      lane.name,
      lane.spans.filter((span) => span[2] === index && !span[4]).reduce((sum, span) => sum + span[1] - span[0], 0),
    ]);
  return sums
    .filter((entry) => entry[1])
    .map(([name, cycles]) => `${name} ${number(cycles)}`)
    .join(", ");
}

function showIn(view) {
  open(view);
  if (view === "timeline") findInTimeline();
  if (view === "network") findInNetwork();
}
