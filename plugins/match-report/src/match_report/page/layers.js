/* The table of layers: sorted by any column, filtered by words and unit. */

/* Key of a row, heading, text of a cell, whether it is a number, what the heading means. */
const COLUMNS = [
  ["index", "#", (row) => number(row.index), true, "position in the program"],
  ["title", "ONNX nodes", (row) => row.title, false, "the layer's main ONNX nodes"],
  ["unit", "unit", (row) => row.unit, false, "unit that runs the layer"],
  ["pattern", "pattern", (row) => row.pattern, false, "pattern of the unit that matched the nodes"],
  ["macs", "MACs", (row) => number(row.macs), true, "multiply-accumulates"],
  ["size_bytes", "bytes", (row) => number(row.size_bytes), true, "inputs, constants and outputs, each counted once"],
  ["tiles", "tiles", (row) => number(row.tiles), true, "kernel calls"],
  ["predicted_cycles", "modelled", (row) => marked(row), true, "modelled cycles; marked: an estimate"],
  ["twin_cycles", "twin", (row) => number(row.twin_cycles), true, "cycles that the twin counted"],
  ["error", "error", (row) => percent(row.error), true, "model error against the twin"],
  ["rate", "MAC/cycle", (row) => number(row.rate, 2), true, "of twin cycles if the twin was run"],
  ["utilisation", "utilisation", (row) => percent(row.utilisation), true, "rate relative to the unit's roof"],
  ["intensity", "MAC/byte", (row) => number(row.intensity, 2), true, "MACs per byte of operands"],
  ["limit", "roof", (row) => row.limit || "-", false, "limiting resource: the unit, or the link to its memory"],
  ["roof_share", "of roof", (row) => percent(row.roof_share), true, "rate relative to the lower roof"],
];

function layersView() {
  const state = { key: "index", up: true, words: "", unit: "" };
  const columns = COLUMNS.filter(([key]) => measured || (key !== "twin_cycles" && key !== "error"));
  const body = make("tbody", {}),
    count = make("span", { class: "note", id: "layers-count", role: "status" });
  const heads = columns.map(([key, text, , right, title]) =>
    make(
      "th",
      { class: right ? "number" : "", scope: "col" },
      button(`sort-${key}`, text, title, () => sortBy(key, right)),
    ),
  );
  const line = (row) =>
    make(
      "tr",
      { "data-layer": row.index, onclick: () => choose(row.index) },
      ...columns.map(([key, , text, right]) =>
        make(
          "td",
          { class: right ? "number" : key },
          ...(key === "unit" ? [dot(colour(row.unit))] : []),
          key === "title" ? make("button", { type: "button", class: "link" }, row.title) : text(row),
        ),
      ),
    );
  const lines = new Map(data.rows.map((row) => [row.index, line(row)]));
  const mark = () => lines.forEach((element, index) => (element.className = standing(index).replace("faded", "")));
  function sortBy(key, right) {
    state.up = state.key === key ? !state.up : !right;
    state.key = key;
    fill();
  }
  function fill() {
    columns.forEach(([key], place) =>
      heads[place].setAttribute("aria-sort", key === state.key ? (state.up ? "ascending" : "descending") : "none"),
    );
    const kept = data.rows.filter(
      (row) =>
        (!state.unit || row.unit === state.unit) && `${row.title} ${row.pattern}`.toLowerCase().includes(state.words),
    );
    kept.sort((a, b) => ordered(a[state.key], b[state.key], state.up) || a.index - b.index);
    body.replaceChildren(...kept.map((row) => lines.get(row.index)));
    count.textContent = `${number(kept.length)} of ${plural(data.rows.length, "layer")}`;
  }
  watchers.push(mark);
  mark();
  fill();
  return [
    make("h2", {}, "Layers"),
    make(
      "div",
      { class: "bar" },
      make("label", { for: "layers-filter" }, "search"),
      make("input", {
        id: "layers-filter",
        type: "search",
        oninput: (event) => {
          state.words = event.target.value.toLowerCase();
          fill();
        },
      }),
      make(
        "select",
        {
          id: "layers-unit",
          "aria-label": "units to show",
          onchange: (event) => {
            state.unit = event.target.value;
            fill();
          },
        },
        make("option", { value: "" }, "all units"),
        ...units.map((name) => make("option", { value: name }, name)),
      ),
      count,
    ),
    roofline(),
    make("p", { class: "note", id: "layers-note" }, layersNote()),
    framed(
      "Layers",
      make(
        "table",
        { id: "layers-table" },
        make("caption", { class: "quiet" }, "Layers with their unit, size and cycles"),
        make("thead", {}, make("tr", {}, ...heads)),
        body,
      ),
    ),
    ...estimates(),
  ];
}

/* Modelled cycles, with the mark of the footnote that says what of them is an estimate. */
function marked(row) {
  const mark = data.footnotes[row.estimate];
  return mark ? `${number(row.predicted_cycles)} ${mark}` : number(row.predicted_cycles);
}

/* The footnotes, and the figures of the target that are estimates. */
function estimates() {
  const marks = Object.entries(data.footnotes);
  const figures = report.target.estimates || [];
  if (!marks.length && !figures.length) return [];
  return [
    make("h3", {}, "Estimates"),
    make("ul", { id: "layers-footnotes" }, ...marks.map(([text, mark]) => make("li", {}, `${mark} ${text}`))),
    table(
      "layers-estimates",
      "Figures that no public source states",
      [["figure"], ["value", true], ["unit"], ["reasoning"]],
      figures.map((figure) => [figure.name, String(figure.value), figure.unit, figure.source]),
    ),
  ];
}

function layersNote() {
  const cycles = measured
    ? "the cycles that the twin counted"
    : "modelled cycles; run match report with --twin to count cycles";
  return (
    `MAC/cycle uses ${cycles}. A unit's roof (dashed) is the best modelled rate of a kernel of this program on it, ` +
    "without copies; utilisation is the layer's rate relative to this roof. A link's roof is its " +
    "bytes per cycle times the layer's MAC per byte."
  );
}

/* Rows without a value come last. */
function ordered(one, two, up) {
  if (one === null || two === null) return (one === null) - (two === null);
  const order = one < two ? -1 : one > two ? 1 : 0;
  return up ? order : -order;
}
