"use strict";

/* The report is data; names in it come from a model file, so they are only ever put in as text. */
const report = JSON.parse(document.getElementById("report").textContent);
const PALETTE = ["#4e79a7", "#f28e2b", "#59a14f", "#b07aa1", "#76b7b2", "#edc948", "#9c755f", "#ff9da7"];
const units = report.units.map((unit) => unit.name);
const layers = report.layers.filter((layer) => !layer.view);
const byIndex = new Map(report.layers.map((layer) => [layer.index, layer]));
const measured = report.measured;
const twinCycles = new Map((measured ? measured.layers : []).map((layer) => [layer.index, layer.cycles]));
let chosen = null;
const watchers = [];

/* ---- small helpers ------------------------------------------------------------------------------------------- */

function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

function draw(name, attributes = {}, text = "") {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text) element.textContent = text;
  return element;
}

const number = (value, digits = 0) =>
  value === null || value === undefined || Number.isNaN(value) ? "-" :
  value.toLocaleString("en-US", { maximumFractionDigits: digits, minimumFractionDigits: digits });
const percent = (value) => (value === null ? "-" : `${(100 * value).toFixed(1)} %`);
const colour = (unit) => (units.includes(unit) ? PALETTE[units.indexOf(unit) % PALETTE.length] : "#98a2b3");
const shortened = (text, length) => (text.length > length ? `${text.slice(0, length - 1)}…` : text);

function time(cycles) {
  const clock = report.target.clock_hz;
  return clock ? `${number((1e3 * cycles) / clock.value, 3)} ms at ${number(clock.value / 1e6)} MHz` : "the target states no clock";
}

function tipFor(element, text) {
  const tip = document.getElementById("tip");
  element.addEventListener("pointermove", (event) => {
    tip.textContent = text();
    tip.hidden = false;
    tip.style.left = `${Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 8)}px`;
    tip.style.top = `${Math.min(event.clientY + 14, window.innerHeight - tip.offsetHeight - 8)}px`;
  });
  element.addEventListener("pointerleave", () => { tip.hidden = true; });
}

function choose(index) {
  chosen = index;
  showDetails();
  for (const watcher of watchers) watcher();
}

function legend() {
  const items = units.map((unit) => make("span", {}, make("span", { class: "dot", style: `background:${colour(unit)}` }), unit));
  return make("div", { class: "legend" }, ...items);
}

/* ---- what is derived from the report --------------------------------------------------------------------------- */

function merged(spans) {
  let busy = 0, end = -1;
  for (const span of [...spans].sort((a, b) => a.start - b.start)) {
    busy += Math.max(0, span.end - Math.max(span.start, end));
    end = Math.max(end, span.end);
  }
  return busy;
}

/* Lanes of the timeline: {name, unit, spans: [{start, end, layer, text}]}. */
function modelledLanes() {
  const lanes = units.map((unit) => ({ name: unit, unit, spans: layers.filter((layer) => layer.unit === unit).map((layer) => (
    { start: layer.start_cycles, end: layer.end_cycles, layer: layer.index, text: layer.title })) }));
  for (const link of report.links) {
    const used = layers.filter((layer) => layer.schedule.cost.transfer_cycles > 0 && layer.placements.some(
      (placement) => placement.memory === link.near));
    if (used.length) lanes.push({ name: `${link.name} (copies of a layer, in all)`, unit: null, spans: used.map((layer) => ({
      start: layer.start_cycles, layer: layer.index, text: `copies of ${layer.title}`,
      end: Math.min(layer.end_cycles, layer.start_cycles + layer.schedule.cost.transfer_cycles) })) });
  }
  if (report.swaps.length) lanes.push({ name: "swaps", unit: null, spans: report.swaps.map((swap) => ({
    start: swap.start_cycles, end: swap.end_cycles, layer: null, text: `${swap.source} to ${swap.target}` })) });
  return lanes;
}

function twinLanes() {
  const lanes = new Map();
  for (const event of measured.events) {
    if (!lanes.has(event.clock)) lanes.set(event.clock, { name: event.name, unit: event.name, spans: [] });
    const layer = event.layer === null ? null : byIndex.get(event.layer);
    lanes.get(event.clock).spans.push({ start: event.start_cycles, end: event.end_cycles, layer: event.layer,
      idle: event.kind.includes("wait"), text: `${event.kind}${layer ? ` of ${layer.title}` : ""}` });
  }
  return [...lanes.entries()].sort((a, b) => a[0] - b[0]).map((entry) => entry[1]);
}

function withBusy(lanes, total) {
  for (const lane of lanes) lane.busy = merged(lane.spans.filter((span) => !span.idle)) / Math.max(1, total);
  const most = Math.max(...lanes.map((lane) => lane.busy));
  for (const lane of lanes) lane.bottleneck = lane.busy === most && most > 0;
  return lanes;
}

/* A unit's best kernel rate in this program, in MACs per cycle: its roof here, not the data sheet's. */
const bestRate = new Map(units.map((unit) => [unit, Math.max(0, ...layers.filter(
  (layer) => layer.unit === unit && layer.macs > 0).map((layer) => layer.macs / Math.max(1, layer.schedule.cost.compute_cycles)))]));

function rowOf(layer) {
  const bytes = layer.input_bytes + layer.constant_bytes + layer.output_bytes;
  const cycles = twinCycles.has(layer.index) ? twinCycles.get(layer.index) : layer.predicted_cycles;
  const rate = layer.macs ? layer.macs / Math.max(1, cycles) : null;
  const twin = twinCycles.has(layer.index) ? twinCycles.get(layer.index) : null;
  return { layer, index: layer.index, title: layer.title, unit: layer.unit, pattern: layer.pattern, macs: layer.macs,
    predicted: layer.predicted_cycles, twin, error: twin ? layer.predicted_cycles / twin - 1 : null, rate,
    utilisation: rate !== null && bestRate.get(layer.unit) ? rate / bestRate.get(layer.unit) : null,
    intensity: layer.macs && bytes ? layer.macs / bytes : null, bytes, tiles: layer.schedule.steps };
}
const rows = layers.map(rowOf);

function layerText(layer) {
  const twin = twinCycles.has(layer.index) ? `\n${number(twinCycles.get(layer.index))} cycles on the twin` : "";
  return `${layer.title}\n${layer.unit}: ${layer.pattern}\ncycles ${number(layer.start_cycles)} to ${number(layer.end_cycles)} (modelled)\n` +
    `${number(layer.predicted_cycles)} cycles modelled${twin}\n${number(layer.macs)} MACs, ${number(layer.schedule.steps)} tiles`;
}

/* ---- a drawing with zoom and pan -------------------------------------------------------------------------------- */

class Plot {
  /* ``paint(group, x)`` draws with x(cycles) in pixels. Both directions move together where ``free``. */
  constructor(id, height, total, left, paint) {
    this.total = Math.max(1, total);
    this.left = left;
    this.paint = paint;
    this.from = 0;
    this.to = this.total;
    this.svg = draw("svg", { id, height, role: "img" });
    this.svg.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.at(event));
    }, { passive: false });
    this.svg.addEventListener("pointerdown", (event) => { this.grab = { x: event.clientX, from: this.from, to: this.to }; });
    window.addEventListener("pointerup", () => { this.grab = null; });
    this.svg.addEventListener("pointermove", (event) => {
      if (!this.grab) return;
      const shift = ((this.grab.x - event.clientX) / this.width()) * (this.grab.to - this.grab.from);
      this.show(this.grab.from + shift, this.grab.to + shift);
    });
    watchers.push(() => this.redraw());
    new ResizeObserver(() => this.redraw()).observe(this.svg);
  }
  width() { return Math.max(100, this.svg.clientWidth - this.left - 10); }
  x(value) { return this.left + ((value - this.from) / (this.to - this.from)) * this.width(); }
  at(event) {
    const place = (event.clientX - this.svg.getBoundingClientRect().left - this.left) / this.width();
    return this.from + Math.min(1, Math.max(0, place)) * (this.to - this.from);
  }
  zoom(factor, around = (this.from + this.to) / 2) {
    const span = Math.min(this.total, Math.max(20, (this.to - this.from) * factor));
    const part = (around - this.from) / (this.to - this.from);
    this.show(around - part * span, around + (1 - part) * span);
  }
  show(from, to) {
    const span = to - from;
    this.from = Math.min(Math.max(0, from), this.total - span);
    this.to = this.from + span;
    this.redraw();
  }
  redraw() {
    if (!this.svg.clientWidth) return;
    this.svg.replaceChildren();
    this.svg.dataset.from = Math.round(this.from);
    this.svg.dataset.to = Math.round(this.to);
    this.paint(this);
  }
  axis(bottom) {
    const step = 10 ** Math.floor(Math.log10((this.to - this.from) / 4));
    const wide = (this.to - this.from) / step > 10 ? 5 * step : step;
    for (let value = Math.ceil(this.from / wide) * wide; value <= this.to; value += wide) {
      this.svg.append(draw("line", { class: "axis", x1: this.x(value), x2: this.x(value), y1: 0, y2: bottom }),
        draw("text", { class: "soft", x: this.x(value) + 3, y: bottom + 14 }, number(value)));
    }
  }
  rectangle(span, y, height, fill, text, layer, label = "") {
    const x1 = Math.max(this.left, this.x(span.start)), x2 = Math.min(this.left + this.width(), this.x(span.end));
    if (x2 < this.left || x1 > this.left + this.width() || x2 < x1) return;
    const box = draw("rect", { class: layer !== null && layer === chosen ? "mark chosen" : "mark", x: x1, y, height, fill,
      width: Math.max(0.7, x2 - x1), "data-layer": layer === null ? "" : layer });
    tipFor(box, text);
    if (layer !== null) box.addEventListener("click", () => choose(layer));
    this.svg.append(box);
    if (label && x2 - x1 > 40 && height > 12) {
      const words = draw("text", { x: x1 + 4, y: y + height / 2 + 4, "pointer-events": "none" }, shortened(label, Math.floor((x2 - x1) / 7)));
      this.svg.append(words);
    }
  }
  buttons(prefix) {
    const button = (name, text, action) => make("button", { id: `${prefix}-${name}`, onclick: action }, text);
    return [button("in", "+", () => this.zoom(0.5)), button("out", "−", () => this.zoom(2)),
      button("left", "◀", () => this.show(this.from - (this.to - this.from) / 4, this.to - (this.to - this.from) / 4)),
      button("right", "▶", () => this.show(this.from + (this.to - this.from) / 4, this.to + (this.to - this.from) / 4)),
      button("all", "all", () => this.show(0, this.total))];
  }
}

/* ---- views ------------------------------------------------------------------------------------------------------ */

function meter(name, part, fill, text, hot) {
  return make("div", { class: "meter" }, make("span", hot ? { class: "hot" } : {}, name),
    make("div", { class: "track" }, make("div", { class: "fill", style: `width:${Math.min(100, 100 * part)}%;background:${fill}` })),
    make("span", hot ? { class: "hot" } : {}, text));
}

function overview() {
  const total = measured ? measured.cycles : report.predicted_cycles;
  const lanes = withBusy(modelledLanes().filter((lane) => lane.unit), report.predicted_cycles);
  const fact = (name, text) => [make("dt", {}, name), make("dd", {}, text)];
  const facts = [...fact("network", `${report.source.file} (sha256 ${report.source.sha256.slice(0, 16)})`),
    ...fact("target", `${report.target.name}${report.target.preset ? `, cost figures ${report.target.preset}` : ""}`),
    ...fact("modelled", `${number(report.predicted_cycles)} cycles, ${time(report.predicted_cycles)}`)];
  if (measured) facts.push(...fact("on the twin", `${number(total)} cycles, ${time(total)}; modelled / twin ${number(report.predicted_cycles / total, 3)}`));
  if (report.sequential_cycles !== null && report.queues.length) facts.push(...fact("one after another",
    `${number(report.sequential_cycles)} cycles modelled; side by side saves ${percent(1 - report.predicted_cycles / report.sequential_cycles)}`));
  if (report.bounds) facts.push(...fact("lower bound", `${number(Math.max(report.bounds.work, report.bounds.path))} cycles`));
  if (report.energy.pj !== null) facts.push(...fact("energy", `${number(report.energy.pj / 1e6, 3)} µJ (modelled)`));
  const busy = lanes.map((lane) => meter(lane.name, lane.busy, colour(lane.unit), `${percent(lane.busy)} busy${lane.bottleneck ? ", bottleneck" : ""}`, lane.bottleneck));
  const memory = report.memories.map((entry) => meter(entry.name, entry.used_bytes / entry.available_bytes, "#98a2b3",
    `${number(entry.used_bytes)} of ${number(entry.available_bytes)} bytes`, entry.used_bytes > 0.95 * entry.available_bytes));
  const notes = [...report.notes, ...report.target.notes].map((note) => make("p", { class: "note" }, note));
  return [make("dl", { class: "facts" }, ...facts), make("h2", {}, "Units (modelled)"), ...busy, make("h2", {}, "Memories"), ...memory,
    ...(notes.length ? [make("h2", {}, "Notes"), ...notes] : [])];
}

function timeline() {
  const LANE = 34;
  let lanes = [], total = 1, plot = null;
  const holder = make("div", {});
  function rebuild(source) {
    total = source === "twin" ? measured.cycles : report.predicted_cycles;
    lanes = withBusy(source === "twin" ? twinLanes() : modelledLanes(), total);
    const height = lanes.length * LANE + 26;
    plot = new Plot("timeline-plot", height, total, 230, (own) => {
      own.axis(lanes.length * LANE);
      lanes.forEach((lane, place) => {
        const y = place * LANE;
        own.svg.append(draw("line", { class: "axis", x1: 0, x2: own.svg.clientWidth, y1: y + LANE, y2: y + LANE }));
        for (const span of lane.spans) {
          const layer = span.layer === null ? null : byIndex.get(span.layer);
          const fill = span.idle ? "#eef0f3" : colour(layer ? layer.unit : lane.unit);
          own.rectangle(span, y + 4, LANE - 8, fill, () => `${span.text}\n${number(span.end - span.start)} cycles, ` +
            `${number(span.start)} to ${number(span.end)}${layer ? `\n\n${layerText(layer)}` : ""}`, span.layer, span.text);
        }
        own.svg.append(draw("rect", { x: 0, y: y + 1, width: own.left - 4, height: LANE - 2, fill: "white" }),
          draw("text", { x: 6, y: y + 14, class: lane.bottleneck ? "hot" : "" }, shortened(lane.name, 32)),
          draw("text", { x: 6, y: y + 28, class: lane.bottleneck ? "hot lane-busy" : "soft lane-busy" },
            `${percent(lane.busy)} busy${lane.bottleneck ? ": bottleneck" : ""}`));
      });
    });
    const sources = make("select", { id: "timeline-source", onchange: (event) => rebuild(event.target.value) },
      make("option", { value: "modelled" }, "modelled"), ...(measured ? [make("option", { value: "twin" }, "twin")] : []));
    sources.value = source;
    holder.replaceChildren(make("div", { class: "bar" }, make("label", {}, "cycles "), sources, ...plot.buttons("timeline")), plot.svg,
      legend(), make("p", { class: "note" }, source === "twin" ? "All that occupies a clock of the twin; waits are grey and not counted as busy." :
        "What was planned. Copies are shown as one block at the start of their layer: their places within it are not modelled."));
  }
  rebuild(measured ? "twin" : "modelled");
  return [holder];
}

function memoryView() {
  const holder = make("div", {});
  const home = report.target.home;
  function boxes(name) {
    if (name === home) return report.buffers.filter((buffer) => buffer.memory === name && buffer.offset_bytes !== null).map((buffer) => {
      const maker = byIndex.get(buffer.first_layer);
      return { start: buffer.start_cycles, end: buffer.end_cycles, offset: buffer.offset_bytes, size: buffer.size_bytes,
        layer: buffer.first_layer, unit: maker ? maker.unit : null, label: buffer.tensors.join(", ") || buffer.name,
        text: `${buffer.tensors.join(", ") || buffer.name} (${buffer.kind})\n${number(buffer.size_bytes)} bytes at ${number(buffer.offset_bytes)}\n` +
          `cycles ${number(buffer.start_cycles)} to ${number(buffer.end_cycles)}\nmade by ${maker ? `${maker.title} on ${maker.unit}` : "the caller"}\n` +
          `ONNX nodes: ${maker ? maker.onnx_names.join(", ") : "-"}` };
    });
    const found = [];
    for (const layer of layers) for (const placement of layer.placements) if (placement.memory === name) {
      for (let copy = 0; copy < placement.buffers; copy++) found.push({ start: layer.start_cycles, end: layer.end_cycles,
        offset: placement.offset_bytes + copy * placement.size_bytes, size: placement.size_bytes, layer: layer.index, unit: layer.unit,
        label: placement.operand, text: `${placement.operand} of ${layer.title}${placement.buffers > 1 ? ` (buffer ${copy + 1} of 2)` : ""}\n` +
          `${number(placement.size_bytes)} bytes at ${number(placement.offset_bytes + copy * placement.size_bytes)}\n` +
          `${layer.unit}, cycles ${number(layer.start_cycles)} to ${number(layer.end_cycles)}\nONNX nodes: ${layer.onnx_names.join(", ")}` });
    }
    return found;
  }
  function rebuild(name) {
    const entry = report.memories.find((memory) => memory.name === name);
    const found = boxes(name);
    const top = Math.max(1, entry.arena_bytes, ...found.map((box) => box.offset + box.size));
    const HEIGHT = 380, LEFT = 110;
    const plot = new Plot("memory-plot", HEIGHT + 26, report.predicted_cycles, LEFT, (own) => {
      own.axis(HEIGHT);
      for (const box of found) {
        const y = HEIGHT - ((box.offset + box.size) / top) * HEIGHT;
        own.rectangle(box, y, Math.max(1, (box.size / top) * HEIGHT), colour(box.unit), () => box.text, box.layer, box.label);
      }
      own.svg.append(draw("rect", { x: 0, y: 0, width: LEFT - 4, height: HEIGHT, fill: "white" }),
        draw("text", { x: 6, y: 14 }, `${number(top)} bytes`), draw("text", { x: 6, y: HEIGHT - 4 }, "0"));
    });
    const select = make("select", { id: "memory-level", onchange: (event) => rebuild(event.target.value) },
      ...report.memories.map((memory) => make("option", { value: memory.name }, `${memory.name} (level ${memory.level})`)));
    select.value = name;
    holder.replaceChildren(make("div", { class: "bar" }, make("label", {}, "memory "), select, ...plot.buttons("memory")), plot.svg, legend(),
      make("p", { class: "note", id: "memory-facts" }, `${name}: ${number(entry.used_bytes)} of ${number(entry.available_bytes)} bytes used; ` +
        `${number(entry.arena_bytes)} for what lives and dies (drawn, over modelled cycles), ${number(entry.constant_bytes)} for constants, ` +
        `${number(entry.caller_bytes)} for the caller's inputs and outputs.`));
  }
  rebuild(home);
  return [holder];
}

function networkView() {
  const nodes = report.network.nodes, edges = report.network.edges;
  const depth = nodes.map(() => 0);
  for (const edge of edges) depth[edge.to] = Math.max(depth[edge.to], depth[edge.from] + 1);
  const row = new Map(), place = nodes.map((_, index) => {
    const used = row.get(depth[index]) || 0;
    row.set(depth[index], used + 1);
    return used;
  });
  const WIDE = 210, HIGH = 44, across = Math.max(1, ...row.values()), down = Math.max(1, ...depth) + 1;
  const svg = draw("svg", { id: "network-plot", height: 620 });
  let view = { x: 0, y: 0, w: 1200, h: 620 };
  const apply = () => svg.setAttribute("viewBox", `${view.x} ${view.y} ${view.w} ${view.h}`);
  const zoom = (factor) => {
    view = { x: view.x + (view.w * (1 - factor)) / 2, y: view.y + (view.h * (1 - factor)) / 2, w: view.w * factor, h: view.h * factor };
    apply();
  };
  svg.addEventListener("wheel", (event) => { event.preventDefault(); zoom(event.deltaY > 0 ? 1.2 : 0.83); }, { passive: false });
  let grab = null;
  svg.addEventListener("pointerdown", (event) => { grab = { x: event.clientX, y: event.clientY, view: { ...view } }; });
  window.addEventListener("pointerup", () => { grab = null; });
  svg.addEventListener("pointermove", (event) => {
    if (!grab) return;
    const scale = view.w / svg.clientWidth;
    view = { ...view, x: grab.view.x - (event.clientX - grab.x) * scale, y: grab.view.y - (event.clientY - grab.y) * scale };
    apply();
  });
  const middle = (index) => ({ x: (place[index] + 0.5) * WIDE, y: depth[index] * HIGH + 14 });
  for (const edge of edges) {
    const a = middle(edge.from), b = middle(edge.to);
    svg.append(draw("path", { class: "edge", d: `M${a.x},${a.y + 14} C${a.x},${a.y + 30} ${b.x},${b.y - 30} ${b.x},${b.y - 14}` }));
  }
  nodes.forEach((node, index) => {
    const own = node.layers.map((layer) => byIndex.get(layer)).filter((layer) => !layer.view);
    const main = own.sort((a, b) => b.macs - a.macs || b.predicted_cycles - a.predicted_cycles)[0];
    const at = middle(index);
    const box = draw("rect", { class: "mark", x: at.x - 95, y: at.y - 14, width: 190, height: 28, rx: 4, fill: main ? colour(main.unit) : "#eef0f3",
      "data-node": index });
    tipFor(box, () => `${node.operator}: ${node.name}\n${own.length ? own.map(layerText).join("\n\n") : "folded away, or only another shape of the same bytes"}`);
    if (main) box.addEventListener("click", () => choose(main.index));
    svg.append(box, draw("text", { x: at.x, y: at.y + 4, "text-anchor": "middle", "pointer-events": "none" }, shortened(`${node.operator} ${node.name}`, 29)));
  });
  const all = () => { view = { x: 0, y: -20, w: across * WIDE, h: Math.max(620, down * HIGH) }; apply(); };
  apply();
  const button = (name, text, action) => make("button", { id: `network-${name}`, onclick: action }, text);
  return [make("div", { class: "bar" }, button("in", "+", () => zoom(0.7)), button("out", "−", () => zoom(1.4)), button("all", "all", all)),
    legend(), svg];
}

const COLUMNS = [["index", "#", (r) => number(r.index), true], ["title", "ONNX nodes", (r) => r.title], ["unit", "unit", (r) => r.unit],
  ["pattern", "pattern", (r) => r.pattern], ["macs", "MACs", (r) => number(r.macs), true], ["bytes", "bytes", (r) => number(r.bytes), true],
  ["tiles", "tiles", (r) => number(r.tiles), true], ["predicted", "modelled", (r) => number(r.predicted), true],
  ["twin", "twin", (r) => number(r.twin), true], ["error", "modelled / twin − 1", (r) => percent(r.error), true],
  ["rate", "MAC/cycle", (r) => number(r.rate, 2), true], ["utilisation", "utilisation", (r) => percent(r.utilisation), true],
  ["intensity", "MAC/byte", (r) => number(r.intensity, 2), true]];

function layersView() {
  let sorted = { key: "index", up: true }, words = "", unit = "";
  const body = make("tbody", {});
  const heads = COLUMNS.map(([key, text, , right]) => make("th", { class: right ? "number" : "", id: `sort-${key}`, onclick: () => {
    sorted = { key, up: sorted.key === key ? !sorted.up : !right };
    fill();
  } }, text));
  function fill() {
    COLUMNS.forEach(([key], place) => heads[place].setAttribute("aria-sort", key === sorted.key ? (sorted.up ? "ascending" : "descending") : "none"));
    const kept = rows.filter((entry) => (!unit || entry.unit === unit) && `${entry.title} ${entry.pattern}`.toLowerCase().includes(words));
    kept.sort((a, b) => {
      const one = a[sorted.key], two = b[sorted.key];
      const order = one === null ? (two === null ? 0 : 1) : two === null ? -1 : one < two ? -1 : one > two ? 1 : 0;
      return (sorted.up ? order : -order) || a.index - b.index;
    });
    body.replaceChildren(...kept.map((entry) => make("tr", { class: entry.index === chosen ? "chosen" : "", "data-layer": entry.index,
      onclick: () => choose(entry.index) }, ...COLUMNS.map(([key, , text, right]) => make("td", { class: right ? "number" : "" },
      ...(key === "unit" ? [make("span", { class: "dot", style: `background:${colour(entry.unit)}` })] : []), text(entry))))));
  }
  watchers.push(fill);
  fill();
  return [make("div", { class: "bar" }, make("input", { id: "layers-filter", placeholder: "filter", oninput: (event) => {
    words = event.target.value.toLowerCase();
    fill();
  } }), make("select", { id: "layers-unit", onchange: (event) => { unit = event.target.value; fill(); } }, make("option", { value: "" }, "all units"),
    ...units.map((name) => make("option", { value: name }, name)))), roofline(), make("p", { class: "note" },
    "Utilisation is the layer's MAC/cycle as a part of the best rate that a kernel of its unit reaches in this program (the roof drawn in its colour), " +
    "from twin cycles where there are any. MAC/byte counts every operand once."),
    make("table", { id: "layers-table" }, make("thead", {}, make("tr", {}, ...heads)), body)];
}

function roofline() {
  const points = rows.filter((entry) => entry.rate && entry.intensity);
  const svg = draw("svg", { id: "roofline", height: 300 });
  const paint = () => {
    if (!svg.clientWidth || !points.length) return;
    const values = (key) => points.map((entry) => entry[key]);
    const roofs = [...bestRate.values()].filter((rate) => rate > 0);
    const x0 = Math.min(...values("intensity")) / 2, x1 = Math.max(...values("intensity")) * 2;
    const y0 = Math.min(...values("rate")) / 2, y1 = Math.max(...roofs) * 2, LEFT = 60, BOTTOM = 270;
    const x = (value) => LEFT + (Math.log(value / x0) / Math.log(x1 / x0)) * (svg.clientWidth - LEFT - 10);
    const y = (value) => BOTTOM - (Math.log(value / y0) / Math.log(y1 / y0)) * (BOTTOM - 14);
    svg.replaceChildren();
    for (let power = Math.ceil(Math.log10(x0)); 10 ** power <= x1; power++) svg.append(
      draw("line", { class: "axis", x1: x(10 ** power), x2: x(10 ** power), y1: 10, y2: BOTTOM }),
      draw("text", { class: "soft", x: x(10 ** power) + 2, y: BOTTOM + 14 }, `${10 ** power} MAC/byte`));
    for (let power = Math.ceil(Math.log10(y0)); 10 ** power <= y1; power++) svg.append(
      draw("line", { class: "axis", x1: LEFT, x2: svg.clientWidth, y1: y(10 ** power), y2: y(10 ** power) }),
      draw("text", { class: "soft", x: 2, y: y(10 ** power) + 4 }, `${10 ** power}`));
    for (const [unit, rate] of bestRate) if (rate > 0) svg.append(draw("line", { x1: LEFT, x2: svg.clientWidth, y1: y(rate), y2: y(rate),
      stroke: colour(unit), "stroke-dasharray": "6 3" }), draw("text", { x: LEFT + 4, y: y(rate) - 4 }, `${unit}: ${number(rate, 2)} MAC/cycle`));
    for (const link of report.links) {
      const first = Math.max(x0, y0 / link.bytes_per_cycle), last = Math.min(x1, y1 / link.bytes_per_cycle);
      if (last > first) svg.append(draw("line", { x1: x(first), y1: y(first * link.bytes_per_cycle), x2: x(last), y2: y(last * link.bytes_per_cycle), stroke: "#98a2b3" }),
        draw("text", { class: "soft", x: x(first) + 6, y: y(first * link.bytes_per_cycle) - 6 }, `${link.name}: ${link.bytes_per_cycle} B/cycle`));
    }
    for (const entry of points) {
      const dot = draw("circle", { class: entry.index === chosen ? "mark chosen" : "mark", cx: x(entry.intensity), cy: y(entry.rate), r: 6,
        fill: colour(entry.unit), "data-layer": entry.index });
      tipFor(dot, () => `${layerText(entry.layer)}\n${number(entry.rate, 2)} MAC/cycle, ${number(entry.intensity, 2)} MAC/byte`);
      dot.addEventListener("click", () => choose(entry.index));
      svg.append(dot);
    }
  };
  watchers.push(paint);
  new ResizeObserver(paint).observe(svg);
  return svg;
}

function refusalsView() {
  const body = make("tbody", {});
  const fill = (words) => {
    const kept = report.refusals.filter((entry) => Object.values(entry).flat().join(" ").toLowerCase().includes(words));
    body.replaceChildren(...kept.map((entry) => make("tr", {}, ...[entry.unit, entry.pattern, entry.onnx_names.join(", "), entry.rule, entry.value]
      .map((text) => make("td", {}, text)))));
    count.textContent = `${kept.length} of ${report.refusals.length} places that a pattern did not take`;
  };
  const count = make("span", { class: "note" });
  const head = make("tr", {}, ...["unit", "pattern", "ONNX nodes", "rule", "but"].map((text) => make("th", {}, text)));
  const input = make("input", { id: "refusals-filter", placeholder: "filter", oninput: (event) => fill(event.target.value.toLowerCase()) });
  fill("");
  return [make("div", { class: "bar" }, input, count), make("table", { id: "refusals-table" }, make("thead", {}, head), body)];
}

function showDetails() {
  const panel = document.getElementById("details");
  const layer = chosen === null ? null : byIndex.get(chosen);
  panel.hidden = layer === null;
  if (layer === null) return;
  const cost = layer.schedule.cost;
  const tile = Object.entries(layer.schedule.tile).map(([dim, size]) => `${dim} ${size} of ${layer.dims[dim]}`).join(", ");
  const head = make("tr", {}, ...["considered", "pattern", "modelled cycles", ""].map((text) => make("th", {}, text)));
  const others = layer.alternatives.map((entry) => make("tr", {}, make("td", {}, entry.unit), make("td", {}, entry.pattern),
    make("td", { class: "number" }, number(entry.predicted_cycles)), make("td", {}, entry.chosen ? "chosen" : "")));
  const lines = [layerText(layer), `compute ${number(cost.compute_cycles)}, transfer ${number(cost.transfer_cycles)}, launch ${number(cost.launch_cycles)}, ` +
    `sync ${number(cost.sync_cycles)}, overlapped ${number(cost.overlapped_cycles)} cycles (modelled)`, tile ? `tile: ${tile}` : "",
    `ONNX nodes: ${layer.onnx_names.join(", ")}`];
  panel.replaceChildren(make("button", { id: "details-close", onclick: () => choose(null) }, "close"),
    ...lines.filter(Boolean).map((text) => make("p", { style: "white-space:pre-line;margin:4px 0" }, text)),
    make("table", {}, make("thead", {}, head), make("tbody", {}, ...others)));
}

/* ---- the page --------------------------------------------------------------------------------------------------- */

const VIEWS = [["overview", "Overview", overview], ["timeline", "Timeline", timeline], ["memory", "Memory", memoryView],
  ["network", "Network", networkView], ["layers", "Layers", layersView], ["refusals", "Refusals", refusalsView]];

function open(name) {
  for (const [key] of VIEWS) {
    document.getElementById(`view-${key}`).hidden = key !== name;
    document.getElementById(`tab-${key}`).setAttribute("aria-selected", key === name);
  }
  for (const watcher of watchers) watcher();
}

document.title = `${report.name} on ${report.target.name}`;
document.getElementById("title").textContent = document.title;
for (const [key, text, build] of VIEWS) {
  document.getElementById("tabs").append(make("button", { id: `tab-${key}`, role: "tab", onclick: () => open(key) }, text));
  document.getElementById("views").append(make("section", { id: `view-${key}`, role: "tabpanel" }, ...build()));
}
window.addEventListener("keydown", (event) => { if (event.key === "Escape") choose(null); });
open(VIEWS.some(([key]) => `#${key}` === window.location.hash) ? window.location.hash.slice(1) : "overview");
