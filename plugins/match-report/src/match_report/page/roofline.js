/* Layers by MAC per byte and MAC per cycle, below the roofs of units and links; both axes are logarithmic. */

/* Powers of ten; their double and fivefold too where there are few. */
function logTicks(low, high) {
  const found = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
    for (const factor of high / low < 300 ? [1, 2, 5] : [1]) {
      const value = Number(`${factor}e${power}`);
      if (value >= low && value <= high) found.push(value);
    }
  }
  return found;
}

const ROOF = { height: 330, left: 64, top: 14, bottom: 290 };

function roofline() {
  const points = data.rows.filter((row) => row.rate && row.intensity);
  const svg = draw("svg", {
    id: "roofline",
    height: ROOF.height,
    class: "plot",
    role: "img",
    "aria-label": "Roofline: rate of layers by MAC per byte; the table below has the same numbers",
  });
  let tips = [];
  const paint = () => {
    if (!svg.clientWidth) return;
    tips = [];
    if (!points.length) {
      svg.replaceChildren(draw("text", { class: "soft", x: 20, y: 40 }, "no layer of this program has MACs"));
      return;
    }
    const scale = roofScale(points, svg.clientWidth - 10);
    svg.replaceChildren(
      ...roofAxes(scale),
      ...unitRoofs(scale),
      ...linkRoofs(scale),
      ...roofPoints(scale, points, tips),
    );
  };
  svg.addEventListener("pointermove", (event) => {
    const row = tips[event.target.dataset.mark];
    showTip(event, row ? roofText(row) : "");
  });
  svg.addEventListener("pointerleave", () => showTip(null, ""));
  svg.addEventListener("click", (event) => {
    const row = tips[event.target.dataset.mark];
    if (row) choose(row.index);
  });
  watchers.push(paint);
  whenResized(svg, paint);
  return svg;
}

function roofText(row) {
  const position = `${number(row.rate, 2)} MAC/cycle, ${number(row.intensity, 2)} MAC/byte`;
  return `${layerText(byIndex.get(row.index))}\n${position}\n${percent(row.roof_share)} of the limit of ${row.limit}`;
}

/* Ranges of both axes, and a value's place in pixels. */
function roofScale(points, right) {
  const across = points.map((row) => row.intensity);
  const [x0, x1] = [Math.min(...across) / 2, Math.max(...across) * 3];
  const y0 = Math.min(...points.map((row) => row.rate)) / 2;
  const y1 = Math.max(...Object.values(data.roofs.units)) * 2;
  const part = (value, low, high) => Math.log(value / low) / Math.log(high / low);
  const x = (value) => ROOF.left + part(value, x0, x1) * (right - ROOF.left);
  const y = (value) => ROOF.bottom - part(value, y0, y1) * (ROOF.bottom - ROOF.top);
  return { x0, x1, y0, y1, x, y, right };
}

function roofAxes({ x0, x1, y0, y1, x, y, right }) {
  const { left, top, bottom } = ROOF;
  const across = logTicks(x0, x1).flatMap((value) => [
    draw("line", { class: "axis", x1: x(value), x2: x(value), y1: top, y2: bottom }),
    draw("text", { class: "soft", x: x(value), y: bottom + 16, "text-anchor": "middle" }, String(value)),
  ]);
  const up = logTicks(y0, y1).flatMap((value) => [
    draw("line", { class: "axis", x1: left, x2: right, y1: y(value), y2: y(value) }),
    draw("text", { class: "soft", x: left - 6, y: y(value) + 4, "text-anchor": "end" }, String(value)),
  ]);
  const below = { class: "soft", x: right, y: bottom + 32, "text-anchor": "end" };
  const names = [
    draw("text", below, "MAC per byte of the layer's operands"),
    draw("text", { class: "soft", x: left + 4, y: top }, "MAC per cycle"),
  ];
  return [...across, ...up, ...names];
}

/* Words of a roof that is close below another one stand below its line. */
function unitRoofs({ y, right }) {
  const parts = [];
  let above = 0;
  for (const [unit, rate] of Object.entries(data.roofs.units).sort((a, b) => b[1] - a[1])) {
    above = y(rate) - 5 - above > 12 || !above ? y(rate) - 5 : y(rate) + 13;
    const line = { class: "unit-roof", x1: ROOF.left, x2: right, y1: y(rate), y2: y(rate), stroke: colour(unit) };
    const words = `${unit}: ${number(rate, 2)} MAC/cycle`;
    parts.push(draw("line", line), draw("text", { x: right - 4, y: above, "text-anchor": "end" }, words));
  }
  return parts;
}

function linkRoofs({ x0, x1, y0, y1, x, y }) {
  const parts = [];
  for (const [link, bytes] of Object.entries(data.roofs.links)) {
    const [first, last] = [Math.max(x0, y0 / bytes), Math.min(x1, y1 / bytes)];
    if (last <= first) continue;
    const [from, to] = [first, last].map((value) => [x(value), y(value * bytes)]);
    const angle = (Math.atan2(to[1] - from[1], to[0] - from[0]) * 180) / Math.PI;
    const at = from.map((place, axis) => place + 0.3 * (to[axis] - place));
    const turned = { class: "soft", x: at[0], y: at[1] - 5, transform: `rotate(${angle} ${at})` };
    parts.push(
      draw("line", { x1: from[0], y1: from[1], x2: to[0], y2: to[1], class: "link-roof" }),
      draw("text", turned, `${link}: ${number(bytes, 2)} bytes/cycle`),
    );
  }
  return parts;
}

/* The chosen one comes last, above the others. */
function roofPoints({ x, y }, points, tips) {
  const ordered = [...points].sort((a, b) => (a.index === chosen) - (b.index === chosen));
  return ordered.map((row) =>
    draw("circle", {
      class: `mark point ${standing(row.index)}`,
      cx: x(row.intensity),
      cy: y(row.rate),
      r: row.index === chosen ? 8 : 6,
      fill: colour(row.unit),
      "data-layer": row.index,
      "data-mark": tips.push(row) - 1,
    }),
  );
}
