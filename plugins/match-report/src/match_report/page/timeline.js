/* Lanes of units, links and clocks over cycles, as planned and as the twin ran them. */

const GROUP = 20;
/* Height of a lane, room at its left, and where its marks begin; labels are above the marks in narrow windows. */
const lanes = () => (narrow.matches ? { high: 52, left: 8, marks: 18 } : { high: 36, left: 264, marks: 0 });
const KINDS = {
  unit: (name) => name,
  clock: (name) => name,
  link: (name) => `${name} (link)`,
  context: (name) => `tasks of ${name}`,
};
let timelinePlot = null;

function timelineView() {
  const holder = make("div", {});
  const sources = { modelled: ["modelled"], twin: ["twin"], both: ["modelled", "twin"] };
  const totals = { modelled: report.predicted_cycles, twin: measured ? measured.cycles : 0 };
  function rebuild(source) {
    const before = timelinePlot;
    if (before) before.close();
    const groups = sources[source].map((name) => ({ name, lanes: data.lanes[name] }));
    const heads = groups.length > 1 ? GROUP : 0;
    const height = groups.reduce((sum, group) => sum + heads + group.lanes.length * lanes().high, 0);
    timelinePlot = new Plot(
      "timeline-plot",
      `Timeline of units and links, ${source} cycles`,
      height,
      Math.max(...sources[source].map((name) => totals[name])),
      lanes().left,
      (plot) => {
        let y = 0;
        for (const group of groups) {
          if (heads)
            plot.layer.append(
              draw("text", { x: 6, y: y + 15, class: "soft" }, `${group.name}: ${number(totals[group.name])} cycles`),
            );
          y += heads;
          for (const lane of group.lanes) {
            paintLane(plot, lane, y);
            y += lanes().high;
          }
        }
      },
    );
    if (before) timelinePlot.show(before.from, before.to);
    const select = make(
      "select",
      { id: "timeline-source", onchange: (event) => rebuild(event.target.value) },
      ...(measured ? ["twin", "modelled", "both"] : ["modelled"]).map((name) => make("option", { value: name }, name)),
    );
    select.value = source;
    holder.replaceChildren(
      make(
        "div",
        { class: "bar" },
        make("label", { for: "timeline-source" }, "cycles"),
        select,
        ...timelinePlot.buttons("timeline"),
        button("timeline-find", "find selected", "zoom to the selected layer (key f)", findInTimeline),
      ),
      timelinePlot.svg,
      legend(["copies and other work", OTHER]),
      make("p", { class: "note" }, timelineNote(source)),
    );
    timelinePlot.redraw();
  }
  rebuild(measured ? "twin" : "modelled");
  narrow.addEventListener("change", () => rebuild(document.getElementById("timeline-source").value));
  keys.set("timeline", (name) => (name === "f" ? (findInTimeline(), true) : timelinePlot.key(name)));
  return [make("h2", {}, "Timeline"), holder];
}

function timelineNote(source) {
  const planned =
    "Modelled: a unit's lane holds its layers with the work of other units for them; a layer's copies are one block at " +
    "its start, because their positions within the layer are not modelled.";
  const ran = "Twin: everything that occupies a clock; a thin line is a wait, which does not count as busy.";
  return `${source === "twin" ? "" : planned} ${source === "modelled" ? "" : ran} The busiest lane is marked.`;
}

function findInTimeline() {
  const span = chosen === null ? null : timeOf(chosen);
  if (span) timelinePlot.show(span.start - (span.end - span.start) / 4, span.end + (span.end - span.start) / 4);
}

/* When a layer runs in the drawn lanes. */
function timeOf(index) {
  const source = document.getElementById("timeline-source").value;
  const lanes = source === "modelled" ? data.lanes.modelled : data.lanes.twin;
  let [from, to] = [Infinity, -Infinity];
  for (const [start, end, layer] of lanes.flatMap((lane) => lane.spans)) {
    if (layer !== index) continue;
    from = Math.min(from, start);
    to = Math.max(to, end);
  }
  return to < from ? null : { start: from, end: to };
}

function paintLane(plot, lane, y) {
  const right = plot.left + plot.width(),
    { high, marks } = lanes(),
    look = lane.bottleneck ? "hot" : "",
    busy = `${percent(lane.busy)}${lane.bottleneck ? ", busiest" : " busy"}`,
    name = KINDS[lane.kind](lane.name);
  if (lane.bottleneck) plot.layer.append(draw("rect", { class: "bottleneck", x: 0, y, width: right, height: high }));
  paintSpans(plot, lane, y + marks);
  plot.layer.append(draw("line", { class: "axis", x1: 0, x2: right, y1: y + high, y2: y + high }));
  const busyText = (place) => draw("text", { ...place, class: `${look || "soft"} lane-busy` }, busy);
  if (marks) {
    const room = right - 24 - ruler.measureText(busy).width;
    plot.layer.append(draw("text", { x: 8, y: y + 14, class: look }, fitted(name, room)));
    plot.layer.append(busyText({ x: right, y: y + 14, "text-anchor": "end" }));
    return;
  }
  plot.layer.append(
    draw("text", { x: 8, y: y + 15, class: look }, fitted(name, plot.left - 12)),
    draw("rect", { x: 8, y: y + 21, width: 80, height: 8, class: "busy-track" }),
    draw("rect", {
      x: 8,
      y: y + 21,
      width: 80 * Math.min(1, lane.busy),
      height: 8,
      class: lane.bottleneck ? "busy-hot" : "busy-fill",
    }),
    busyText({ x: 94, y: y + 30 }),
  );
}

/* Top and height of a span: a wait is a thin line. */
const band = (idle, y) => (idle ? [y + 15, 6] : [y + 4, 28]);

/* What is narrower than a pixel is drawn together with its neighbours, the paler the less of the time it covers. */
function paintSpans(plot, lane, y) {
  let run = null;
  const flush = () => {
    if (!run) return;
    const { span, count, fill, same, covered, x1, x2 } = run,
      one = count === 1;
    const tip = () => (one ? spanText(lane, span) : `${number(count)} spans, zoom in to separate them`);
    const style = one ? {} : { opacity: Math.max(0.3, Math.min(1, covered / (x2 - x1))) };
    plot.box(x1, x2, ...band(run.idle, y), { layer: same ? span[2] : null, look: run.look, fill, tip }, style);
    run = null;
  };
  for (const span of lane.spans) {
    const [start, end, index, text, idle] = span,
      part = plot.part(start, end);
    if (!part) continue;
    const layer = index === null ? null : byIndex.get(index),
      fill = idle ? IDLE : colour(layer ? layer.unit : lane.unit);
    const wide = plot.x(end) - plot.x(start);
    if (run && (wide >= 1.2 || run.fill !== fill || part.x1 > run.x2 + 1 || run.look !== standing(index))) flush();
    if (wide >= 1.2) {
      plot.box(part.x1, part.x2, ...band(idle, y), {
        layer: index,
        fill,
        label: idle ? "" : lane.texts[text],
        tip: () => spanText(lane, span),
      });
    } else if (run) {
      run.same = run.same && run.span[2] === index;
      run.x2 = Math.max(run.x2, part.x2);
      run.covered += wide;
      run.count += 1;
    } else {
      run = { ...part, fill, idle, span, same: true, count: 1, covered: wide, look: standing(index) };
    }
  }
  flush();
}

function spanText(lane, [start, end, index, text]) {
  const layer = index === null ? null : byIndex.get(index);
  return `${lane.texts[text]}\n${number(end - start)} cycles, ${number(start)} to ${number(end)}${layer ? `\n\n${layerText(layer)}` : ""}`;
}
