/* The ONNX network, coloured by the unit that does most of a node's work. The compiler computed the positions. */

const COLUMN = 210,
  ROW = 54,
  BOX = { width: 190, height: 30 };
const network = {
  drawing: data.network.brief,
  x: 0,
  y: 0,
  scale: 1,
  svg: null,
  marks: [],
  grab: null,
  dragged: false,
  placed: false,
  height: 0,
};

function networkView() {
  const name = "Network of ONNX nodes. Keys: + and - zoom, 0 shows everything, arrows move, n and p select layers.";
  network.svg = draw("svg", { id: "network-plot", tabindex: 0, class: "plot", role: "img", "aria-label": name });
  fillWindow();
  window.addEventListener("resize", fillWindow);
  listenToNetwork();
  const count = make("span", { class: "note", id: "network-count", role: "status" });
  const swap = (brief) => {
    network.drawing = brief ? data.network.brief : data.network.full;
    count.textContent = `${number(Object.keys(network.drawing.places).length)} of ${plural(data.network.boxes.length, "node")}`;
    startOfNetwork();
  };
  const brief = make("input", {
    id: "network-brief",
    type: "checkbox",
    onchange: (event) => swap(event.target.checked),
  });
  brief.checked = true;
  swap(true);
  const paint = () => (network.placed ? paintNetwork() : startOfNetwork());
  watchers.push(paint);
  whenResized(network.svg, paint);
  keys.set("network", networkKey);
  return [
    make("h2", {}, "Network"),
    make(
      "div",
      { class: "bar" },
      button("network-in", "+", "zoom in (key +)", () => zoomNetwork(1.4)),
      button("network-out", "−", "zoom out (key -)", () => zoomNetwork(1 / 1.4)),
      button("network-all", "all", "show everything (key 0)", allOfNetwork),
      button("network-find", "find selected", "centre the selected layer (key f)", findInNetwork),
      make(
        "label",
        { title: "casts, quantisation, reshapes and transpositions" },
        brief,
        " hide nodes that only convert or move values",
      ),
      count,
    ),
    legend(["folded or no code", FOLDED]),
    network.svg,
  ];
}

/* The drawing is as high as the window has room. */
function fillWindow() {
  network.height = Math.max(320, window.innerHeight - 170);
  network.svg.setAttribute("height", network.height);
}

function networkKey(name) {
  const step = 80 / network.scale;
  const actions = {
    "+": () => zoomNetwork(1.4),
    "=": () => zoomNetwork(1.4),
    "-": () => zoomNetwork(1 / 1.4),
    0: allOfNetwork,
    f: findInNetwork,
    ArrowLeft: () => moveNetwork(-step, 0),
    ArrowRight: () => moveNetwork(step, 0),
    ArrowUp: () => moveNetwork(0, -step),
    ArrowDown: () => moveNetwork(0, step),
  };
  if (actions[name]) actions[name]();
  return name in actions;
}

function listenToNetwork() {
  const svg = network.svg,
    own = (event) => [
      event.clientX - svg.getBoundingClientRect().left,
      event.clientY - svg.getBoundingClientRect().top,
    ];
  svg.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      zoomNetwork(event.deltaY > 0 ? 0.83 : 1.2, ...own(event));
    },
    { passive: false },
  );
  svg.addEventListener("pointerdown", (event) => {
    network.grab = { at: own(event), x: network.x, y: network.y, moved: false };
  });
  svg.addEventListener("pointermove", (event) => {
    const grab = network.grab,
      [x, y] = own(event);
    if (grab && (grab.moved || Math.hypot(x - grab.at[0], y - grab.at[1]) > 3)) {
      grab.moved = true;
      network.x = grab.x - (x - grab.at[0]) / network.scale;
      network.y = grab.y - (y - grab.at[1]) / network.scale;
      paintNetwork();
    }
    const mark = network.marks[event.target.dataset.mark];
    showTip(event, mark ? mark.tip() : "");
  });
  svg.addEventListener("pointerleave", () => showTip(null, ""));
  svg.addEventListener("click", (event) => {
    const mark = network.marks[event.target.dataset.mark];
    if (!network.dragged && mark && mark.layer !== null) choose(mark.layer);
  });
  window.addEventListener("pointerup", () => {
    network.dragged = network.grab !== null && network.grab.moved;
    network.grab = null;
  });
}

function moveNetwork(x, y) {
  network.x += x;
  network.y += y;
  paintNetwork();
}

/* ``x``, ``y``: what stays where it is, in pixels of the drawing. */
function zoomNetwork(factor, x = network.svg.clientWidth / 2, y = network.height / 2) {
  const scale = Math.min(3, Math.max(0.02, network.scale * factor));
  network.x += x / network.scale - x / scale;
  network.y += y / network.scale - y / scale;
  network.scale = scale;
  paintNetwork();
}

function extent() {
  const places = Object.values(network.drawing.places);
  return {
    width: (Math.max(0, ...places.map((place) => place[0])) + 1) * COLUMN,
    height: (Math.max(0, ...places.map((place) => place[1])) + 1) * ROW,
  };
}

function allOfNetwork() {
  const size = extent();
  network.scale = Math.min(1, network.svg.clientWidth / (size.width + 40), network.height / (size.height + 40));
  network.x = size.width / 2 - network.svg.clientWidth / network.scale / 2 - COLUMN / 2;
  network.y = size.height / 2 - network.height / network.scale / 2 - ROW / 2;
  paintNetwork();
}

/* The inputs, at a size that can be read. */
function startOfNetwork() {
  network.placed = network.svg.clientWidth > 0;
  if (!network.placed) return;
  const size = extent(),
    first = Object.values(network.drawing.places).filter((place) => place[1] === 0);
  network.scale = Math.max(narrow.matches ? 0.85 : 0.55, Math.min(1, network.svg.clientWidth / (size.width + 40)));
  const middle = first.reduce((sum, place) => sum + place[0], 0) / Math.max(1, first.length);
  network.x = middle * COLUMN - network.svg.clientWidth / network.scale / 2;
  network.y = -ROW / 2;
  paintNetwork();
}

function findInNetwork() {
  const found = data.network.boxes
    .map((box, place) => [box, network.drawing.places[place]])
    .filter(([box, place]) => place && chosen !== null && box.layers.includes(chosen))
    .map((entry) => entry[1]);
  if (!found.length) return;
  const mean = (axis) => found.reduce((sum, place) => sum + place[axis], 0) / found.length;
  network.scale = Math.max(0.8, network.scale);
  network.x = mean(0) * COLUMN - network.svg.clientWidth / network.scale / 2;
  network.y = mean(1) * ROW - network.height / network.scale / 2;
  paintNetwork();
}

function paintNetwork() {
  const svg = network.svg,
    wide = svg.clientWidth / network.scale,
    high = network.height / network.scale;
  if (!svg.clientWidth) return;
  svg.setAttribute("viewBox", `${network.x} ${network.y} ${wide} ${high}`);
  Object.assign(svg.dataset, { x: Math.round(network.x), y: Math.round(network.y), scale: network.scale.toFixed(3) });
  network.marks = [];
  const parts = [];
  const inView = (left, top, right, bottom) =>
    right >= network.x && left <= network.x + wide && bottom >= network.y && top <= network.y + high;
  for (const edge of network.drawing.edges) {
    const points = edge.points.map(([column, row]) => [column * COLUMN, row * ROW]),
      xs = points.map((point) => point[0]);
    if (!inView(Math.min(...xs), points[0][1], Math.max(...xs), points[points.length - 1][1])) continue;
    parts.push(
      draw("path", {
        class: "edge",
        d: curve(points),
        "data-mark": network.marks.push({ layer: null, tip: () => edge.tensor }) - 1,
      }),
    );
  }
  for (const [key, [column, row]] of Object.entries(network.drawing.places)) {
    const x = column * COLUMN - BOX.width / 2,
      y = row * ROW - BOX.height / 2;
    if (inView(x, y, x + BOX.width, y + BOX.height)) parts.push(...boxOf(data.network.boxes[key], key, x, y));
  }
  svg.replaceChildren(...parts);
}

/* From the bottom of the first point, through the bends, to the top of the last one. */
function curve(points) {
  const path = points.map((point) => [...point]);
  path[0][1] += BOX.height / 2;
  path[path.length - 1][1] -= BOX.height / 2;
  let text = `M${path[0]}`;
  for (let place = 1; place < path.length; place++) {
    const [x1, y1] = path[place - 1],
      [x2, y2] = path[place],
      middle = (y1 + y2) / 2;
    text += `C${x1},${middle} ${x2},${middle} ${x2},${y2}`;
  }
  return text;
}

function boxOf(box, key, x, y) {
  const layer = box.layer === null ? null : byIndex.get(box.layer);
  const look = chosen === null ? "" : box.layers.includes(chosen) ? "chosen" : standing(box.layer);
  const tip = () =>
    `${box.operator}: ${box.name}\n\n${
      box.layers.map((index) => layerText(byIndex.get(index))).join("\n\n") ||
      (box.kind === "node" ? "folded, or only another shape of the same bytes" : `${box.kind} of the network`)
    }`;
  const mark = network.marks.push({ layer: box.layer, tip }) - 1;
  const shape = draw("rect", {
    class: `mark node ${box.kind} ${look}`,
    x,
    y,
    width: BOX.width,
    height: BOX.height,
    rx: box.kind === "node" ? 4 : 15,
    fill: layer ? colour(layer.unit) : box.kind === "node" ? FOLDED : "var(--page)",
    "data-mark": mark,
    "data-node": key,
    "data-layer": box.layer === null ? "" : box.layer,
  });
  if (network.scale < 0.35) return [shape];
  return [
    shape,
    draw(
      "text",
      {
        x: x + BOX.width / 2,
        y: y + BOX.height / 2 + 4,
        "text-anchor": "middle",
        class: box.kind === "node" ? labelClass(look) : "label on-page",
      },
      fitted(`${box.operator} ${box.name}`, BOX.width - 10),
    ),
  ];
}
