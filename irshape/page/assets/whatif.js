// Sliders and fields for the open sizes of the inputs. Every shape of the page follows them.
"use strict";

class WhatIf {
  constructor(app) {
    this.app = app;
    this.formulas = app.formulas;
    this.controls = new Map();
    // The valid sizes by symbol, with the sizes of others that they were found for, and the last size that was tried.
    this.valid = new Map();
    this.scanned = new Map();
  }
  show(list) {
    const { names } = this.formulas;
    if (!names.length) {
      const reason = this.app.model.data.ok ? "No size of an input is open. To leave sizes open, give them names: "
        : "The model has errors, so its shapes are not known for other sizes.";
      list.replaceChildren(element("div", { class: "text" }, reason, this.app.model.data.ok ? element("code", {}, "irshape view FILE --input \"NAME[1,3,H,W]\"") : ""));
      return;
    }
    if (!this.root) {
      this.root = element("div", { class: "what" });
      this.inputs = element("div");
      this.root.append(this.inputs);
      for (const name of names) this.root.append(this.control(name));
      this.answer = element("div", { "aria-live": "polite" });
      this.root.append(element("button", { type: "button", id: "open-sizes", onclick: () => this.app.setSizes({}) }, "Leave all sizes open"), this.answer);
      this.sweep = new Sweep(this.app);
      this.copied = element("code", { class: "command" });
      this.copy = element("button", { type: "button", id: "copy-command", onclick: () => this.copyCommand() }, "Copy as command");
      this.root.append(element("div", { class: "what-command" }, this.copy, this.copied), this.sweep.root);
    }
    list.replaceChildren(this.root);
    this.refresh();
  }
  /** The first sizes of a symbol that fit the sizes that are set. @param {string} name @returns {number[]} */
  validOf(name) {
    const { formulas, app } = this, [least, greatest, modulus, remainder] = formulas.symbols[name];
    const about = [...formulas.demands.keys()].filter((number) => formulas.depends[number].has(name)).slice(0, 400);
    const [alone, tied] = [true, false].map((isAlone) => about.filter((number) => (formulas.depends[number].size === 1) === isAlone));
    const chosen = Object.fromEntries(Object.entries(app.sizesChosen).filter(([other]) => other !== name && tied.some((number) => formulas.depends[number].has(other))));
    const known = this.valid.get(name), key = JSON.stringify(chosen);
    if (known && known.key === key) return known.sizes;
    const from = Math.max(least ?? 0, 0), first = from + ((((remainder - from) % modulus) + modulus) % modulus);
    const last = Math.min(greatest ?? Infinity, Math.max(1024, first * 2, 32 * modulus));
    this.scanned.set(name, last);
    const fitting = (sizes, others, demands) => sizes.filter((size) => !formulas.broken({ ...others, [name]: size }, demands).length);
    const own = known ? known.own : fitting(Array.from({ length: Math.max(0, Math.floor((last - first) / modulus) + 1) }, (_, at) => first + at * modulus), {}, alone);
    // The sizes that are not set are usual ones, so that demands on several sizes count, too.
    let sizes = tied.length ? fitting(own, { ...app.colours.sizes(), ...chosen }, tied) : own;
    if (sizes.length < 2) sizes = fitting(own, chosen, tied);
    if (!sizes.length) sizes = own.length ? own : [first];
    this.valid.set(name, { key, own, sizes });
    return sizes;
  }
  /** The valid sizes in words: "25 to 32, 57 to 64, …". */
  rangeText(name) {
    const valid = this.validOf(name), greatest = this.formulas.symbols[name][1], runs = [];
    const step = valid.length > 1 ? valid[1] - valid[0] : 1, isEven = valid.every((size, at) => !at || size - valid[at - 1] === step);
    const isEnded = greatest !== null || valid[valid.length - 1] + step <= this.scanned.get(name);
    if (isEven && (step === 1 || valid.length > 2)) {
      const words = valid.length === 1 ? String(valid[0]) : isEnded ? `${valid[0]} to ${valid[valid.length - 1]}` : valid[0] > 0 ? `at least ${valid[0]}` : "any size";
      return step > 1 && valid.length > 1 ? `${words}, in steps of ${step}` : words;
    }
    for (const size of valid) {
      const last = runs[runs.length - 1];
      if (last && size === last[1] + 1) last[1] = size;
      else runs.push([size, size]);
    }
    return `${runs.slice(0, 3).map(([from, to]) => (from === to ? from : `${from} to ${to}`)).join(", ")}${runs.length > 3 ? ", …" : ""}`;
  }
  control(name) {
    const greatest = this.formulas.symbols[name][1], range = element("span", { class: "range" });
    const slider = element("input", { type: "range", min: 0, step: 1, value: 0, "aria-label": `size of ${name}` });
    const field = element("input", { type: "number", id: `size-${name}`, placeholder: "open" });
    if (greatest !== null) field.max = greatest;
    const set = (text) => {
      const value = text === "" ? undefined : Number(text);
      if (value !== undefined && (!Number.isInteger(value) || value < 0 || value > 2 ** 31)) return;
      const sizes = { ...this.app.sizesChosen };
      if (value === undefined) delete sizes[name];
      else sizes[name] = value;
      this.app.setSizes(sizes);
    };
    slider.addEventListener("input", () => set(String(this.validOf(name)[Number(slider.value)])));
    field.addEventListener("input", () => set(field.value));
    const entry = element("div", { class: "entry open" }, slider, field);
    this.controls.set(name, { slider, field, entry, range });
    return element("div", { class: "symbol" }, element("label", { for: `size-${name}` }, element("b", {}, name), range), entry);
  }
  /** The command that makes the model with these sizes. */
  command() {
    const { file, asked } = this.app.model.data, sizes = Object.entries(this.app.sizesChosen).map(([name, size]) => `${name}=${size}`);
    const options = [...asked.map((shape) => `--input "${shape}"`), ...(sizes.length ? [`--set ${sizes.join(" ")}`] : [])];
    return `irshape reshape ${/^[\w./-]+$/.test(file || "") ? file : "FILE"} ${options.join(" ")} -o reshaped.xml`;
  }
  // The size of an axis of an input, if it is known.
  inputSize(name, axis) {
    const { app } = this;
    for (let layer = 0; layer < app.model.count; layer++) {
      if (app.model.type(layer) !== "Parameter" || app.model.endName(layer) !== name) continue;
      const value = app.sizes.value((app.shapeOf(layer, 0)[2] || [])[axis] ?? "");
      return typeof value === "number" ? value : null;
    }
    return null;
  }
  copyCommand() {
    this.copied.textContent = this.command();
    copyText(this.copied.textContent, this.copy);
  }
  refresh() {
    if (!this.root) return;
    const { app } = this, sizes = app.sizesChosen;
    for (const [name, { slider, field, entry, range }] of this.controls) {
      const valid = this.validOf(name);
      [slider.max, field.min, range.textContent] = [String(valid.length - 1), String(valid[0]), this.rangeText(name)];
      entry.classList.toggle("open", sizes[name] === undefined);
      const value = sizes[name];
      if (document.activeElement !== field || value === undefined) if (field.value !== String(value ?? "")) field.value = value ?? "";
      const at = valid.findIndex((size) => size >= (value ?? 0));
      if (value !== undefined && document.activeElement !== slider) slider.value = String(at < 0 ? valid.length - 1 : at);
    }
    const shapes = Object.entries(this.app.model.data.inputs).map(([name, text]) => {
      const now = app.sizes ? `[${partsOf(text).map((part, axis) => this.inputSize(name, axis) ?? part).join(",")}]` : text;
      return element("p", { class: "formula" }, `${name}${text}${now === text ? "" : ` = ${now}`}`);
    });
    this.inputs.replaceChildren(...shapes);
    const parts = [];
    for (const name of Object.keys(sizes)) {
      if (this.formulas.fits(name, sizes[name])) continue;
      const causes = (app.model.data.bounds[name] || []).map(([layer, message]) => element("p", {}, app.link(layer), `: ${message}`));
      const [least, greatest, modulus] = this.formulas.symbols[name];
      const may = `${greatest === null ? `at least ${least}` : `${least} to ${greatest}`}${modulus > 1 ? ` in steps of ${modulus}` : ""}`;
      parts.push(element("div", { class: "refused" }, `${name} cannot be ${sizes[name]}: it may be ${may}${causes.length ? ", because of" : "."}`, ...causes));
    }
    for (const number of app.broken.slice(0, 6)) {
      const demand = app.model.data.demands[number];
      parts.push(element("div", { class: "refused", "data-refused": demand.layer }, app.link(demand.layer), demand.premise ? " has another shape than its formula says" : " refuses these sizes", `${demand.branch && ` if ${demand.branch} runs`}: ${demand.message}`,
        element("p", { class: "formula" }, demand.text)));
    }
    if (app.broken.length > 6) parts.push(element("p", { class: "faint" }, `and ${counted(app.broken.length - 6, "demand")} more`));
    if (parts.length) {
      const near = this.formulas.nearest(sizes, (name) => this.validOf(name));
      parts.unshift(element("p", {}, near.length ? "Nearest valid sizes:" : "No valid sizes were found nearby."), element("div", { class: "fits" }, ...near.map((choice) =>
        element("button", { type: "button", class: "fit", onclick: () => app.setSizes(choice) }, Object.keys(choice).filter((name) => choice[name] !== sizes[name]).map((name) => `${name}=${choice[name]}`).join(" ")))));
    } else if (Object.keys(sizes).length) parts.push(element("p", { class: "added" }, "No layer refuses these sizes."));
    this.answer.replaceChildren(...parts);
    if (this.copied.textContent) this.copied.textContent = this.command();
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.sweep.show(), 60);
  }
}
