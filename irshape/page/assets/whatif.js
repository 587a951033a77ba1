// Sliders and fields for the open sizes of the inputs. Every shape of the page follows them.
"use strict";

class WhatIf {
  constructor(app) {
    this.app = app;
    this.formulas = app.formulas;
    this.controls = new Map();
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
    }
    list.replaceChildren(this.root);
    this.refresh();
  }
  control(name) {
    const [least, greatest, modulus, remainder] = this.formulas.symbols[name];
    const from = Math.max(least ?? 0, 0), first = from + ((((remainder - from) % modulus) + modulus) % modulus);
    const to = Math.min(greatest ?? Infinity, Math.max(1024, 32 * modulus));
    const slider = element("input", { type: "range", min: first, max: to, step: modulus, value: first, "aria-label": `size of ${name}` });
    const field = element("input", { type: "number", min: first, step: modulus, id: `size-${name}`, placeholder: "open" });
    if (greatest !== null) field.max = greatest;
    const set = (text) => {
      const value = text === "" ? undefined : Number(text);
      if (value !== undefined && (!Number.isInteger(value) || value < 0 || value > 2 ** 31)) return;
      const sizes = { ...this.app.sizesChosen };
      if (value === undefined) delete sizes[name];
      else sizes[name] = value;
      this.app.setSizes(sizes);
    };
    slider.addEventListener("input", () => set(slider.value));
    field.addEventListener("input", () => set(field.value));
    this.controls.set(name, { slider, field });
    const words = [greatest !== null ? `${first} to ${greatest}` : first > 0 ? `at least ${first}` : "any size", modulus > 1 ? `${remainder ? `${remainder} more than ` : ""}a multiple of ${modulus}` : ""];
    return element("div", { class: "symbol" }, element("label", { for: `size-${name}` }, element("b", {}, name), element("span", { class: "range" }, words.filter(Boolean).join(", "))),
      element("div", { class: "entry" }, slider, field));
  }
  // The size of an axis of an input, if it is known.
  inputSize(name, axis) {
    const { app } = this;
    for (let layer = 0; layer < app.model.count; layer++) {
      if (app.model.data.layers.name[layer] !== name || app.model.type(layer) !== "Parameter") continue;
      const value = app.sizes.value((app.shapeOf(layer, 0)[2] || [])[axis] ?? "");
      return typeof value === "number" ? value : null;
    }
    return null;
  }
  refresh() {
    if (!this.root) return;
    const { app } = this, sizes = app.sizesChosen;
    for (const [name, { slider, field }] of this.controls) {
      const value = sizes[name];
      if (document.activeElement !== field || value === undefined) if (field.value !== String(value ?? "")) field.value = value ?? "";
      if (value !== undefined && document.activeElement !== slider) slider.value = value;
    }
    const shapes = Object.entries(this.app.model.data.inputs).map(([name, text]) => {
      const now = app.sizes ? `[${partsOf(text).map((part, axis) => this.inputSize(name, axis) ?? part).join(",")}]` : text;
      return element("p", { class: "formula" }, `${name}${text}${now === text ? "" : ` = ${now}`}`);
    });
    this.inputs.replaceChildren(...shapes);
    const parts = [];
    for (const name of Object.keys(sizes)) {
      if (!this.formulas.fits(name, sizes[name])) parts.push(element("div", { class: "refused" }, `${name} cannot be ${sizes[name]}.`));
    }
    for (const number of app.broken.slice(0, 6)) {
      const demand = app.model.data.demands[number];
      parts.push(element("div", { class: "refused", "data-refused": demand.layer }, app.link(demand.layer), demand.premise ? " has another shape than its formula says: " : " refuses these sizes: ", demand.message,
        element("p", { class: "formula" }, demand.text)));
    }
    if (app.broken.length > 6) parts.push(element("p", { class: "faint" }, `and ${counted(app.broken.length - 6, "demand")} more`));
    if (parts.length) {
      const near = this.formulas.nearest(sizes);
      parts.push(element("p", {}, near.length ? "Nearest valid sizes:" : "No valid sizes were found nearby."), element("div", { class: "fits" }, ...near.map((choice) =>
        element("button", { type: "button", class: "fit", onclick: () => app.setSizes(choice) }, Object.keys(choice).filter((name) => choice[name] !== sizes[name]).map((name) => `${name}=${choice[name]}`).join(" ")))));
    } else if (Object.keys(sizes).length) parts.push(element("p", { class: "added" }, "No layer refuses these sizes."));
    this.answer.replaceChildren(...parts);
  }
}
