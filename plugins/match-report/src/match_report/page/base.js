"use strict";

/* The data, how it is written as text, elements, the tip, and the chosen layer. Names in the data come from a model
   file: they are only ever put in as text. */

async function unpacked(id) {
  const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

const data = await unpacked("data");
const report = data.report;
const measured = report.measured;
const byIndex = new Map(report.layers.map((layer) => [layer.index, layer]));
const rows = new Map(data.rows.map((row) => [row.index, row]));
const units = report.units.map((unit) => unit.name);
const OTHER = "#98a2b3",
  IDLE = "var(--idle)",
  FOLDED = "var(--folded)";

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

/* Making a format costs more than using it. */
const formats = [0, 1, 2, 3].map(
  (digits) => new Intl.NumberFormat("en-US", { maximumFractionDigits: digits, minimumFractionDigits: digits }),
);
const number = (value, digits = 0) => (value === null || value === undefined ? "-" : formats[digits].format(value));

/* Bytes with the largest unit that leaves at least one. */
function bytes(value) {
  const units = ["bytes", "KiB", "MiB", "GiB"];
  let place = 0;
  while (value >= 1024 && place < units.length - 1) {
    value /= 1024;
    place += 1;
  }
  return `${number(value, place && value < 1000 ? 1 : 0)} ${units[place]}`;
}

const percent = (value) => (value === null ? "-" : `${(100 * value).toFixed(1).replace(/^-0\.0$/, "0.0")} %`);
const colour = (unit) => data.colours[unit] || OTHER;
const plural = (count, thing) => `${number(count)} ${thing}${count === 1 ? "" : "s"}`;

function milliseconds(cycles, clock = report.target.clock_hz) {
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

let chosen = null,
  chooser = null;
const watchers = [];

/* When nothing is chosen any more, what had the focus at first gets it back. */
function choose(index) {
  if (chosen === null) chooser = document.activeElement;
  chosen = index;
  const inside = document.getElementById("details").contains(document.activeElement);
  for (const watcher of watchers) watcher();
  if (index === null && inside && chooser && chooser.isConnected) chooser.focus();
}

/* The layer before or after the chosen one, for keys. */
function chooseNext(step) {
  const place = data.rows.findIndex((row) => row.index === chosen),
    row = data.rows[place < 0 ? (step > 0 ? 0 : data.rows.length - 1) : place + step];
  if (row) choose(row.index);
}

/* How a mark of a layer looks: the chosen one, shares of the same operator, and the others. */
function standing(index) {
  if (chosen === null) return "";
  if (index === chosen) return "chosen";
  const own = byIndex.get(chosen),
    other = byIndex.get(index);
  return other && own.share && other.share && other.title === own.title ? "related" : "faded";
}

/* Words within a mark are dark; on a faded one, the page shows through. */
const labelClass = (look) => (look === "faded" ? "label on-faded" : "label");
