/* The page: tabs, theme, keys, and the view that the address names. A view is built when it is first opened. */

const VIEWS = [
  ["overview", "Overview", overviewView],
  ["timeline", "Timeline", timelineView],
  ["memory", "Memory", memoryView],
  ["network", "Network", networkView],
  ["layers", "Layers", layersView],
  ["refusals", "Refusals", refusalsView],
  ...(data.comparison ? [["compare", "Comparison", compareView]] : []),
];
let opened = "overview";

function open(name) {
  opened = name;
  document.body.dataset.view = name;
  showTip(null, "");
  for (const [key, , build] of VIEWS) {
    const view = document.getElementById(`view-${key}`),
      tab = document.getElementById(`tab-${key}`);
    view.hidden = key !== name;
    tab.setAttribute("aria-selected", key === name);
    tab.tabIndex = key === name ? 0 : -1;
    if (key === name && !view.children.length) view.append(...build());
  }
  for (const watcher of watchers) watcher();
  window.scrollTo(0, 0);
  const row = name === "layers" && document.querySelector("#layers-table tr.chosen");
  if (row) row.scrollIntoView({ block: "center" });
}

function tabKey(event) {
  const place = VIEWS.findIndex(([key]) => key === opened),
    last = VIEWS.length - 1;
  const to = { ArrowLeft: place ? place - 1 : last, ArrowRight: place < last ? place + 1 : 0, Home: 0, End: last }[
    event.key
  ];
  if (to === undefined) return;
  event.preventDefault();
  event.stopPropagation();
  open(VIEWS[to][0]);
  document.getElementById(`tab-${VIEWS[to][0]}`).focus();
}

/* ---- dark or light: as the system says until the button is pressed ---- */

const systemDark = window.matchMedia("(prefers-color-scheme: dark)");

/* Browsers may forbid storage to pages from a disk; then the choice lasts until the page is closed. */
function stored(value) {
  try {
    if (value) window.localStorage.setItem("match-theme", value);
    return window.localStorage.getItem("match-theme");
  } catch (error) {
    return value || null;
  }
}

function showTheme() {
  const root = document.documentElement.dataset,
    dark = root.theme ? root.theme === "dark" : systemDark.matches;
  document.getElementById("theme").textContent = dark ? "Light mode" : "Dark mode";
}

function switchTheme() {
  const root = document.documentElement.dataset,
    dark = root.theme ? root.theme === "dark" : systemDark.matches;
  root.theme = dark ? "light" : "dark";
  stored(root.theme);
  showTheme();
}

/* ---- start ---- */

document.title = `${report.name} on ${report.target.name}`;
document.getElementById("title").textContent = document.title;
document.getElementById("subtitle").textContent = [report.source.file, report.target.preset]
  .filter(Boolean)
  .join(" · ");
document.getElementById("views").replaceChildren();
for (const [key, text] of VIEWS) {
  const tab = {
    type: "button",
    id: `tab-${key}`,
    role: "tab",
    "aria-controls": `view-${key}`,
    onclick: () => open(key),
    onkeydown: tabKey,
  };
  document.getElementById("tabs").append(make("button", tab, text));
  document
    .getElementById("views")
    .append(make("section", { id: `view-${key}`, role: "tabpanel", "aria-labelledby": `tab-${key}` }));
}
const theme = stored(null);
if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
showTheme();
systemDark.addEventListener("change", showTheme);
document.getElementById("theme").addEventListener("click", switchTheme);

/* The panel of details begins below the header, however many lines this has. */
const head = document.querySelector("header");
new ResizeObserver(() => {
  document.documentElement.style.setProperty("--head", `${head.offsetHeight}px`);
}).observe(head);

watchers.unshift(showDetails);
window.addEventListener("keydown", (event) => {
  if (event.key === "Escape") choose(null);
  if (event.ctrlKey || event.altKey || event.metaKey || ["INPUT", "SELECT"].includes(event.target.tagName)) return;
  if (event.key === "n" || event.key === "p") return chooseNext(event.key === "n" ? 1 : -1);
  const handler = keys.get(opened);
  if (handler && handler(event.key)) event.preventDefault();
});

/* The view that the address names, or that is open; also if the address of an open page changes. */
function openLinked() {
  const linked = VIEWS.find(([key]) => `#${key}` === window.location.hash);
  if (linked) open(linked[0]);
}
open("overview");
openLinked();
window.addEventListener("hashchange", openLinked);
performance.mark("interactive");
