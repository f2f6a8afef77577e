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

function roofline() {
  const points = data.rows.filter((row) => row.rate && row.intensity), HEIGHT = 330, LEFT = 64, BOTTOM = 290, TOP = 14;
  const svg = draw("svg", { id: "roofline", height: HEIGHT, class: "plot" });
  const tips = [];
  const paint = () => {
    if (!svg.clientWidth) return;
    tips.length = 0;
    if (!points.length) {
      svg.replaceChildren(draw("text", { class: "soft", x: 20, y: 40 }, "no layer of this program counts MACs"));
      return;
    }
    const unitRoofs = Object.entries(data.roofs.units), linkRoofs = Object.entries(data.roofs.links);
    const x0 = Math.min(...points.map((row) => row.intensity)) / 2, x1 = Math.max(...points.map((row) => row.intensity)) * 3;
    const y0 = Math.min(...points.map((row) => row.rate)) / 2, y1 = Math.max(...unitRoofs.map((roof) => roof[1])) * 2, right = svg.clientWidth - 10;
    const x = (value) => LEFT + (Math.log(value / x0) / Math.log(x1 / x0)) * (right - LEFT);
    const y = (value) => BOTTOM - (Math.log(value / y0) / Math.log(y1 / y0)) * (BOTTOM - TOP);
    const parts = [];
    for (const value of logTicks(x0, x1)) parts.push(draw("line", { class: "axis", x1: x(value), x2: x(value), y1: TOP, y2: BOTTOM }),
      draw("text", { class: "soft", x: x(value), y: BOTTOM + 16, "text-anchor": "middle" }, String(value)));
    for (const value of logTicks(y0, y1)) parts.push(draw("line", { class: "axis", x1: LEFT, x2: right, y1: y(value), y2: y(value) }),
      draw("text", { class: "soft", x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, String(value)));
    parts.push(draw("text", { class: "soft", x: right, y: BOTTOM + 32, "text-anchor": "end" }, "MAC per byte of the layer's operands"),
      draw("text", { class: "soft", x: LEFT + 4, y: TOP }, "MAC per cycle"));
    let above = 0;
    for (const [unit, rate] of unitRoofs.sort((a, b) => b[1] - a[1])) {
      const words = y(rate) - 5 - above > 12 || !above ? y(rate) - 5 : y(rate) + 13;
      above = words;
      parts.push(draw("line", { x1: LEFT, x2: right, y1: y(rate), y2: y(rate), stroke: colour(unit), "stroke-width": 2, "stroke-dasharray": "6 3" }),
        draw("text", { x: right - 4, y: words, "text-anchor": "end" }, `${unit}: ${number(rate, 2)} MAC/cycle`));
    }
    for (const [link, bytes] of linkRoofs) {
      const first = Math.max(x0, y0 / bytes), last = Math.min(x1, y1 / bytes);
      if (last <= first) continue;
      const at = [x(first), y(first * bytes)], to = [x(last), y(last * bytes)], angle = (Math.atan2(to[1] - at[1], to[0] - at[0]) * 180) / Math.PI;
      const middle = [at[0] + 0.3 * (to[0] - at[0]), at[1] + 0.3 * (to[1] - at[1])];
      parts.push(draw("line", { x1: at[0], y1: at[1], x2: to[0], y2: to[1], class: "link-roof" }),
        draw("text", { class: "soft", x: middle[0], y: middle[1] - 5, transform: `rotate(${angle} ${middle})` }, `${link}: ${number(bytes, 2)} bytes/cycle`));
    }
    for (const row of [...points].sort((a, b) => (a.index === chosen) - (b.index === chosen))) {
      const tip = () => `${layerText(byIndex.get(row.index))}\n${number(row.rate, 2)} MAC/cycle, ${number(row.intensity, 2)} MAC/byte\n` +
        `${percent(row.roof_share)} of what ${row.limit} allows`;
      parts.push(draw("circle", { class: `mark point ${standing(row.index)}`, cx: x(row.intensity), cy: y(row.rate), r: row.index === chosen ? 8 : 6,
        fill: colour(row.unit), "data-layer": row.index, "data-mark": tips.push({ tip, layer: row.index }) - 1 }));
    }
    svg.replaceChildren(...parts);
  };
  svg.addEventListener("pointermove", (event) => {
    const mark = tips[event.target.dataset.mark];
    showTip(event, mark ? mark.tip() : "");
  });
  svg.addEventListener("pointerleave", () => showTip(null, ""));
  svg.addEventListener("click", (event) => {
    const mark = tips[event.target.dataset.mark];
    if (mark) choose(mark.layer);
  });
  watchers.push(paint);
  new ResizeObserver(paint).observe(svg);
  return svg;
}
