/* What each unit runs, in programs with units that take whole regions: one row for each region, then for each unit. */

function offloadTable(kind) {
  const rows = data.offload[kind].map((part) => [
    ...(kind === "regions" ? [part.title] : []),
    [dot(colour(part.unit)), part.unit],
    number(part.operators),
    number(part.macs),
    bytes(part.input_bytes),
    bytes(part.output_bytes),
    bytes(part.constant_bytes),
    number(part.predicted_cycles),
    ...(measured ? [number(part.cycles)] : []),
  ]);
  const columns = [
    ...(kind === "regions" ? [["region", false, "title"]] : []),
    ["unit", false, "unit"],
    ["operators", true],
    ["MACs", true, "wide"],
    ["in", true],
    ["out", true],
    ["constants", true, "wide"],
    ["cycles", true],
    ...(measured ? [["cycles, twin", true]] : []),
  ];
  const name = kind === "regions" ? "Regions" : "Units";
  return table(`offload-${kind}`, `${name}: operators, bytes in and out of one inference, cycles`, columns, rows);
}

/* Nothing if no unit takes whole regions. */
function offload() {
  if (!data.offload) return [];
  const regions = data.offload.regions.length
    ? offloadTable("regions")
    : make("p", { class: "note" }, "No region runs on these units.");
  return [make("h2", { id: "offload" }, "Offload"), regions, offloadTable("units")];
}
