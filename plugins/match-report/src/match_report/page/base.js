"use strict";

/* The data, how it is written as text, elements, the tip, and the chosen layer. Names in the data come from a model
   file: they are only ever put in as text. */

const data = JSON.parse(document.getElementById("data").textContent);
const report = data.report;
const measured = report.measured;
const byIndex = new Map(report.layers.map((layer) => [layer.index, layer]));
const rows = new Map(data.rows.map((row) => [row.index, row]));
const units = report.units.map((unit) => unit.name);
const OTHER = "#98a2b3";

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

function number(value, digits = 0) {
  if (value === null || value === undefined) return "-";
  return value.toLocaleString("en-US", { maximumFractionDigits: digits, minimumFractionDigits: digits });
}

const percent = (value) => (value === null ? "-" : `${(100 * value).toFixed(1).replace(/^-0\.0$/, "0.0")} %`);
const colour = (unit) => data.colours[unit] || OTHER;
const plural = (count, thing) => `${number(count)} ${thing}${count === 1 ? "" : "s"}`;

function milliseconds(cycles) {
  const clock = report.target.clock_hz;
  return clock ? `${number((1e3 * cycles) / clock.value, 3)} ms` : null;
}

function layerText(layer) {
  const row = rows.get(layer.index);
  const share = layer.share
    ? `\nshare: ${layer.share.dim} ${layer.share.first} to ${layer.share.first + layer.share.size - 1}`
    : "";
  const twin =
    row && row.twin_cycles !== null ? `, ${number(row.twin_cycles)} on the twin (${percent(row.error)})` : "";
  return (
    `${layer.title}${share}\n${layer.unit}: ${layer.pattern}\n${number(layer.predicted_cycles)} cycles modelled${twin}\n` +
    `${plural(layer.macs, "MAC")}, ${plural(layer.schedule.steps, "tile")}`
  );
}

/* As much of a text of a drawing as fits a width in pixels. */
const ruler = document.createElement("canvas").getContext("2d");
ruler.font = "12px system-ui, sans-serif";
function fitted(text, width) {
  if (ruler.measureText(text.slice(0, 400)).width <= width && text.length <= 400) return text;
  let low = 0,
    high = Math.min(400, text.length);
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (ruler.measureText(`${text.slice(0, middle)}…`).width <= width) low = middle;
    else high = middle - 1;
  }
  return low > 1 ? `${text.slice(0, low)}…` : "";
}

/* ---- the tip beside the pointer ---- */

function showTip(event, text) {
  const tip = document.getElementById("tip");
  tip.hidden = !text;
  if (!text) return;
  tip.textContent = text;
  tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 8))}px`;
  tip.style.top = `${Math.max(4, Math.min(event.clientY + 14, window.innerHeight - tip.offsetHeight - 8))}px`;
}

/* ---- the chosen layer, the same in all views ---- */

let chosen = null;
const watchers = [];

function choose(index) {
  chosen = index;
  for (const watcher of watchers) watcher();
}

/* How a mark of a layer looks: the chosen one, shares of the same operator, and the others. */
function standing(index) {
  if (chosen === null) return "";
  if (index === chosen) return "chosen";
  const own = byIndex.get(chosen),
    other = byIndex.get(index);
  return other && own.share && other.share && other.title === own.title ? "related" : "faded";
}

/* ---- pieces that several views have ---- */

function legend(...more) {
  const used = new Set(report.layers.filter((layer) => !layer.view).map((layer) => layer.unit));
  const items = units.filter((unit) => used.has(unit)).map((unit) => [unit, colour(unit)]);
  return make(
    "div",
    { class: "legend" },
    ...[...items, ...more].map(([text, fill]) =>
      make("span", {}, make("span", { class: "dot", style: `background:${fill}` }), text),
    ),
  );
}

function button(id, text, title, action) {
  return make("button", { id, title, onclick: action }, text);
}

/* Paint again when a drawing gets another width; its first painting is not repeated. */
function whenResized(svg, paint) {
  let width = 0;
  const resized = () => {
    if (svg.clientWidth !== width && width) paint();
    width = svg.clientWidth || width;
  };
  new ResizeObserver(resized).observe(svg);
}

/* The view that is open handles the keys: name -> function of a key, true where it took it. */
const keys = new Map();
