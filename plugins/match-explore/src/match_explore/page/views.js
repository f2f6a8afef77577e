/* The other views, and the tabs. */

function grid(heads, rows) {
  const head = make("tr", {}, ...heads.map((name) => make("th", { scope: "col" }, name)));
  const body = rows.map((cells) =>
    make("tr", {}, ...cells.map((cell) => make("td", typeof cell === "number" ? { class: "number" } : { class: "why" }, text(cell)))),
  );
  return make("div", { class: "frame" }, make("table", { class: "study" }, make("thead", {}, head), make("tbody", {}, ...body)));
}

function sensitivityView() {
  const words =
    "The largest figure over the smallest one among points that differ in this axis only: 1 means that the axis does not matter.";
  const rows = data.sensitivity.map((entry) => [
    title(entry.axis), titled(entry.objective), entry.median_ratio, entry.largest_ratio, entry.often_best, entry.groups,
  ]);
  return [make("p", { class: "note" }, words), grid(["axis", "objective", "median", "largest", "often best", "groups"], rows)];
}

function buyView() {
  const limits = data.constraints.map((c) => `${titled(c.figure)} ${c.least ? `from ${text(c.least)} ` : ""}${c.most === null ? "" : `up to ${text(c.most)}`}`);
  const words = `Targets that exist and meet all constraints (${limits.join(", ") || "none"}) with every model, the cheapest first. Prices are those of the study file.`;
  const rows = data.buy.map((entry) => [entry.target, entry.price, entry.source, Object.entries(entry.points).map(([m, p]) => `${m}: point ${p}`).join(", ")]);
  const first = data.buy[0];
  const commands = first ? Object.values(first.points).map((point) => data.commands[String(point)]).filter(Boolean) : [];
  return [
    make("p", { class: "note" }, words),
    rows.length ? grid(["target", "price", "source", "best point of each model"], rows) : make("p", { id: "nothing" }, "No target meets all constraints with every model."),
    ...commands.map((command) => make("p", {}, make("code", {}, command))),
  ];
}

function failuresView() {
  const rows = data.failures.map((entry) => [entry.code, entry.count, entry.why, entry.points.slice(0, 20).join(", ")]);
  return [rows.length ? grid(["code", "points", "first reason", "which"], rows) : make("p", {}, "No point failed.")];
}

function aboutView() {
  const facts = {
    points: `${text(data.count)} of ${text(data.total)} in the study`,
    strategy: `${data.strategy.kind}, seed ${data.strategy.seed}`,
    "study (SHA-256)": data.digests.study,
    "code (SHA-256)": data.digests.code,
    ...data.versions,
  };
  const words = "Cycles are what the cost models of the targets predict, or what the twin counts (column twin cycles). Nothing was run on silicon.";
  return [
    make("p", { class: "note" }, words),
    make("dl", { class: "facts" }, ...Object.entries(facts).flatMap(([name, words]) => [make("dt", {}, name), make("dd", {}, words)])),
  ];
}

const VIEWS = {
  front: ["Front", chartView, drawChart],
  table: ["Table", tableView, drawTable],
  sensitivity: ["Sensitivity", sensitivityView, () => {}],
  buy: ["What to buy", buyView, () => {}],
  failures: ["Failures", failuresView, () => {}],
  about: ["About", aboutView, () => {}],
};

function open(name) {
  for (const key of Object.keys(VIEWS)) {
    document.getElementById(`view-${key}`).hidden = key !== name;
    document.getElementById(`tab-${key}`).setAttribute("aria-selected", String(key === name));
    document.getElementById(`tab-${key}`).tabIndex = key === name ? 0 : -1;
  }
  VIEWS[name][2]();
}

document.getElementById("title").textContent = data.name;
const what = data.columns.what_if && data.columns.what_if.texts.some(Boolean) ? "; some points are what-if hardware" : "";
document.getElementById("subtitle").textContent = `${text(data.count)} points, minimising ${data.objectives.map(title).join(", ")}${what}`;
document.title = `${data.name}: match explore`;
const tabs = document.getElementById("tabs"),
  views = document.getElementById("views");
views.replaceChildren();
const keys = Object.keys(VIEWS);
for (const [place, [key, [words, content]]] of Object.entries(VIEWS).entries()) {
  tabs.append(
    make(
      "button",
      {
        type: "button",
        role: "tab",
        id: `tab-${key}`,
        "aria-controls": `view-${key}`,
        onclick: () => open(key),
        onkeydown: (event) => {
          const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
          if (!step) return;
          const next = keys[(place + step + keys.length) % keys.length];
          open(next);
          document.getElementById(`tab-${next}`).focus();
        },
      },
      words,
    ),
  );
  views.append(make("section", { id: `view-${key}`, role: "tabpanel", "aria-labelledby": `tab-${key}` }, ...content()));
}
document.getElementById("theme").addEventListener("click", (event) => {
  const dark = document.documentElement.dataset.theme !== "dark";
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  event.target.textContent = dark ? "Light mode" : "Dark mode";
  drawChart();
});
window.addEventListener("resize", drawChart);
open("front");
performance.mark("interactive");
