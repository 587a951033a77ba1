// A small chart: how a cost, or the elements of an output, follow one size.
"use strict";

class Sweep {
  /** @param {any} app */
  constructor(app) {
    this.app = app;
    this.of = "";
    this.against = app.formulas.names[0];
    this.root = element("div", { class: "sweep" });
  }
  /** What can be swept: the name, its unit, and its value for some sizes. */
  subjects() {
    const { model } = this.app, found = [];
    if (model.data.cost) for (const [kind, text] of [["macs", "MACs"], ["memory", "peak memory"]]) found.push([kind, text]);
    for (let layer = 0; layer < model.count && found.length < 8; layer++) if (model.type(layer) === "Result" && !model.data.layers.key[layer].includes("/")) found.push([`result ${layer}`, `elements of ${cut(model.endName(layer), 24)}`]);
    return found;
  }
  valueOf(kind, sizes) {
    const { model, formulas } = this.app, values = formulas.sizes(sizes), read = (tree) => low(values.value(tree) ?? 0);
    if (kind.startsWith("result")) {
      const layer = Number(kind.slice(7)), [source, output] = model.data.layers.inputs[layer];
      return (this.app.shapeOf(source, output)[2] || []).reduce((product, size) => product * read(size), 1);
    }
    const column = model.data.cost[kind];
    let found = 0;
    for (const tree of column) { const one = tree ? read(tree) : 0; found = kind === "memory" ? Math.max(found, one) : found + one; }
    return found;
  }
  show() {
    const { app } = this, subjects = this.subjects(), names = app.formulas.names;
    if (!subjects.length || app.isRefused) { this.root.replaceChildren(); return this.root; }
    if (!subjects.some(([kind]) => kind === this.of)) [this.of] = subjects.find(([kind]) => this.valueOf(kind, app.colours.sizes())) || subjects[0];
    const choose = (options, chosen, label, act) => {
      const found = element("select", { "aria-label": label, onchange: (event) => { act(event.target.value); this.show(); } }, ...options.map(([value, text]) => element("option", { value }, text)));
      found.value = chosen;
      return found;
    };
    const valid = app.whatIf.validOf(this.against), base = app.colours.sizes(), points = [];
    for (const size of this.usual(valid, base[this.against] || valid[0])) points.push([size, this.valueOf(this.of, app.colours.sizes({ ...app.sizesChosen, [this.against]: size }))]);
    this.root.replaceChildren(element("h3", {}, "Sweep"), element("div", { class: "entry" }, choose(subjects, this.of, "what is swept", (value) => { this.of = value; }), "against",
      choose(names.map((name) => [name, name]), this.against, "against which size", (value) => { this.against = value; })), this.chart(points, base[this.against]));
    return this.root;
  }
  // The valid sizes from the powers of two on, 1, 2, 4, 8, ..., to four times the present size, and at least six of them.
  usual(valid, now) {
    const found = new Set([now]);
    for (let power = 1; power <= valid[valid.length - 1] && (power <= 4 * now || found.size < 7); power *= 2) found.add(valid.find((size) => size >= power));
    return [...found].sort((a, b) => a - b);
  }
  text(value) {
    return this.of === "macs" || this.of === "memory" ? this.app.colours.amount(this.of, value) : short(value);
  }
  chart(points, now) {
    const finite = points.filter(([, value]) => Number.isFinite(value));
    if (finite.length < 2) return element("p", { class: "faint" }, "The value is not known for these sizes.");
    const [least, most] = [finite[0][0], finite[finite.length - 1][0]], top = Math.max(...finite.map(([, value]) => value));
    const at = ([size, value]) => [8 + 224 * (size - least) / (most - least || 1), 92 - 76 * value / (top || 1)];
    const svg = shape("svg", { viewBox: "0 0 240 112", class: "chart", role: "img", "aria-label": `${this.text(finite[0][1])} at ${this.against}=${least}, ${this.text(top)} at most` });
    svg.append(shape("path", { class: "axis-line", d: "M8 92H232" }), shape("path", { class: "curve", d: `M${finite.map(at).join("L")}` }));
    for (const point of finite) {
      const [x, y] = at(point), dot = shape("circle", { class: point[0] === now ? "now" : "", cx: x, cy: y, r: point[0] === now ? 4 : 2.2 });
      dot.append(shape("title", {}, `${this.against}=${point[0]}: ${this.text(point[1])}`));
      svg.append(dot);
    }
    const words = (x, y, text, anchor) => shape("text", { x, y, "text-anchor": anchor }, text);
    svg.append(words(8, 107, `${this.against}=${least}`, "start"), words(232, 107, `${this.against}=${most}`, "end"), words(232, 11, this.text(top), "end"));
    return svg;
  }
}
