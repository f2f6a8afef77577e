/* The table: filters by text in any column, sorting, and pages, so that 10,000 rows stay quick. */

const PAGE_ROWS = 100;
const shown = { words: "", status: "", sort: "point", down: false, page: 0 };
let order = [];

function matches(row, words) {
  if (shown.status === "front" && !value("front", row)) return false;
  if (shown.status === "meets" && !value("meets", row)) return false;
  if (["ok", "failed", "pruned"].includes(shown.status) && value("status", row) !== shown.status) return false;
  return words.every((word) => {
    const [name, limit] = word.split(/[<>=]/);
    if (limit !== undefined && data.columns[name]) {
      const have = value(name, row);
      if (word.includes("=")) return String(have) === limit;
      return have !== null && (word.includes("<") ? have < Number(limit) : have > Number(limit));
    }
    return columns.some((column) => String(value(column, row) ?? "").includes(word));
  });
}

function compare(one, other) {
  const a = value(shown.sort, one),
    b = value(shown.sort, other);
  if (a === null || b === null) return (a === null) - (b === null);
  return (a < b ? -1 : a > b ? 1 : one - other) * (shown.down ? -1 : 1);
}

function drawTable() {
  const words = shown.words.split(/\s+/).filter(Boolean);
  order = [];
  for (let row = 0; row < data.count; row += 1) if (matches(row, words)) order.push(row);
  order.sort(compare);
  const last = Math.max(0, Math.ceil(order.length / PAGE_ROWS) - 1);
  shown.page = Math.min(shown.page, last);
  const names = columns.filter((name) => name !== "why" && name !== "code");
  const head = names.map((name) => {
    const button = make(
      "button",
      {
        type: "button",
        onclick: () => {
          shown.down = shown.sort === name && !shown.down;
          shown.sort = name;
          drawTable();
        },
      },
      titled(name) + (shown.sort === name ? (shown.down ? " ▾" : " ▴") : ""),
    );
    return make("th", { scope: "col" }, button);
  });
  const body = order.slice(shown.page * PAGE_ROWS, (shown.page + 1) * PAGE_ROWS).map((row) => {
    const cells = names.map((name) => {
      const have = value(name, row);
      return make("td", typeof have === "number" ? { class: "number" } : {}, text(have));
    });
    return make("tr", value("what_if", row) ? { class: "what-if" } : {}, ...cells);
  });
  document.getElementById("rows").replaceChildren(
    make("table", { class: "study" }, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...body)),
  );
  document.getElementById("counted").textContent = `${text(order.length)} of ${text(data.count)} points, page ${shown.page + 1} of ${last + 1}`;
}

function tableView() {
  const turn = (step) => () => {
    shown.page = Math.max(0, shown.page + step);
    drawTable();
  };
  const states = [["", "all"], ["front", "on the front"], ["meets", "meets the constraints"], ["ok", "ok"], ["failed", "failed"], ["pruned", "pruned"]];
  const bar = make(
    "div",
    { class: "bar" },
    make("label", { for: "words" }, "Filter"),
    make("input", {
      type: "search",
      id: "words",
      placeholder: "gap9 cycles<500000",
      oninput: (event) => {
        shown.words = event.target.value;
        shown.page = 0;
        drawTable();
      },
    }),
    ...select("status", "Show", states, "", (event) => {
      shown.status = event.target.value;
      shown.page = 0;
      drawTable();
    }),
    make("button", { type: "button", id: "before", onclick: turn(-1) }, "Previous"),
    make("button", { type: "button", id: "after", onclick: turn(1) }, "Next"),
    make("span", { id: "counted", class: "soft" }),
  );
  const words = "Filter by words, or by a column: cycles<500000, target=gap9. Rows in italics are what-if hardware.";
  return [bar, make("p", { class: "note" }, words), make("div", { id: "rows", class: "frame", tabindex: "0" })];
}
