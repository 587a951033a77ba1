// What is said of one layer: its place, faults, attributes, ports, values, demands, and why a size is what it is.
"use strict";

class Panel {
  constructor(app) {
    this.app = app;
    this.model = app.model;
    this.root = document.getElementById("panel");
    this.why = null;
  }
  show() {
    const { app, model } = this, layer = app.chosen;
    this.root.classList.toggle("overview", layer === null);
    if (layer === null) { this.root.replaceChildren(...this.overview()); return; }
    if (this.why && this.why.layer !== layer) this.why = null;
    const { layers, values } = model.data, signature = model.signature(layer);
    const place = [`${layers.line[layer]}:${layers.column[layer]}`, `id ${layers.key[layer]}`, signature.version].filter(Boolean).join("  ·  ");
    const parts = [element("h2", {}, model.type(layer)), element("p", {}, model.name(layer)), element("p", { class: "faint" }, place)];
    const change = app.changeOf(layer);
    if (change) parts.push(...change);
    const faults = model.faults.get(layer) || [];
    if (faults.length) parts.push(element("h3", {}, "Faults"), ...faults.map((number) => this.fault(model.data.faults[number])));
    const inputs = layers.inputs[layer];
    if (inputs.length) {
      parts.push(element("h3", {}, "Inputs"));
      for (let at = 0; at < inputs.length; at += 2) parts.push(this.input(signature.inputs[at / 2], inputs[at], inputs[at + 1]));
    }
    parts.push(...this.outside(layer));
    const outputs = model.outputs(layer);
    if (outputs.length) parts.push(element("h3", {}, outputs.length > 1 ? "Outputs" : "Output"));
    outputs.forEach(([type], output) => parts.push(...this.output(layer, output, type, signature.outputs[output])));
    for (let output = 0; output < outputs.length; output++) {
      const own = values[`${layer}:${output}`];
      if (own) parts.push(element("h3", {}, outputs.length > 1 ? `Values of port ${signature.outputs[output]}` : "Values"), element("p", { class: "formula" }, `[${own.join(", ")}]`));
    }
    if (model.data.cost && !app.isRefused) {
      const { colours } = app, rows = [["macs", "MACs"], ["weights", "weights"], ["memory", "memory in use"]].map(([kind, text]) => [text, colours.amountsOf(kind)[layer], kind]).filter(([, value]) => value);
      if (rows.length) {
        parts.push(element("h3", {}, "Cost"), element("table", {}, element("tbody", {}, ...rows.map(([text, value, kind]) => element("tr", {}, element("td", {}, text),
          element("td", {}, colours.amount(kind, value), kind === "memory" && layer === colours.peak() ? element("b", { class: "peak-text" }, " the peak") : ""))))));
      }
    }
    const demands = model.demands.get(layer) || [];
    if (demands.length) parts.push(element("h3", {}, "Demands"), ...demands.map((number) => this.demand(number)));
    if (signature.attributes.length) {
      parts.push(element("h3", {}, "Attributes"));
      parts.push(element("table", {}, element("tbody", {}, ...signature.attributes.map(([name, value]) =>
        element("tr", {}, element("td", {}, name), element("td", { class: "formula" }, value))))));
    }
    const readers = model.readers[layer];
    if (readers.length) {
      parts.push(element("h3", {}, "Read by"));
      for (const [reader] of readers.slice(0, 30)) parts.push(element("p", {}, app.link(reader)));
      if (readers.length > 30) parts.push(element("p", { class: "faint" }, `and ${counted(readers.length - 30, "layer")} more`));
    }
    this.root.replaceChildren(...parts);
  }
  /** What a Parameter of a body takes from outside, what a Result gives, and what one iteration hands to the next. @param {number} layer */
  outside(layer) {
    const { takes, gives, back } = this.model.data.bodies, parts = [], { app } = this;
    const row = (...children) => parts.push(element("p", { class: "port" }, ...children));
    if (takes[layer]) row("takes ", takes[layer][1] < 0 ? "" : app.link(takes[layer][0]), ` ${takes[layer][2]}`);
    if (gives[layer]) row("gives ", app.link(gives[layer][0]), ` ${gives[layer][2]}`);
    for (const [result, parameter] of back) {
      if (layer === result) row("is ", app.link(parameter), " in the next iteration");
      if (layer === parameter) row("is ", app.link(result), " in the next iteration");
    }
    return parts.length ? [element("h3", {}, "Outside of the body"), ...parts] : [];
  }
  overview() {
    const { data } = this.model, parts = [element("h2", {}, data.name), element("p", { class: "faint" }, `${data.tool.name} ${data.tool.version}, IR version ${data.ir_version}`)];
    parts.push(element("p", { class: "help" }, "Choose a layer in the graph or in a list. Choose a size of an output to see why the layer has it."));
    const ends = [["Inputs", "Parameter"], ["State", "ReadValue"], ["Outputs", "Result"]];
    for (const [title, type] of ends) {
      const layers = [];
      for (let layer = 0; layer < this.model.count; layer++) if (this.model.type(layer) === type && !data.layers.key[layer].includes("/")) layers.push(layer);
      if (layers.length) parts.push(element("h3", {}, title));
      for (const layer of layers.slice(0, 60)) {
        const tensor = type === "Result" ? [data.layers.inputs[layer][0], data.layers.inputs[layer][1]] : [layer, 0];
        parts.push(element("p", { class: "port" }, this.app.link(layer, type === "ReadValue" ? this.model.variable(layer) : this.model.endName(layer)), " ", element("span", { class: "shape" }, tensor[0] >= 0 ? this.app.tensorText(...tensor) : "")));
      }
      if (layers.length > 60) parts.push(element("p", { class: "faint" }, `and ${layers.length - 60} more`));
    }
    if (data.conditions.length) parts.push(element("h3", {}, "Valid where"), ...data.conditions.map((text) => element("p", { class: "formula" }, text)));
    if (data.cost && !this.app.isRefused) {
      const { colours } = this.app, sizes = colours.sizesText(), peak = colours.peak();
      parts.push(element("h3", {}, "Cost"), ...(sizes ? [element("p", { class: "faint", title: colours.sizesText(true) }, `at ${sizes}`)] : []), element("p", { class: "port" }, colours.amount("macs", colours.total("macs"))),
        element("p", { class: "port" }, `${colours.amount("weights", data.cost.parameters)} of constants`));
      if (peak >= 0) parts.push(element("p", { class: "port" }, `${colours.amount("memory", colours.total("memory"))} at the peak, in `, this.app.link(peak, this.app.shortText(peak))));
    }
    return parts;
  }
  fault(fault) {
    const texts = [element("span", { class: `code ${fault.severity}` }, fault.code), ` ${fault.severity === "error" ? "" : `${fault.severity}: `}${fault.message}`];
    return element("div", { class: "why" }, ...texts, ...faultDetails(fault, this.model.data.rules));
  }
  input([, name], source, output) {
    if (source < 0) return element("div", { class: "port" }, name, element("span", { class: "faint" }, " not connected"));
    const values = this.model.data.values[`${source}:${output}`];
    return element("div", { class: "port" }, element("b", {}, name), " ", this.app.link(source), element("br"),
      element("span", { class: "shape" }, this.app.tensorText(source, output), values ? ` = ${cut(values.join(", "), 60)}` : ""));
  }
  output(layer, output, type, id) {
    const { app } = this, sizes = app.sizeTexts(layer, output);
    const parts = [element("span", { class: "shape" }, type)];
    if (sizes === null) parts.push(element("span", { class: "shape" }, "[...]"));
    else {
      parts.push(...sizes.map((text, axis) => {
        const isShown = this.why && this.why.output === output && this.why.axis === axis;
        return element("button", {
          type: "button", class: "axis", title: `axis ${axis}: why this size?`, "aria-expanded": String(Boolean(isShown)),
          onclick: () => { this.why = isShown ? null : { layer, output, axis }; this.show(); },
        }, text);
      }));
      if (!sizes.length) parts.push(element("span", { class: "shape" }, "[]"));
    }
    const row = element("div", { class: "axes", "data-output": output }, element("span", { class: "faint" }, `port ${id}`), ...parts);
    const formula = app.formulaText(layer, output);
    const found = [row, ...(formula ? [element("p", { class: "formula faint" }, formula)] : [])];
    if (this.why && this.why.output === output) found.push(this.explanation());
    return found;
  }
  explanation() {
    const { layer, output, axis } = this.why, { answers, steps } = this.model.data;
    const found = (answers[`${layer}:${output}`] || [])[axis];
    const answer = typeof found === "number" ? ["", "", found, ...(steps[found - 1][0] === layer ? [] : [layer])] : found;
    const box = element("div", { class: "why", "data-why": axis });
    if (!answer) {
      const key = this.model.data.layers.key[layer], port = this.model.signature(layer).outputs[output];
      box.append("This page does not explain this size. ", element("code", {}, `irshape explain ${this.model.data.file || "FILE"} ${key}:${port}:${axis}`), " does.");
      return box;
    }
    const needed = new Set(), pending = answer[2] ? [answer[2]] : [];
    while (pending.length) {
      const number = pending.pop();
      if (needed.has(number)) continue;
      needed.add(number);
      for (const read of steps[number - 1][6]) if (read[2]) pending.push(read[2]);
    }
    const order = [...needed].sort((a, b) => a - b), place = new Map(order.map((number, index) => [number, index + 1]));
    box.append(element("p", {}, `axis ${axis} is `, element("code", {}, this.app.sizeTexts(layer, output)[axis]), this.origin(answer, place)));
    const shown = order.length > 60 ? order.slice(-60) : order;
    if (shown.length < order.length) box.append(element("p", { class: "faint" }, `The first ${counted(order.length - 60, "step")} are left out.`));
    box.append(element("ol", { class: "steps", start: order.length - shown.length + 1 }, ...shown.map((number) => this.step(steps[number - 1], place))));
    return box;
  }
  step([layer, subject, value, formula, numbers, note, reads], place) {
    const sides = [subject, formula, numbers, value].filter((text, at, all) => text && text !== all[at - 1]);
    const parts = [layer >= 0 ? this.app.link(layer) : "", element("span", { class: "formula" }, sides.join(" = ")), note ? element("span", { class: "read" }, note) : null];
    for (const read of reads) parts.push(element("span", { class: "read" }, read[0], this.origin(read, place)));
    return element("li", {}, ...parts);
  }
  origin([, source, step, last], place) {
    const through = last === undefined ? "" : `, unchanged up to ${this.layerText(last)}`;
    return `: ${step ? `step ${place.get(step)}` : source}${through}`;
  }
  layerText(layer) { return layer < 0 ? "a layer" : `${this.model.type(layer)} ${cut(this.model.name(layer), 50)}`; }
  demand(number) {
    const demand = this.model.data.demands[number], broken = this.app.broken.includes(number);
    return element("div", { class: "why" }, element("span", { class: `formula${broken ? " broken" : ""}` }, demand.text),
      element("p", {}, demand.message), demand.branch ? element("p", { class: "faint" }, `This holds only if ${demand.branch} runs.`) : null,
      broken ? element("p", { class: "broken" }, "The sizes of What if break this condition.") : null,
      demand.premise ? element("p", { class: "faint" }, "OpenVINO accepts other sizes; the formulas of the outputs do not hold for them.") : null);
  }
}
