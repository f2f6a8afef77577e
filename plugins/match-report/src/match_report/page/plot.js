/* A drawing over cycles with zoom, pan, a cursor line and tips. ``paint`` is called with the plot and adds marks. */

class Plot {
  constructor(id, name, height, total, left, paint) {
    Object.assign(this, {
      total: Math.max(1, total),
      left,
      height,
      paint,
      from: 0,
      to: Math.max(1, total),
      grab: null,
      marks: [],
      wide: 100,
    });
    const says = `${name}. Keys: + and - zoom, 0 shows everything, arrows move, n and p select layers.`;
    this.svg = draw("svg", { id, height: height + 26, tabindex: 0, class: "plot", role: "img", "aria-label": says });
    this.layer = draw("g");
    this.cursor = draw("g", { class: "cursor", visibility: "hidden" });
    this.line = draw("line", { y1: 0, y2: height + 4 });
    this.words = draw("text", { y: height + 16 });
    this.paper = draw("rect", { y: height + 4, height: 16, class: "paper" });
    this.cursor.append(this.line, this.paper, this.words);
    this.svg.append(this.layer, this.cursor);
    this.listen();
    this.watcher = () => this.redraw();
    watchers.push(this.watcher);
    whenResized(this.svg, this.watcher);
  }

  /* Another plot takes its place. */
  close() {
    watchers.splice(watchers.indexOf(this.watcher), 1);
  }

  listen() {
    const svg = this.svg;
    svg.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
          this.shift((event.deltaX || event.deltaY) / 800);
        else this.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.at(event));
      },
      { passive: false },
    );
    svg.addEventListener("pointerdown", (event) => {
      this.grab = { x: event.clientX, from: this.from, to: this.to, moved: false };
    });
    svg.addEventListener("pointermove", (event) => this.moved(event));
    svg.addEventListener("pointerleave", () => {
      showTip(null, "");
      this.cursor.setAttribute("visibility", "hidden");
    });
    svg.addEventListener("click", (event) => {
      const mark = this.marks[event.target.dataset.mark];
      if (!this.dragged && mark && mark.layer !== null) choose(mark.layer);
    });
    window.addEventListener("pointerup", () => {
      this.dragged = this.grab !== null && this.grab.moved;
      this.grab = null;
    });
  }

  /* A press that moves less than four pixels is a click. */
  moved(event) {
    const grab = this.grab;
    if (grab && (grab.moved || Math.abs(event.clientX - grab.x) > 3)) {
      grab.moved = true;
      const shift = ((grab.x - event.clientX) / this.width()) * (grab.to - grab.from);
      this.show(grab.from + shift, grab.to + shift);
    }
    const mark = this.marks[event.target.dataset.mark];
    showTip(event, mark ? mark.tip() : "");
    this.point(event.clientX - this.svg.getBoundingClientRect().left);
  }

  point(x) {
    const inside = x >= this.left && x <= this.left + this.width();
    this.cursor.setAttribute("visibility", inside ? "visible" : "hidden");
    if (!inside) return;
    const cycle = Math.round(this.value(x)),
      time = milliseconds(cycle);
    this.words.textContent = `cycle ${number(cycle)}${time ? ` (${time})` : ""}`;
    const wide = ruler.measureText(this.words.textContent).width,
      place = Math.min(x + 3, this.left + this.width() - wide);
    for (const [key, value] of [
      ["x1", x],
      ["x2", x],
    ])
      this.line.setAttribute(key, value);
    this.words.setAttribute("x", place);
    this.paper.setAttribute("x", place - 2);
    this.paper.setAttribute("width", wide + 4);
  }

  /* Asked for once a redraw: it lays the page out. */
  measure() {
    this.wide = Math.max(100, this.svg.clientWidth - this.left - 12);
  }
  width() {
    return this.wide;
  }
  x(value) {
    return this.left + ((value - this.from) / (this.to - this.from)) * this.width();
  }
  value(x) {
    return this.from + ((x - this.left) / this.width()) * (this.to - this.from);
  }
  at(event) {
    const x = event.clientX - this.svg.getBoundingClientRect().left;
    return Math.min(this.to, Math.max(this.from, this.value(x)));
  }

  zoom(factor, around = (this.from + this.to) / 2) {
    const span = Math.min(this.total, Math.max(20, (this.to - this.from) * factor));
    const part = (around - this.from) / (this.to - this.from);
    this.show(around - part * span, around + (1 - part) * span);
  }
  shift(part) {
    const by = part * (this.to - this.from);
    this.show(this.from + by, this.to + by);
  }
  show(from, to) {
    const span = Math.min(to - from, this.total);
    this.from = Math.min(Math.max(0, from), this.total - span);
    this.to = this.from + span;
    this.redraw();
  }
  all() {
    this.show(0, this.total);
  }

  redraw() {
    if (!this.svg.clientWidth) return;
    this.measure();
    this.marks = [];
    const old = this.layer;
    this.layer = draw("g");
    this.svg.dataset.from = Math.round(this.from);
    this.svg.dataset.to = Math.round(this.to);
    this.axis();
    this.paint(this);
    old.replaceWith(this.layer);
  }

  axis() {
    const rough = (this.to - this.from) / Math.max(2, this.width() / 100),
      power = 10 ** Math.floor(Math.log10(rough));
    const step = Math.max(1, [1, 2, 5, 10].find((factor) => factor * power >= rough) * power);
    let free = 0;
    for (let value = Math.ceil(this.from / step) * step; value <= this.to; value += step) {
      const x = this.x(value),
        place = this.beside(x, number(value)),
        left = place.x - (place["text-anchor"] === "end" ? ruler.measureText(number(value)).width : 0);
      this.layer.append(draw("line", { class: "axis", x1: x, x2: x, y1: 0, y2: this.height + 4 }));
      if (left < free) continue;
      free = left + ruler.measureText(number(value)).width + 6;
      this.layer.append(draw("text", { class: "soft", y: this.height + 16, ...place }, number(value)));
    }
  }

  /* To the right of a place, or to its left where there is no room. */
  beside(x, words) {
    const left = x + 6 + ruler.measureText(words).width > this.left + this.wide + 12;
    return { x: left ? x - 3 : x + 3, "text-anchor": left ? "end" : "start" };
  }

  /* Whether cycles [start, end) are in view, and where. */
  part(start, end) {
    if (end < this.from || start > this.to) return null;
    const x1 = Math.max(this.left, this.x(start)),
      x2 = Math.min(this.left + this.width(), this.x(end));
    return { x1, x2: Math.max(x2, x1 + 0.8) };
  }

  /* ``mark``: {layer, tip, fill, label}; ``style``: further attributes. */
  box(x1, x2, y, height, mark, style = {}) {
    const look = mark.layer === null ? (chosen === null ? "" : "faded") : standing(mark.layer);
    this.layer.append(
      draw("rect", {
        class: `mark ${mark.look || look}${x2 - x1 < 5 ? " thin" : ""}`,
        x: x1,
        y,
        width: x2 - x1,
        height,
        fill: mark.fill,
        "data-mark": this.marks.push(mark) - 1,
        "data-layer": mark.layer === null ? "" : mark.layer,
        ...style,
      }),
    );
    if (mark.label && x2 - x1 > 30 && height > 12)
      this.layer.append(
        draw(
          "text",
          { x: x1 + 4, y: y + height / 2 + 4, class: labelClass(mark.look || look) },
          fitted(mark.label, x2 - x1 - 7),
        ),
      );
  }

  buttons(prefix) {
    return [
      button(`${prefix}-in`, "+", "zoom in (key +)", () => this.zoom(0.5)),
      button(`${prefix}-out`, "−", "zoom out (key -)", () => this.zoom(2)),
      button(`${prefix}-left`, "◀", "earlier (arrow key)", () => this.shift(-0.25)),
      button(`${prefix}-right`, "▶", "later (arrow key)", () => this.shift(0.25)),
      button(`${prefix}-all`, "all", "show everything (key 0)", () => this.all()),
    ];
  }
  key(name) {
    const actions = {
      "+": () => this.zoom(0.5),
      "=": () => this.zoom(0.5),
      "-": () => this.zoom(2),
      0: () => this.all(),
      ArrowLeft: () => this.shift(-0.25),
      ArrowRight: () => this.shift(0.25),
    };
    if (actions[name]) actions[name]();
    return name in actions;
  }
}
