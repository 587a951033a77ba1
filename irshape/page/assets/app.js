// The page: the choice of a layer, of sizes and of how shapes are shown, and the keyboard.
"use strict";

class App {
  constructor(data) {
    this.take(data);
    this.graph = new Graph(this);
    this.places = new Places(this);
    this.listen();
    this.graph.detail.first();
    this.places.show();
    this.openTab(data.changes ? "changes" : data.faults.some((one) => one.severity !== "note") ? "faults" : this.formulas.names.length ? "what-if" : "layers");
    this.panel.show();
    if (location.hash) this.places.follow();
  }

  take(data) {
    this.model = new Model(data);
    this.formulas = new Formulas(data);
    this.chosen = null;
    this.sizesChosen = {};
    this.broken = [];
    this.bounding = [];
    this.unknown = new Set();
    this.refusing = new Set();
    this.sizes = null;
    this.shown = this.formulas.names.length ? "formulas" : "bounds";
    this.colours = new Colours(this);
    this.panel = new Panel(this);
    this.whatIf = new WhatIf(this);
    this.heading();
    this.tabs = this.makeTabs();
  }
  // Take newer data of the file; what is open and chosen stays, by its name.
  update(data) {
    const { graph, sizesChosen, tab } = this, before = this.model, at = document.getElementById("list").scrollTop;
    const open = new Set([...graph.open].map((item) => before.path(item)));
    const chosen = this.chosen === null ? null : before.path(this.chosen);
    this.take(data);
    graph.open = new Set();
    graph.blocks.clear();
    graph.forgetAll();
    for (const item of this.model.members.keys()) if (item !== ROOT && open.has(this.model.path(item))) graph.open.add(item);
    for (let layer = 0; chosen !== null && layer < this.model.count; layer++) if (this.model.path(layer) === chosen) { this.chosen = layer; break; }
    const search = /** @type {HTMLInputElement} */ (document.getElementById("search"));
    this.found = this.model.search(search.value);
    this.setSizes(Object.fromEntries(Object.entries(sizesChosen).filter(([name]) => this.formulas.names.includes(name))));
    this.openTab(tab);
    document.getElementById("list").scrollTop = at;
  }

  heading() {
    const { data } = this.model, counts = ["error", "warning", "note"].map((severity) => [severity, data.faults.filter((one) => one.severity === severity).length]);
    document.getElementById("title").textContent = data.name;
    document.getElementById("title").title = data.file || data.name;
    const faults = counts.filter(([, count]) => count).map(([severity, count]) => counted(count, severity)).join(", ");
    document.getElementById("summary").textContent = data.changes ? counted(data.changes.length, "change") : `${counted(this.model.drawn, "layer")}${data.hidden.length ? ` and ${counted(data.hidden.length, "layer")} of constants` : ""}, ${faults || "no faults"}`;
    this.drawShown();
  }
  drawShown() {
    const kinds = this.model.data.shapes.some(([bounds, formula]) => bounds !== formula) ? [["bounds", "Bounds"], ["formulas", "Formulas"]] : [];
    if (this.sizes) kinds.push(["sizes", "Sizes"]);
    document.getElementById("shown").replaceChildren(...kinds.map(([kind, text]) =>
      element("button", { type: "button", "aria-pressed": String(kind === this.shown), "data-shown": kind, onclick: () => { this.shown = kind; this.drawShown(); this.redraw(); } }, text)));
  }
  redraw() {
    if (!this.graph) return;
    this.colours.showLegend();
    this.graph.forgetAll(); this.graph.draw(); this.panel.show(); if (this.list) this.list.draw();
  }

  // Tabs.

  makeTabs() {
    const { data } = this.model;
    const many = (word, { length }) => (length ? `${word} ${length > 999 ? `${Math.floor(length / 1000)}k` : length}` : word);
    const tabs = [["faults", many("Faults", data.faults)], ["layers", "Layers"], ["what-if", "What if"], ["demands", many("Demands", data.demands)]];
    if (data.changes) tabs.unshift(["changes", `Changes ${data.changes.length}`]);
    const bar = document.getElementById("tabs");
    bar.replaceChildren(...tabs.map(([name, text]) => element("button", { type: "button", role: "tab", "data-tab": name, onclick: () => this.openTab(name) }, text)));
    return bar;
  }
  openTab(name) {
    this.tab = name;
    for (const button of /** @type {any} */ (this.tabs).children) button.setAttribute("aria-selected", String(button.dataset.tab === name));
    const list = document.getElementById("list");
    list.onscroll = null;
    this.list = null;
    if (name === "layers") { this.list = new LayerList(this, this.listed()); this.list.show(); }
    else if (name === "what-if") this.whatIf.show(list);
    else list.replaceChildren(...{ faults: faultList, demands: demandList, changes: changeList }[name](this));
    if (name === "layers" && this.found && !this.found.length) list.replaceChildren(element("p", { class: "text" }, "No layer has these words in its name, type, shapes or codes."));
  }
  // The layers of the list: those that were found, by their cost if costs are shown.
  listed() {
    const found = this.found || Array.from({ length: this.model.count }, (_, layer) => layer), amounts = this.colours.isCost ? this.colours.amountsOf(this.colours.mode) : null;
    return amounts ? [...found].sort((a, b) => amounts[b] - amounts[a]) : found;
  }
  refreshTab() {
    if (this.list) this.list.draw();
    else if (this.tab === "what-if") this.whatIf.refresh();
    else { const list = document.getElementById("list"), at = list.scrollTop; this.openTab(this.tab); list.scrollTop = at; }
  }

  // The choice of a layer.

  choose(layer, { reveal = true, fault = -1 } = {}) {
    this.chosen = layer;
    if (layer !== null && reveal) this.graph.reveal(this.drawnFor(layer));
    this.places.at(layer === null ? ROOT : layer, fault);
    this.graph.mark();
    this.panel.show();
    this.panel.root.scrollTop = 0;
    this.refreshTab();
  }
  chooseFault(number) {
    const { layer } = this.model.data.faults[number];
    if (layer >= 0) this.choose(layer, { fault: number });
  }
  // A layer that depends on constants alone is not drawn; the first drawn layer that it reaches is.
  drawnFor(layer) {
    const seen = new Set([layer]), pending = [layer];
    while (pending.length) {
      const one = pending.shift();
      if (!this.model.hidden[one]) return one;
      for (const [reader] of this.model.readers[one]) if (!seen.has(reader)) { seen.add(reader); pending.push(reader); }
    }
    return layer;
  }
  step(direction) {
    const { model } = this, inputs = model.data.layers.inputs[this.chosen];
    const before = [], after = model.readers[this.chosen].map(([reader]) => reader);
    for (let at = 0; at < inputs.length; at += 2) if (inputs[at] >= 0 && !model.hidden[inputs[at]]) before.push(inputs[at]);
    if (direction === "up" && before.length) this.choose(before[0]);
    if (direction === "down" && after.length) this.choose(after[0]);
    if (direction === "left" || direction === "right") {
      const beside = (model.members.get(model.parents[this.chosen]) || []).filter((item) => !model.isGroup(item));
      const next = beside[beside.indexOf(this.chosen) + (direction === "left" ? -1 : 1)];
      if (next !== undefined) this.choose(next);
    }
  }
  // What a screen reader says of a box.
  spoken(item, isOpen) {
    const { model } = this;
    if (!model.isGroup(item)) return `${model.type(item)} ${model.name(item)}`;
    const repeats = model.repeats(item);
    return `${repeats ? `${repeats} equal blocks` : "group"} ${model.groupName(item)}, ${counted(model.sizes[item - model.count], "layer")}${isOpen ? ", open" : ""}`;
  }
  shortText(layer) { return `${this.model.type(layer)} ${cut(this.model.shortName(layer), 24)}`.trim(); }
  // The shown block of a stack, in words.
  blockText(item) {
    const [block] = this.graph.membersOf(item);
    return `${this.graph.blockOf(item) + 1} of ${this.model.repeats(item)}${this.model.isGroup(block) ? `: ${cut(this.model.groupName(block), 24)}` : ""}`;
  }
  link(layer, text = "") {
    const { model } = this;
    return element("button", { type: "button", class: "link", onclick: () => this.choose(layer), "data-layer": layer }, text || `${model.type(layer)} ${cut(model.name(layer), 70)}`);
  }

  // Shapes.

  shapeOf(layer, output) { return this.model.data.shapes[this.model.data.layers.outputs[layer][2 * output + 1]]; }
  tensorText(layer, output) {
    const type = this.model.data.layers.types[this.model.data.layers.outputs[layer][2 * output]];
    const sizes = this.sizeTexts(layer, output);
    return `${type}${sizes === null ? "[...]" : `[${sizes.join(",")}]`}`;
  }
  // A tensor in at most so many characters: its longest sizes are left out, because a part of a formula says nothing.
  shortTensor(layer, output, most) {
    const sizes = this.sizeTexts(layer, output);
    let text = this.tensorText(layer, output);
    while (sizes && text.length > most && sizes.some((size) => size.length > 1)) {
      sizes[sizes.indexOf(sizes.reduce((a, b) => (b.length > a.length ? b : a)))] = "…";
      text = `${text.slice(0, text.indexOf("["))}[${sizes.join(",")}]`;
    }
    return cut(text, most);
  }
  sizeTexts(layer, output) {
    const [bounds, formula, sizes] = this.shapeOf(layer, output);
    if (this.shown === "sizes" && this.sizes) {
      if (sizes === null) return null;
      return this.unknown.has(layer) ? sizes.map((size) => (typeof size === "number" ? String(size) : "?")) : sizes.map((size) => sizeText(this.sizes.value(size)));
    }
    const text = this.shown === "bounds" ? bounds : formula;
    return text === "[...]" ? null : partsOf(text);
  }
  // The other way to write the shape, where it differs.
  formulaText(layer, output) {
    const [bounds, formula] = this.shapeOf(layer, output);
    return bounds === formula ? "" : this.shown === "formulas" ? bounds : formula;
  }
  classesOf(item) {
    const found = [];
    if (this.model.data.marks && this.model.data.marks[item]) found.push(this.model.data.marks[item]);
    if (this.refusing && this.refusing.has(item)) found.push("faulty");
    if (this.colours.isPeak(item)) found.push("peak");
    return found;
  }
  changeOf(layer) {
    const { changes } = this.model.data;
    if (!changes) return null;
    const own = changes.filter((change) => change.layer === layer);
    return own.length ? [element("h3", {}, "Changes"), ...own.map((change) => element("p", { class: "formula" }, change.kind === "removed" ? `removed ${change.about}` : change.text))] : null;
  }

  // What if.

  setSizes(sizes) {
    const wasWhole = this.graph?.isWhole;
    this.sizesChosen = sizes;
    this.colours.forget();
    const isAsked = Object.keys(sizes).length > 0;
    this.sizes = isAsked ? this.formulas.sizes(sizes) : null;
    // The layers that leave a symbol other sizes, with their reasons.
    this.bounding = Object.keys(sizes).filter((name) => !this.formulas.fits(name, sizes[name])).flatMap((name) => this.model.data.bounds[name] || []);
    const layers = this.bounding.map(([layer]) => layer);
    // What a layer demands of the shapes behind one that refuses is no news. Layers stand in topological order.
    const layerOf = (number) => this.model.data.demands[number].layer;
    this.unknown = this.model.reached(layers);
    this.broken = (isAsked ? this.formulas.broken(sizes) : []).sort((a, b) => layerOf(a) - layerOf(b)).filter((number) => {
      if (layers.includes(layerOf(number))) return true;
      if (this.unknown.has(layerOf(number))) return false;
      layers.push(layerOf(number));
      for (const layer of this.model.reached([layerOf(number)])) this.unknown.add(layer);
      return true;
    });
    this.refusing = new Set(layers.flatMap((layer) => [layer, ...this.model.ancestors(layer)]));
    if (isAsked) this.shown = "sizes";
    else if (this.shown === "sizes") this.shown = "formulas";
    this.drawShown();
    this.banner();
    this.redraw();
    if (wasWhole && !this.graph.isWhole) this.graph.fit();
    this.places?.write();
    this.whatIf.refresh();
    if (this.tab === "demands") this.refreshTab();
  }
  get isRefused() { return this.broken.length + this.bounding.length > 0; }
  // Say a sentence above the graph; nothing if it is empty.
  say(text) {
    this.said = text;
    this.banner();
  }
  banner() {
    const banner = document.getElementById("banner");
    banner.hidden = !this.isRefused && !this.said;
    if (this.said) banner.replaceChildren(this.said);
    if (this.said || !this.isRefused) return;
    const { layer, message, premise, branch } = this.model.data.demands[this.broken[0]] || { layer: this.bounding[0][0], message: this.bounding[0][1] };
    banner.replaceChildren(this.link(layer), ` ${premise ? "has another shape than its formula says" : "refuses these sizes"}${branch ? ` if ${branch} runs` : ""}: ${message}`);
  }

  // Keyboard, search, theme.

  listen() {
    const search = /** @type {HTMLInputElement} */ (document.getElementById("search"));
    search.addEventListener("input", () => {
      this.found = this.model.search(search.value);
      this.openTab("layers");
    });
    search.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && this.found && this.found.length) this.choose(this.found[(this.found.indexOf(this.chosen) + 1) % this.found.length]);
      if (event.key === "ArrowDown") { event.preventDefault(); /** @type {any} */ (document.querySelector("#list .layer-row"))?.focus(); }
      if (event.key === "Escape") { search.value = ""; this.found = null; this.openTab("layers"); search.blur(); document.getElementById("graph").focus(); }
      event.stopPropagation();
    });
    document.getElementById("list").addEventListener("keydown", (event) => {
      if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
      const next = event.key === "ArrowDown" ? document.activeElement.nextElementSibling : document.activeElement.previousElementSibling;
      if (next && next.matches("button")) { event.preventDefault(); /** @type {any} */ (next).focus(); }
    });
    document.addEventListener("keydown", (event) => {
      if (/** @type {any} */ (event.target).matches("input:not([type=range]), select, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
      const act = {
        "/": () => { search.focus(); search.select(); }, "?": () => this.help(), "+": () => this.graph.zoom(1.25), "=": () => this.graph.zoom(1.25), "-": () => this.graph.zoom(0.8),
        0: () => this.places.enter(ROOT), f: () => this.nextFault(), Escape: () => this.choose(null), z: () => this.graph.zoomTo(this.chosen), c: () => this.copyLink(), w: () => { this.openTab("what-if"); /** @type {any} */ (document.querySelector(".symbol input"))?.focus(); },
      }[event.key];
      if (act) { event.preventDefault(); act(); }
    });
    for (const [id, act] of Object.entries({
      "zoom-in": () => this.graph.zoom(1.25), "zoom-out": () => this.graph.zoom(0.8), fit: () => this.places.enter(ROOT), back: () => history.back(), forward: () => history.forward(), "save-svg": () => savePicture(this, "svg"), "save-png": () => savePicture(this, "png"), print: () => window.print(), "close-all": () => this.graph.closeAll(),
      "copy-link": () => this.copyLink(), theme: () => this.switchTheme(), help: () => this.help(),
    })) document.getElementById(id).onclick = act;
    window.onresize = () => {
      if (this.list) this.list.draw();
      this.graph.forgetAll();
      this.graph.draw();
    };
  }
  nextFault() {
    const layers = [...new Set(this.model.data.faults.map((fault) => fault.layer).filter((layer) => layer >= 0))];
    if (layers.length) this.choose(layers[(layers.indexOf(this.chosen) + 1) % layers.length]);
  }
  copyLink() { copyText(location.href, document.getElementById("copy-link")); }
  switchTheme() {
    const root = document.documentElement;
    const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = isDark ? "light" : "dark";
  }
  help() {
    const dialog = /** @type {HTMLDialogElement} */ (document.getElementById("keys"));
    const keys = [["/", "search"], ["Enter", "choose a layer, open or close a group; in the search, the next layer"], ["o", "open or close a layer with bodies"],
      ["arrows", "go to the layer before, after or beside"], ["Shift arrows", "move the graph"], ["+ - 0", "zoom in, zoom out, show everything"], ["z", "zoom to the chosen layer"], ["Alt arrows", "back and forward"], ["f", "next layer with a fault"],
      ["w", "what if: set sizes"], ["c", "copy the address of this place"], ["Esc", "no layer"]];
    dialog.replaceChildren(element("h2", {}, "Keyboard"), ...keys.map(([key, text]) => element("p", {}, element("kbd", {}, key), ` ${text}`)), element("button", { type: "button", onclick: () => dialog.close() }, "Close"));
    dialog.showModal();
  }
}

// The sizes in the text of a shape; a comma in brackets is part of a formula.
function partsOf(text) {
  const parts = [];
  let depth = 0, part = "";
  for (const character of text.slice(1, -1)) {
    if (character === "(") depth++;
    if (character === ")") depth--;
    if (character === "," && !depth) { parts.push(part); part = ""; }
    else part += character;
  }
  return part || parts.length ? [...parts, part] : [];
}
