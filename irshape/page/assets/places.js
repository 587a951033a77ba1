// Where one is: the groups around what is shown, back and forward, and an address for each place.
"use strict";

// A place is in the fragment of the address: `#layer=2.body/5`, `#group=12` or `#fault=3`, with the sizes of What if: `&H=64`.
class Places {
  /** @param {any} app */
  constructor(app) {
    this.app = app;
    this.item = ROOT;
    this.fault = -1;
    this.map = new MiniMap(app);
    this.crumbs = /** @type {HTMLElement} */ (document.getElementById("crumbs"));
    this.written = location.hash;
    window.onhashchange = () => { if (location.hash !== this.written) this.follow(); };
  }
  /** Say where one is: at a layer or a group, or at a fault. */
  at(item, fault = -1) {
    this.item = item;
    this.fault = fault;
    this.show();
    this.write();
  }
  write() {
    const { model, sizesChosen } = this.app, parts = [];
    if (this.fault >= 0) parts.push(`fault=${this.fault + 1}`);
    else if (this.item !== ROOT) parts.push(model.isGroup(this.item) ? `group=${this.item - model.count}` : `layer=${encodeURIComponent(model.data.layers.key[this.item])}`);
    for (const [name, size] of Object.entries(sizesChosen)) parts.push(`${encodeURIComponent(name)}=${size}`);
    const text = parts.length ? `#${parts.join("&")}` : "";
    if (text === this.written) return;
    this.written = text;
    if (text || location.hash) location.hash = text;
    this.written = location.hash;
  }
  /** Go to the place of the address; true if it has one. */
  follow() {
    this.written = location.hash;
    const { app } = this, { model } = app, sizes = {};
    let item = ROOT, fault = -1;
    for (const part of location.hash.slice(1).split("&").filter(Boolean)) {
      const [name, value] = part.split("=").map((text) => { try { return decodeURIComponent(text); } catch { return ""; } });
      if (name === "layer") item = Math.max(ROOT, model.data.layers.key.indexOf(value));
      else if (name === "group" && model.data.groups[Number(value)]) item = model.count + Number(value);
      else if (name === "fault" && model.data.faults[Number(value) - 1]) fault = Number(value) - 1;
      else if (app.formulas.names.includes(name) && /^\d{1,10}$/.test(value)) sizes[name] = Number(value);
    }
    const isNew = JSON.stringify(sizes) !== JSON.stringify(app.sizesChosen);
    if (isNew) app.setSizes(sizes);
    if (fault >= 0) app.chooseFault(fault);
    else if (item === ROOT) app.choose(null);
    else if (model.isGroup(item)) this.enter(item);
    else app.choose(item);
    return item !== ROOT || fault >= 0 || isNew;
  }
  /** Open a group, and go there. */
  enter(item) {
    const { graph } = this.app;
    if (item === ROOT) { graph.detail.first(); this.at(ROOT); return; }
    graph.openAround(item);
    if (!graph.isBlock(item)) graph.open.add(item);
    graph.layouts.forget(item);
    graph.draw();
    graph.bring(graph.positions.has(item) ? item : this.app.model.parents[item]);
    this.at(item);
  }
  show() {
    const { model } = this.app, way = this.item === ROOT ? [] : [this.item, ...model.ancestors(this.item)].reverse();
    const button = (item, text) => element("button", { type: "button", class: "crumb", "data-crumb": item, onclick: () => (model.isGroup(item) || item === ROOT ? this.enter(item) : this.app.choose(item)) }, text);
    const words = (item) => (model.isGroup(item) ? (model.repeats(item) ? `${model.repeats(item)} × ` : "") + cut(model.groupName(item), 24) : `${model.type(item)} ${cut(model.shortName(item), 20)}`);
    const shown = way.length > 5 ? [...way.slice(0, 1), null, ...way.slice(-3)] : way;
    this.crumbs.replaceChildren(button(ROOT, "Model"), ...shown.flatMap((item) => [element("span", { class: "faint" }, "›"), item === null ? element("span", {}, "…") : button(item, words(item))]));
    this.crumbs.scrollLeft = this.crumbs.scrollWidth; // the innermost group is the one to see
  }
}
