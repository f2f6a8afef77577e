/* Pieces that several views have: legends, buttons, bars, tables. */

function legend(...more) {
  const used = new Set(report.layers.filter((layer) => !layer.view).map((layer) => layer.unit));
  const items = units.filter((unit) => used.has(unit)).map((unit) => [unit, colour(unit)]);
  return make(
    "div",
    { class: "legend" },
    ...[...items, ...more].map(([text, fill]) => make("span", {}, dot(fill), text)),
  );
}

const dot = (fill) => make("span", { class: "dot", style: `background:${fill}`, "aria-hidden": true });

/* A button of one sign is named by its title. */
function button(id, text, title, action) {
  const name = text.length < 2 ? { "aria-label": title } : {};
  return make("button", { type: "button", id, title, ...name, onclick: action }, text);
}

/* A link to a layer: chooses it, so that the panel shows it. Long titles are cut, between names where that is possible;
   the panel shows them whole. */
function layerLink(index, text) {
  const start = text.slice(0, 64),
    short =
      text.length <= 64 ? text : `${start.includes(", ") ? start.slice(0, start.lastIndexOf(", ") + 1) : start} …`;
  return make("button", { type: "button", class: "link", "data-layer": index, onclick: () => choose(index) }, short);
}

/* A bar of a share; the text beside it tells the same. */
function bar(part, fill) {
  return make(
    "div",
    { class: "track", "aria-hidden": true },
    make("div", { class: "fill", style: `width:${Math.min(100, 100 * part).toFixed(2)}%;background:${fill}` }),
  );
}

/* ``columns``: [heading, whether it is a number, class]; ``rows``: lists of texts or elements. A wide table scrolls
   within its frame, which the keyboard can reach. */
function table(id, caption, columns, rows) {
  const looks = columns.map(([, right, name]) => [right ? "number" : "", name || ""].join(" ").trim());
  const cell = (tag, more) => (content, place) => {
    const parts = Array.isArray(content) ? content : [content];
    return make(tag, { class: looks[place], ...more }, ...parts);
  };
  return framed(
    caption,
    make(
      "table",
      { id },
      make("caption", { class: "quiet" }, caption),
      make("thead", {}, make("tr", {}, ...columns.map((column) => column[0]).map(cell("th", { scope: "col" })))),
      make("tbody", {}, ...rows.map((row) => make("tr", {}, ...row.map(cell("td", {}))))),
    ),
  );
}

const framed = (name, inner) => make("div", { class: "frame", role: "region", "aria-label": name, tabindex: 0 }, inner);

/* Paint again when a drawing gets another width; its first painting is not repeated. */
function whenResized(svg, paint) {
  let width = 0;
  const resized = () => {
    if (svg.clientWidth !== width && width) paint();
    width = svg.clientWidth || width;
  };
  new ResizeObserver(resized).observe(svg);
}

/* Narrow windows draw labels above marks instead of beside them. */
const narrow = window.matchMedia("(max-width: 640px)");

/* The view that is open handles the keys: name -> function of a key, true where it took it. */
const keys = new Map();
