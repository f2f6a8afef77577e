/* The front: one dot for each point, on a canvas because there may be many; hover finds the nearest. */

const COLOURS = ["#3a45b8", "#c2410c", "#0f766e", "#a21caf", "#4d7c0f", "#be123c", "#0369a1", "#7c4a03"];
const PAD = { left: 84, right: 18, top: 16, bottom: 44 };
const choice = { model: "", x: data.objectives[0], y: data.objectives[1] || data.objectives[0], log: true, all: true };
let dots = [];

function chartRows() {
  const rows = [];
  for (let row = 0; row < data.count; row += 1) {
    const known = value(choice.x, row) !== null && value(choice.y, row) !== null;
    if (known && (!choice.model || value("model", row) === choice.model)) {
      if (choice.all || value("front", row)) rows.push(row);
    }
  }
  return rows;
}

function scale(name, rows, from, to) {
  const numbers = rows.map((row) => Number(value(name, row)));
  let [low, high] = extremes(numbers);
  const log = choice.log && low > 0 && high / low > 3;
  const change = log ? Math.log10 : (number) => number;
  low = change(low);
  high = change(high);
  const room = (high - low) * 0.05 || 0.5;
  low -= room;
  high += room;
  return {
    at: (number) => from + ((change(number) - low) / (high - low)) * (to - from),
    ticks: [0, 1, 2, 3, 4].map((step) => {
      const number = low + ((high - low) * (step + 0.5)) / 5;
      return log ? 10 ** number : number;
    }),
  };
}

/* The least and the largest of many numbers. */
function extremes(numbers) {
  let low = Infinity,
    high = -Infinity;
  for (const number of numbers) {
    low = Math.min(low, number);
    high = Math.max(high, number);
  }
  return numbers.length ? [low, high] : [0, 1];
}

function drawChart() {
  const canvas = document.getElementById("chart");
  const ratio = window.devicePixelRatio || 1,
    width = canvas.clientWidth,
    height = canvas.clientHeight;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  pen.clearRect(0, 0, width, height);
  const style = getComputedStyle(canvas);
  const rows = chartRows();
  const x = scale(choice.x, rows, PAD.left, width - PAD.right),
    y = scale(choice.y, rows, height - PAD.bottom, PAD.top);
  pen.font = "12px system-ui, sans-serif";
  pen.fillStyle = style.color;
  pen.textAlign = "center";
  for (const tick of x.ticks) pen.fillText(text(Number(tick.toPrecision(3))), x.at(tick), height - 24);
  pen.fillText(titled(choice.x), (PAD.left + width - PAD.right) / 2, height - 6);
  pen.textAlign = "right";
  for (const tick of y.ticks) pen.fillText(text(Number(tick.toPrecision(3))), PAD.left - 8, y.at(tick) + 4);
  const targets = data.columns.target ? data.columns.target.texts : [];
  dots = rows.map((row) => ({ row, x: x.at(Number(value(choice.x, row))), y: y.at(Number(value(choice.y, row))) }));
  for (const front of [false, true]) {
    for (const dot of dots) {
      if (Boolean(value("front", dot.row)) !== front) continue;
      pen.fillStyle = COLOURS[targets.indexOf(value("target", dot.row)) % COLOURS.length];
      pen.strokeStyle = pen.fillStyle;
      pen.globalAlpha = front ? 1 : 0.35;
      pen.beginPath();
      pen.arc(dot.x, dot.y, front ? 5.5 : 3.5, 0, 7);
      if (value("what_if", dot.row)) pen.stroke();
      else pen.fill();
    }
  }
  pen.globalAlpha = 1;
  canvas.dataset.dots = String(dots.length);
}

function nearest(event) {
  const box = event.target.getBoundingClientRect();
  let best = null,
    least = 144;
  for (const dot of dots) {
    const far = (dot.x - event.clientX + box.left) ** 2 + (dot.y - event.clientY + box.top) ** 2;
    if (far < least) [best, least] = [dot, far];
  }
  return best;
}

function chartView() {
  const models = data.columns.model ? data.columns.model.texts : [];
  choice.model = models.length > 1 ? models[0] : "";
  const figures = data.figures.map((name) => [name, titled(name)]);
  const again = (key) => (event) => {
    choice[key] = event.target.value;
    drawChart();
  };
  const front = make("input", {
    type: "checkbox",
    id: "only-front",
    onchange: (event) => {
      choice.all = !event.target.checked;
      drawChart();
    },
  });
  const bar = make(
    "div",
    { class: "bar" },
    ...select("chart-model", "Model", [["", "all"], ...models.map((name) => [name, name])], choice.model, again("model")),
    ...select("chart-x", "Across", figures, choice.x, again("x")),
    ...select("chart-y", "Up", figures, choice.y, again("y")),
    front,
    make("label", { for: "only-front" }, "Front only"),
  );
  const targets = data.columns.target ? data.columns.target.texts : [];
  const legend = make(
    "div",
    { class: "legend" },
    ...targets.map((name, place) => {
      const dot = make("span", { class: "dot" });
      dot.style.background = COLOURS[place % COLOURS.length];
      return make("span", {}, dot, name);
    }),
  );
  const canvas = make("canvas", {
    id: "chart",
    role: "img",
    "aria-label": "Points of the study; the table has the same figures",
    onmousemove: (event) => {
      const dot = nearest(event);
      showTip(event, dot ? described(dot.row) : "");
    },
    onmouseleave: (event) => showTip(event, ""),
    onclick: (event) => {
      const dot = nearest(event);
      if (dot) showPoint(dot.row);
    },
  });
  const words =
    "Large dots are on the front of their model: no other point that meets the constraints is better in one objective and " +
    "not worse in another. Rings are what-if hardware that does not exist. Click a dot for its row, command and report.";
  return [bar, legend, canvas, make("p", { class: "note" }, words), make("div", { id: "point" })];
}

/* Below the chart: everything about one point. */
function showPoint(row) {
  const point = String(value("point", row));
  const facts = [...data.axes, ...data.figures, "what_if", "memory", "runs_on", "figures", "why"]
    .filter((name) => value(name, row) !== null && value(name, row) !== "")
    .flatMap((name) => [make("dt", {}, titled(name)), make("dd", {}, text(value(name, row)))]);
  const more = [];
  if (data.reports[point]) more.push(make("p", {}, make("a", { href: data.reports[point] }, "Report of this point")));
  if (data.commands[point]) more.push(make("p", {}, make("code", {}, data.commands[point])));
  const card = make("div", { class: "card" }, make("h2", {}, `Point ${point}`), make("dl", { class: "facts" }, ...facts), ...more);
  document.getElementById("point").replaceChildren(card);
}
