/* Refusals by node: unit, pattern, rule and the value that broke it; found by words. */

function refusalsView() {
  const count = make("span", { class: "note", id: "refusals-count", role: "status" }),
    list = make("div", { id: "refusals-list" }),
    items = data.refused.map((node) => ({ node, words: refusalWords(node), element: null }));
  const fill = (words) => {
    const kept = items.filter((item) => !words || item.words.includes(words));
    for (const item of kept) {
      item.element = item.element || refusedNode(item.node);
      if (words) item.element.open = true;
    }
    list.replaceChildren(...kept.map((item) => item.element));
    count.textContent = `${number(kept.length)} of ${plural(items.length, "node")}, ${plural(report.refusals, "refused place")} in all`;
  };
  const openAll = (open) => {
    for (const element of list.children) element.open = open;
  };
  const input = make("input", {
    id: "refusals-filter",
    type: "search",
    oninput: (event) => fill(event.target.value.toLowerCase()),
  });
  fill("");
  if (!items.length) return [make("h2", {}, "Refusals"), make("p", { class: "note" }, "No pattern refused a place.")];
  return [
    make("h2", {}, "Refusals"),
    make(
      "p",
      { class: "note" },
      "A unit refuses a place when it matches the shape of a pattern, but breaks one of its rules. Nodes with the most cycles come first.",
    ),
    make(
      "div",
      { class: "bar" },
      make("label", { for: "refusals-filter" }, "search"),
      input,
      button("refusals-open", "open all", "show the rules of all nodes", () => openAll(true)),
      button("refusals-close", "close all", "hide the rules of all nodes", () => openAll(false)),
      count,
    ),
    list,
  ];
}

function refusalWords(node) {
  const rules = node.units.flatMap(([unit, found]) => [unit, ...found.flatMap((rule) => Object.values(rule))]);
  return [node.node, node.operator, ...node.runs_on, ...rules].join(" ").toLowerCase();
}

/* The rules are made when they are first shown. */
function refusedNode(node) {
  const part = node.cycles / Math.max(1, report.predicted_cycles);
  const runs = node.runs_on.length ? `runs on ${node.runs_on.join(" and ")}` : "folded, or no code";
  const by = node.units.map(([unit, rules]) => `${unit} ${number(rules.length)}`).join(", ");
  const element = make(
    "details",
    { class: "refused" },
    make(
      "summary",
      {},
      make("span", { class: "name" }, node.node),
      make("span", { class: "soft" }, node.operator),
      make("span", { class: "soft" }, ...node.runs_on.map((unit) => dot(colour(unit))), runs),
      make("span", { class: "soft number" }, node.cycles ? `${number(node.cycles)} cycles, ${percent(part)}` : ""),
      make("span", { class: "soft" }, `rules broken: ${by}`),
    ),
  );
  element.addEventListener("toggle", () => {
    if (element.open && element.children.length === 1) element.append(...refusedBody(node));
  });
  return element;
}

function refusedBody(node) {
  const rows = node.units.flatMap(([unit, rules]) =>
    rules.map((rule) => [[dot(colour(unit)), unit], rule.pattern, rule.rule, rule.value]),
  );
  const columns = [["unit"], ["pattern"], ["rule"], ["found"]];
  const own = node.runs_on.filter((unit) => node.units.some(([other]) => other === unit));
  const note = own.length
    ? [
        make(
          "p",
          { class: "note" },
          `${own.join(" and ")} runs this node with another pattern than those listed for it.`,
        ),
      ]
    : [];
  const links = node.layers.map((index) => layerLink(index, `layer ${index}`));
  return [
    table("", `Rules that ${node.node} breaks`, columns, rows),
    ...note,
    make("p", { class: "note links" }, ...(links.length ? ["show ", ...links] : [])),
  ];
}
