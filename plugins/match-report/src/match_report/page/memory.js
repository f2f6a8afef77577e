/* The contents of a memory over modelled cycles, and a bar of the whole memory. */

const MEMORY_HEIGHT = 400,
  MEMORY_LEFT = 156;
let memoryPlot = null;

function memoryView() {
  const holder = make("div", {});
  function rebuild(name) {
    const use = report.memories.find((memory) => memory.name === name),
      map = data.memories.find((memory) => memory.memory === name);
    const before = memoryPlot;
    if (before) before.close();
    memoryPlot = new Plot(
      "memory-plot",
      `Buffers in ${name} over cycles`,
      MEMORY_HEIGHT,
      report.predicted_cycles,
      MEMORY_LEFT,
      (plot) => paintMemory(plot, use, map),
    );
    if (before) memoryPlot.show(before.from, before.to);
    const select = make(
      "select",
      { id: "memory-level", onchange: (event) => rebuild(event.target.value) },
      ...report.memories.map((memory) =>
        make("option", { value: memory.name }, `${memory.name} (level ${memory.level})`),
      ),
    );
    select.value = name;
    holder.replaceChildren(
      make(
        "div",
        { class: "bar" },
        make("label", { for: "memory-level" }, "memory"),
        select,
        ...memoryPlot.buttons("memory"),
      ),
      memoryPlot.svg,
      legend(),
      make("p", { class: "note", id: "memory-facts" }, memoryFacts(use, map)),
    );
    memoryPlot.redraw();
  }
  rebuild(report.target.home);
  keys.set("memory", (name) => memoryPlot.key(name));
  return [make("h2", {}, "Memory"), holder];
}

function memoryFacts(use, map) {
  const bytes = (value) => `${number(value)} bytes`;
  const highest = map.peak
    ? ` Peak: ${bytes(map.peak.size_bytes)}, from cycle ${number(map.peak.start_cycles)} to ` +
      `${number(map.peak.end_cycles)} (tinted); the dashed line is the arena's height.`
    : "";
  return (
    `${use.name}: ${bytes(use.used_bytes)} of ${number(use.available_bytes)} used: ${number(use.arena_bytes)} for buffers that are alive part of the time ` +
    `(drawn over modelled cycles, colour: unit of the first layer), ${number(use.constant_bytes)} for constants, and ${number(use.caller_bytes)} ` +
    `for inputs and outputs of the caller.${highest}`
  );
}

function paintMemory(plot, use, map) {
  const top = Math.max(1, map.arena_bytes),
    right = plot.left + plot.width();
  const y = (offset) => MEMORY_HEIGHT - (offset / top) * (MEMORY_HEIGHT - 18);
  const peak = map.peak && plot.part(map.peak.start_cycles, map.peak.end_cycles);
  if (peak)
    plot.layer.append(
      draw("rect", { class: "peak", x: peak.x1, y: 0, width: peak.x2 - peak.x1, height: MEMORY_HEIGHT }),
    );
  const touched = new Set(
    chosen === null ? [] : [...byIndex.get(chosen).buffers_in, ...byIndex.get(chosen).buffers_out],
  );
  for (const entry of map.rectangles) {
    const part = plot.part(entry.start_cycles, entry.end_cycles);
    if (!part) continue;
    const low = y(entry.offset_bytes),
      high = y(entry.offset_bytes + entry.size_bytes);
    plot.box(part.x1, part.x2, high, Math.max(1, low - high), {
      layer: entry.layer,
      fill: colour(entry.unit),
      label: entry.label,
      look: touched.has(entry.buffer) ? "chosen" : "",
      tip: () => rectangleText(entry),
    });
  }
  if (map.rectangles.length)
    plot.layer.append(draw("line", { class: "peak-line", x1: plot.left, x2: right, y1: y(top), y2: y(top) }));
  if (peak)
    plot.layer.append(
      draw(
        "text",
        { class: "hot", x: Math.min(Math.max(plot.left + 4, peak.x1 + 3), right - 190), y: 12 },
        `peak ${number(map.peak.size_bytes)} bytes alive`,
      ),
    );
  if (!map.rectangles.length)
    plot.layer.append(draw("text", { class: "soft", x: plot.left + 20, y: 40 }, "no buffers in this memory"));
  plot.layer.append(
    draw("text", { class: "soft", x: plot.left - 5, y: y(top) + 14, "text-anchor": "end" }, number(top)),
    draw("text", { class: "soft", x: plot.left - 5, y: MEMORY_HEIGHT, "text-anchor": "end" }, "0"),
  );
  paintWhole(plot, use);
}

function rectangleText(entry) {
  return (
    `${entry.label}\n${number(entry.size_bytes)} bytes at ${number(entry.offset_bytes)}\nalive in cycles ${number(entry.start_cycles)} to ` +
    `${number(entry.end_cycles)}\n${entry.facts.join("\n")}`
  );
}

/* The bar: to scale from 0 to what is available. */
function paintWhole(plot, use) {
  const parts = [
    ["arena", use.arena_bytes, "var(--arena)"],
    ["constants", use.constant_bytes, "var(--constants)"],
    ["caller's", use.caller_bytes, "var(--caller)"],
  ];
  const y = (bytes) => MEMORY_HEIGHT - (bytes / Math.max(1, use.available_bytes)) * (MEMORY_HEIGHT - 18);
  plot.layer.append(
    draw("rect", {
      class: "busy-track",
      x: 6,
      y: y(use.available_bytes),
      width: 22,
      height: y(0) - y(use.available_bytes),
    }),
  );
  let from = 0,
    words = MEMORY_HEIGHT - 4;
  for (const [name, size, fill] of parts) {
    const tip = () =>
      `${name}: ${number(size)} of ${number(use.available_bytes)} bytes (${percent(size / use.available_bytes)})`;
    if (size)
      plot.layer.append(
        draw("rect", {
          x: 6,
          width: 22,
          y: y(from + size),
          height: Math.max(1, y(from) - y(from + size)),
          fill,
          class: "band",
          "data-mark": plot.marks.push({ layer: null, tip }) - 1,
        }),
      );
    words = Math.min(words, (y(from) + y(from + size)) / 2 + 4);
    if (size)
      plot.layer.append(
        draw("text", { class: "soft", x: 32, y: words }, `${name} ${percent(size / use.available_bytes)}`),
      );
    words -= size ? 14 : 0;
    from += size;
  }
  plot.layer.append(draw("text", { class: "soft", x: 6, y: 12 }, `${use.name}: ${number(use.available_bytes)}`));
}
