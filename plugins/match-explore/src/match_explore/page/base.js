"use strict";

/* The data, how it is written as text, elements, and the tip. Names in the data come from model files: they are only
   ever put in as text. */

async function unpacked(id) {
  const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

const data = await unpacked("data");
const columns = Object.keys(data.columns);
const UNITS = { milliseconds: "ms", peak_bytes: "bytes", near_bytes: "bytes", energy_pj: "pJ", area_mm2: "mm2" };

/* The value of a column in a row; null if it is not known. */
function value(name, row) {
  const column = data.columns[name];
  if (!column) return null;
  if (column.values) return column.values[row];
  const place = column.places[row];
  return place < 0 ? null : column.texts[place];
}

function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, given] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), given);
    else element.setAttribute(key, given);
  }
  element.append(...children);
  return element;
}

const whole = new Intl.NumberFormat("en-US");
const broken = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 5 });

function text(given) {
  if (given === null || given === undefined || given === "") return "-";
  if (given === true || given === false) return given ? "yes" : "no";
  if (typeof given !== "number") return String(given);
  return (Number.isInteger(given) ? whole : broken).format(given);
}

const title = (name) => name.replaceAll("_", " ");
const titled = (name) => (UNITS[name] ? `${title(name)} (${UNITS[name]})` : title(name));

/* One row in words: its axes, its figures, what is special about it. */
function described(row) {
  const axes = data.axes.map((name) => `${title(name)}: ${text(value(name, row))}`);
  const figures = data.figures.map((name) => `${titled(name)}: ${text(value(name, row))}`);
  const whatIf = value("what_if", row);
  const special = [
    whatIf ? `WHAT-IF hardware, no such chip: ${whatIf}` : "",
    value("figures", row) === "lower bound" ? "lower bounds, not a program" : "",
    value("front", row) ? "on the front" : "",
    value("meets", row) ? "" : "does not meet the constraints",
  ];
  return [`point ${value("point", row)}`, ...axes, ...figures, ...special].filter(Boolean).join("\n");
}

function showTip(event, words) {
  const tip = document.getElementById("tip");
  tip.hidden = !words;
  if (!words) return;
  tip.textContent = words;
  tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 8))}px`;
  tip.style.top = `${Math.max(4, Math.min(event.clientY + 14, window.innerHeight - tip.offsetHeight - 8))}px`;
}

function select(id, label, names, chosen, changed) {
  const options = names.map(([key, words]) => {
    const option = make("option", { value: key }, words);
    option.selected = key === chosen;
    return option;
  });
  return [make("label", { for: id }, label), make("select", { id, onchange: changed }, ...options)];
}
