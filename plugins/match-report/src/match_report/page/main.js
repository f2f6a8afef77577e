/* The page: tabs, keys, and the view that the address names. */

const VIEWS = [
  ["overview", "Overview", overviewView],
  ["timeline", "Timeline", timelineView],
  ["memory", "Memory", memoryView],
  ["network", "Network", networkView],
  ["layers", "Layers", layersView],
  ["refusals", "Refusals", refusalsView],
];
let opened = "overview";

function open(name) {
  opened = name;
  document.body.dataset.view = name;
  showTip(null, "");
  for (const [key] of VIEWS) {
    document.getElementById(`view-${key}`).hidden = key !== name;
    document.getElementById(`tab-${key}`).setAttribute("aria-selected", key === name);
  }
  for (const watcher of watchers) watcher();
  window.scrollTo(0, 0);
  const row = name === "layers" && document.querySelector("#layers-table tr.chosen");
  if (row) row.scrollIntoView({ block: "center" });
}

document.title = `${report.name} on ${report.target.name}`;
document.getElementById("title").textContent = document.title;
for (const [key, text, build] of VIEWS) {
  document
    .getElementById("tabs")
    .append(
      make("button", { id: `tab-${key}`, role: "tab", "aria-controls": `view-${key}`, onclick: () => open(key) }, text),
    );
  document.getElementById("views").append(make("section", { id: `view-${key}`, role: "tabpanel" }, ...build()));
}
watchers.unshift(showDetails);
window.addEventListener("keydown", (event) => {
  if (event.key === "Escape") choose(null);
  if (event.ctrlKey || event.altKey || event.metaKey || ["INPUT", "SELECT"].includes(event.target.tagName)) return;
  const handler = keys.get(opened);
  if (handler && handler(event.key)) event.preventDefault();
});
open(VIEWS.some(([key]) => `#${key}` === window.location.hash) ? window.location.hash.slice(1) : "overview");
