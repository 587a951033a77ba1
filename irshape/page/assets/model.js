// The data of the page, with what is computed from it once: the tree of groups and layers, edges, faults and texts for the search.
"use strict";

const ROOT = -1;

// Items are numbered: layers from 0 on, groups after the last layer.
class Model {
  constructor(data) {
    this.data = data;
    const layers = data.layers;
    this.count = layers.key.length;
    this.hidden = new Uint8Array(this.count);
    for (const layer of data.hidden) this.hidden[layer] = 1;
    this.parents = new Int32Array(this.count + data.groups.length);
    this.members = new Map([[ROOT, []]]);
    this.sizes = new Int32Array(data.groups.length);
    data.groups.forEach(([parent, , holder], group) => {
      this.parents[this.count + group] = holder >= 0 ? holder : parent >= 0 ? this.count + parent : ROOT;
    });
    for (let layer = 0; layer < this.count; layer++) {
      const group = layers.group[layer];
      this.parents[layer] = group >= 0 ? this.count + group : ROOT;
    }
    for (let item = 0; item < this.parents.length; item++) {
      if (item < this.count && this.hidden[item]) continue;
      const parent = this.parents[item];
      if (!this.members.has(parent)) this.members.set(parent, []);
      this.members.get(parent).push(item);
      if (item < this.count) for (const one of this.ancestors(item)) if (one >= this.count) this.sizes[one - this.count]++;
    }
    this.readers = Array.from({ length: this.count }, () => []);
    for (let layer = 0; layer < this.count; layer++) {
      const inputs = layers.inputs[layer];
      for (let at = 0; at < inputs.length; at += 2) if (inputs[at] >= 0) this.readers[inputs[at]].push([layer, at / 2, inputs[at + 1]]);
    }
    this.faults = new Map();
    data.faults.forEach((fault, number) => {
      if (fault.layer < 0) return;
      if (!this.faults.has(fault.layer)) this.faults.set(fault.layer, []);
      this.faults.get(fault.layer).push(number);
    });
    this.worst = new Map();
    for (const [layer, numbers] of this.faults) {
      const severity = worstOf(numbers.map((number) => data.faults[number].severity));
      for (const item of [layer, ...this.ancestors(layer)]) this.worst.set(item, worstOf([severity, this.worst.get(item)]));
    }
    this.demands = new Map();
    data.demands.forEach((demand, number) => {
      if (!this.demands.has(demand.layer)) this.demands.set(demand.layer, []);
      this.demands.get(demand.layer).push(number);
    });
  }

  // The names of an item and of the groups around it, as one text.
  path(item) {
    return [item, ...this.ancestors(item)].map((one) => (this.isGroup(one) ? this.groupName(one) : `${this.type(one)} ${this.data.layers.name[one]}`)).join("\n");
  }
  isGroup(item) { return item >= this.count; }
  opens(item) { return this.members.has(item); }
  ancestors(item) {
    const found = [];
    for (let one = this.parents[item]; one !== ROOT; one = this.parents[one]) found.push(one);
    return found;
  }
  signature(layer) { return this.data.layers.signatures[this.data.layers.signature[layer]]; }
  type(layer) { return this.signature(layer).type; }
  name(layer) { return this.data.layers.name[layer] || `layer ${this.data.layers.key[layer]}`; }
  groupName(item) { return this.data.groups[item - this.count][1]; }
  outputs(layer) {
    const flat = this.data.layers.outputs[layer], found = [];
    for (let at = 0; at < flat.length; at += 2) found.push([this.data.layers.types[flat[at]], flat[at + 1]]);
    return found;
  }

  // The edges between members of each open item, as [from, to, layer, output].
  edgesOf(container) {
    if (!this.edges) this.collectEdges();
    return this.edges.get(container) || [];
  }
  collectEdges() {
    this.edges = new Map();
    const seen = new Set();
    for (let layer = 0; layer < this.count; layer++) {
      if (this.hidden[layer]) continue;
      const above = [layer, ...this.ancestors(layer)];
      const inputs = this.data.layers.inputs[layer];
      for (let at = 0; at < inputs.length; at += 2) {
        const source = inputs[at];
        if (source < 0 || this.hidden[source]) continue;
        let from = source, to = above.indexOf(this.parents[from]);
        while (to < 0 && this.parents[from] !== ROOT) {
          from = this.parents[from];
          to = above.indexOf(this.parents[from]);
        }
        const container = this.parents[from], target = container === ROOT ? above[above.length - 1] : above[to - 1];
        if (target === undefined || target === from) continue;
        const key = `${from},${target},${source},${inputs[at + 1]}`;
        if (seen.has(key)) continue;
        seen.add(key);
        if (!this.edges.has(container)) this.edges.set(container, []);
        this.edges.get(container).push([from, target, source, inputs[at + 1]]);
      }
    }
  }

  // The text in which a search looks for words, for each layer.
  texts() {
    if (this.searched) return this.searched;
    const { layers, shapes, faults } = this.data;
    const kinds = layers.signatures.map((one) => `${one.type} ${one.version}`);
    this.searched = [];
    for (let layer = 0; layer < this.count; layer++) {
      const parts = [layers.name[layer], kinds[layers.signature[layer]], `#${layers.key[layer]}`];
      const flat = layers.outputs[layer];
      for (let at = 0; at < flat.length; at += 2) {
        const type = layers.types[flat[at]], [bounds, formula] = shapes[flat[at + 1]];
        parts.push(type + bounds, ...(bounds === formula ? [] : [type + formula]));
      }
      for (const number of this.faults.get(layer) || []) parts.push(faults[number].code);
      this.searched.push(parts.join(" ").toLowerCase());
    }
    return this.searched;
  }
  search(text) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length) return null;
    const texts = this.texts(), found = [];
    for (let layer = 0; layer < texts.length; layer++) if (words.every((word) => texts[layer].includes(word))) found.push(layer);
    return found;
  }

  // All layers that some layers reach, these included.
  reached(starts) {
    const found = new Set(starts), pending = [...starts];
    while (pending.length) {
      for (const [reader] of this.readers[pending.pop()]) if (!found.has(reader)) { found.add(reader); pending.push(reader); }
    }
    return found;
  }
}

const SEVERITIES = ["note", "warning", "error"];
function worstOf(severities) {
  return SEVERITIES[Math.max(...severities.map((one) => SEVERITIES.indexOf(one)))];
}

// An element with properties, and children that are elements or text. Text is never markup.
function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "class") made.className = value;
    else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name.includes("-") || name === "role" || name === "for") made.setAttribute(name, value);
    else made[name] = value;
  }
  made.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return made;
}
function counted(number, thing) { return `${number.toLocaleString("en")} ${thing}${number === 1 ? "" : "s"}`; }
