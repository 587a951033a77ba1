// The colours of boxes: by what layers cost at the sizes of What if, by element type, or by changes of resolution.
"use strict";

const MODES = [["none", "No colours"], ["macs", "MACs"], ["memory", "Memory"], ["weights", "Parameters"], ["type", "Element type"], ["resolution", "Resolution"]];
const TYPE_COLOURS = { f: "--type-float", b: "--type-float", i: "--type-int", u: "--type-int", n: "--type-small", s: "--type-text" };

class Colours {
  /** @param {any} app */
  constructor(app) {
    this.app = app;
    this.mode = "none";
    this.legend = /** @type {HTMLElement} */ (document.getElementById("legend"));
    const choice = /** @type {HTMLSelectElement} */ (document.getElementById("colour"));
    const modes = MODES.filter(([mode]) => app.model.data.cost || !["macs", "memory", "weights"].includes(mode));
    choice.replaceChildren(...modes.map(([mode, text]) => element("option", { value: mode }, text)));
    choice.onchange = () => {
      this.mode = choice.value;
      this.app.redraw();
      if (this.app.tab === "layers") this.app.openTab("layers");
      if (this.app.places.item === ROOT) this.app.graph.fit(); // beside the legend
    };
    this.forget();
  }
  forget() { this.amounts = {}; this.largestOf = {}; }
  /** The sizes at which costs are counted: those of What if, or `given`, and usual ones for the others. */
  sizes(given = this.app.sizesChosen) {
    const { near } = this.app.model.data.cost || { near: {} }, { names, ranges } = this.app.formulas, sizes = { ...near, ...given };
    // A size without a bound that only data tells is that of an input, as for `irshape cost`.
    for (const name of names.length ? Object.keys(near) : []) {
      const [least, greatest] = ranges[name] || [0, 0];
      if (!names.includes(name) && (greatest ?? Infinity) >= 2 ** 31 - 1) sizes[name] = Math.max(least, ...names.map((other) => sizes[other]));
    }
    return sizes;
  }
  /** These sizes in words: those of inputs, and how many others depend on the data; or all of them. */
  sizesText(isWhole = false) {
    const { names } = this.app.formulas, sizes = Object.entries(this.sizes()), own = sizes.filter(([name]) => isWhole || names.includes(name));
    const others = sizes.length - own.length;
    return [...own.map(([name, size]) => `${name}=${size}`), ...(others ? [others === 1 ? "a usual size for the one that depends on the data" : `usual sizes for the ${others} that depend on the data`] : [])].join(", ");
  }
  /** The amounts of all layers, as numbers, and of all groups. @param {string} kind @returns {Float64Array} */
  amountsOf(kind) {
    if (this.amounts[kind]) return this.amounts[kind];
    const { model, formulas } = this.app, column = model.data.cost[kind], found = new Float64Array(model.parents.length), sizes = formulas.sizes(this.sizes());
    for (let layer = 0; layer < model.count; layer++) {
      if (!column[layer]) continue;
      const value = low(sizes.value(column[layer]) ?? 0), number = Number.isFinite(value) ? value : 0;
      found[layer] = number;
      for (const around of model.ancestors(layer)) found[around] = kind === "memory" ? Math.max(found[around], number) : found[around] + number;
    }
    return (this.amounts[kind] = found);
  }
  total(kind) {
    const amounts = this.amountsOf(kind);
    let found = 0;
    for (let layer = 0; layer < this.app.model.count; layer++) found = kind === "memory" ? Math.max(found, amounts[layer]) : found + amounts[layer];
    return found;
  }
  /** The layer that takes the most, -1 if none does. @param {string} kind @returns {number} */
  largest(kind) {
    if (this.largestOf[kind] === undefined) {
      const amounts = this.amountsOf(kind);
      let found = -1;
      for (let layer = 0; layer < this.app.model.count; layer++) if (amounts[layer] > (found < 0 ? 0 : amounts[found])) found = layer;
      this.largestOf[kind] = found;
    }
    return this.largestOf[kind];
  }
  /** The layer in which the most memory is taken. */
  peak() { return this.largest("memory"); }
  get isCost() { return ["macs", "memory", "weights"].includes(this.mode); }
  /** How much of the whole an item takes, from 0 to 1. */
  share(item) { return this.isCost ? this.amountsOf(this.mode)[item] / (this.total(this.mode) || 1) : 0; }
  amount(kind, value) { return kind === "macs" ? `${short(value)} MACs` : value >= 1e4 ? `${short(value)}B` : `${value} B`; }
  /** The colour of a closed box; none if it is as usual. */
  of(item) {
    const { model } = this.app;
    if (this.isCost) {
      const share = this.share(item);
      return share > 0 ? `color-mix(in srgb, var(--heat) ${Math.round(10 + 50 * Math.sqrt(share))}%, var(--box))` : "";
    }
    if (this.mode === "none" || model.isGroup(item) || !model.outputs(item).length) return "";
    if (this.mode === "type") return `color-mix(in srgb, var(${TYPE_COLOURS[model.outputs(item)[0][0][0]] || "--type-small"}) 35%, var(--box))`;
    const change = this.resolution(item);
    return change ? `color-mix(in srgb, var(${change > 0 ? "--added" : "--heat"}) 40%, var(--box))` : "";
  }
  /** Whether a layer gives a larger picture than it reads (1), a smaller one (-1), or neither (0). */
  resolution(layer) {
    const { model, formulas } = this.app, [source, output] = model.data.layers.inputs[layer];
    if (source === undefined || source < 0) return 0;
    const sizes = formulas.sizes(this.sizes());
    const area = (one, port) => {
      const tree = this.app.shapeOf(one, port)[2];
      if (!tree || tree.length < 3) return null;
      const values = tree.slice(2).map((size) => sizes.value(size));
      return values.every((value) => typeof value === "number") ? values.reduce((a, b) => a * b, 1) : null;
    };
    const [before, after] = [area(source, output), area(layer, 0)];
    return before === null || after === null ? 0 : Math.sign(after - before);
  }
  isPeak(item) {
    if (this.mode !== "memory") return false;
    const peak = this.peak();
    return peak >= 0 && !this.app.graph.isOpen(item) && (item === peak || this.app.model.ancestors(peak).includes(item));
  }
  showLegend() {
    const { app } = this, sizes = this.sizesText();
    this.legend.hidden = this.mode === "none";
    if (this.isCost) {
      const largest = this.largest(this.mode);
      const whole = ` ${this.amount(this.mode, this.total(this.mode))}${this.mode === "memory" ? " at the peak" : " in all"}`;
      const most = largest < 0 ? [] : [this.mode === "memory" ? ", in " : ", most in ", app.link(largest, app.shortText(largest))];
      this.legend.replaceChildren(element("span", { class: "heat" }), whole, ...most, sizes ? `, at ${sizes}` : "");
    } else if (this.mode === "type") this.legend.replaceChildren(...[["--type-float", "floating point"], ["--type-int", "integers"], ["--type-small", "others"]].flatMap(([colour, text]) => { const dot = element("span", { class: "dot" }); dot.style.background = `var(${colour})`; return [dot, ` ${text}  `]; }));
    else this.legend.replaceChildren(element("span", { class: "dot down" }), " smaller than the input  ", element("span", { class: "dot up" }), " larger");
  }
}

// A number with a unit.
function short(value) {
  const units = ["", " k", " M", " G", " T", " P"], power = value < 1e4 ? 0 : Math.min(Math.floor(Math.log10(value) / 3), units.length - 1);
  return power ? `${Number((value / 1000 ** power).toPrecision(4))}${units[power]}` : Number(value.toFixed(2)).toString();
}
