// The lists beside the graph: faults, layers, and what the model demands.
"use strict";

const ROW = 46;
// So many changes that say the same are one group.
const FEWEST_SAME = 4;

// A list of layers of which only the visible rows are in the document.
class LayerList {
  constructor(app, layers) {
    this.app = app;
    this.layers = layers;
    this.space = element("div", { role: "listbox", "aria-label": "Layers" });
    this.space.style.position = "relative";
    this.space.style.height = `${layers.length * ROW}px`;
    this.scroller = document.getElementById("list");
  }
  show() {
    this.scroller.replaceChildren(this.space);
    this.scroller.onscroll = () => this.draw();
    const at = this.layers.indexOf(this.app.chosen);
    this.scroller.scrollTop = at > 8 ? (at - 4) * ROW : 0;
    this.draw();
  }
  draw() {
    const first = Math.max(0, Math.floor(this.scroller.scrollTop / ROW) - 8);
    const last = Math.min(this.layers.length, first + Math.ceil(this.scroller.clientHeight / ROW) + 16);
    this.space.replaceChildren(...Array.from({ length: last - first }, (_, index) => this.row(first + index)));
  }
  row(at) {
    const { app } = this, { model } = app, layer = this.layers[at], severity = model.faults.has(layer) ? model.worst.get(layer) : "";
    const output = model.outputs(layer).length ? app.tensorText(layer, 0) : "";
    const row = element("button", { type: "button", role: "option", "aria-selected": String(layer === app.chosen), "aria-posinset": at + 1, "aria-setsize": this.layers.length, class: `layer-row${layer === app.chosen ? " chosen" : ""}`, onclick: () => app.choose(layer), "data-layer": layer, title: model.name(layer) },
      element("span", {}, element("b", {}, model.type(layer)), severity ? element("span", { class: severity }, "●") : "", element("span", { class: "end" }, element("bdi", {}, model.name(layer)))),
      element("span", { class: "shape type" }, output));
    row.style.top = `${at * ROW}px`;
    if (app.colours.isCost) {
      const share = app.colours.share(layer), bar = element("span", { class: "bar", title: app.colours.amount(app.colours.mode, app.colours.amountsOf(app.colours.mode)[layer]) });
      bar.style.width = `${100 * Math.sqrt(share)}%`;
      row.append(bar);
    }
    return row;
  }
}

function faultList(app) {
  const { faults } = app.model.data;
  if (!faults.length) return [element("p", { class: "text" }, "No faults.")];
  const row = (number) => {
    const fault = faults[number];
    return element("button", {
      type: "button", class: `row${fault.layer >= 0 && fault.layer === app.chosen ? " chosen" : ""}`, "data-fault": number, onclick: () => app.chooseFault(number),
    }, element("span", { class: `code ${fault.severity}` }, fault.code), ` ${fault.message}`,
    element("div", { class: "about" }, [fault.line === null ? "" : `${fault.line}:${fault.column}`, fault.about].filter(Boolean).join("  ")));
  };
  return byCause(faults).flatMap((numbers) => {
    if (numbers.length === 1) return [row(numbers[0])];
    const [first] = numbers, { rules } = app.model.data, title = rules[faults[first].code] ? rules[faults[first].code][0] : "";
    const more = element("details", { class: "cause", open: numbers.length <= 4 || numbers.some((number) => faults[number].layer === app.chosen) },
      element("summary", {}, element("span", { class: `code ${faults[first].severity}` }, faults[first].code), ` ${numbers.length.toLocaleString("en")} times: ${title}`), ...numbers.slice(0, 500).map(row));
    if (numbers.length > 500) more.append(element("p", { class: "text" }, `and ${numbers.length - 500} more`));
    return [more];
  });
}

function changeList(app) {
  const { changes, asides, summary } = app.model.data;
  const row = (change) => element("button", { type: "button", class: "row", onclick: () => (change.layer >= 0 ? app.choose(change.layer) : null) },
    element("span", { class: `code ${change.mark}` }, change.kind), ` ${change.text}`, element("div", { class: "about" }, change.about));
  // Changes that say the same of layers of one type are one group.
  const groups = new Map(), typeOf = ({ about }) => about.split(" ")[0];
  const besideType = (change) => (["added", "removed"].includes(change.kind) ? "" : change.text.replace(` ${typeOf(change)}`, ""));
  for (const change of changes) {
    const key = JSON.stringify([change.kind, change.text, typeOf(change)]);
    groups.set(key, [...(groups.get(key) || []), change]);
  }
  const rows = [...groups.values()].flatMap((same) => (same.length < FEWEST_SAME ? same.map(row) : [element("details", { class: "cause", open: same.some(({ layer }) => layer >= 0 && layer === app.chosen) },
    element("summary", {}, element("span", { class: `code ${same[0].mark}` }, same[0].kind), ` ${typeOf(same[0])} × ${same.length.toLocaleString("en")} ${besideType(same[0])}`), ...same.slice(0, 500).map(row))]));
  const legend = element("p", { class: "text" }, element("span", { class: "added" }, "added"), ", ", element("span", { class: "changed" }, "changed"), ", ",
    element("span", { class: "removed" }, "removed"), ", ", element("span", { class: "follows" }, "follows"), " from a change before it");
  return [...(rows.length ? [element("p", { class: "text" }, summary), legend, ...rows] : [element("p", { class: "text" }, "Both files hold the same model.")]), ...(asides || []).map((text) => element("p", { class: "text" }, text))];
}

function demandList(app) {
  const { demands, conditions } = app.model.data;
  const parts = conditions.map((text) => element("p", { class: "text formula" }, text));
  if (!demands.length) return [...parts, element("p", { class: "text" }, "No layer sets a condition for the open sizes.")];
  return [...parts, ...demands.slice(0, 2000).map((demand, number) => element("button", {
    type: "button", class: "row", "data-demand": number, onclick: () => app.choose(demand.layer),
  }, element("span", { class: `formula${app.broken.includes(number) ? " broken" : ""}` }, demand.text), element("div", {}, demand.message),
  element("div", { class: "about" }, `${app.model.type(demand.layer)} ${app.model.name(demand.layer)}`)))];
}
