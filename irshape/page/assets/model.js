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
    /** The layers that are drawn: all but those that depend on constants alone. */
    this.drawn = this.count - data.hidden.length;
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
  // The last part of a layer's name, if it says more than the type.
  shortName(layer) {
    const name = this.data.layers.name[layer], parts = name.split("/").filter(Boolean), last = parts[parts.length - 1] || "";
    const type = this.type(layer).toLowerCase().replace(/[^a-z]/g, ""), bare = last.toLowerCase().replace(/[^a-z]/g, "");
    if (["Parameter", "Result"].includes(this.type(layer))) return this.endName(layer);
    return bare === type || /^[A-Za-z]\w*_\d{4,}$/.test(last) ? "" : last;
  }
  // The name of an input or an output of the model.
  endName(layer) { return (this.data.ends && this.data.ends[layer]) || this.name(layer); }
  // The variable that a layer reads.
  variable(layer) { return (this.signature(layer).attributes.find(([name]) => name === "variable_id") || [])[1] || this.name(layer); }
  // The number of equal blocks in a group; 0 for any other item.
  repeats(item) { return this.isGroup(item) ? this.data.groups[item - this.count][3] : 0; }
  groupName(item) { return this.data.groups[item - this.count][1]; }
  outputs(layer) {
    const flat = this.data.layers.outputs[layer], found = [];
    for (let at = 0; at < flat.length; at += 2) found.push([this.data.layers.types[flat[at]], flat[at + 1]]);
    return found;
  }

  /** The layers that are drawn in an item, those of bodies left out. @param {number} container @returns {number[]} */
  layersOf(container) {
    const found = [], pending = [container];
    while (pending.length) {
      for (const item of this.members.get(pending.pop()) || []) {
        if (this.isGroup(item)) pending.push(item);
        else found.push(item);
      }
    }
    return found;
  }
  // The member of an open item in which a layer stands; null if it stands elsewhere.
  memberOf(layer, container) {
    let item = layer;
    while (this.parents[item] !== container) {
      item = this.parents[item];
      if (item === ROOT) return null;
    }
    return item;
  }
  // What the members of an open item give each other: `edges` are [from, to, layer, output], `leaving` the tensors that leave each member,
  // and `stubs` what each member reads that is not drawn as an edge, because it comes from elsewhere, has many readers, or is read for its shape.
  linksOf(container) {
    if (!this.links) this.links = new Map();
    let found = this.links.get(container);
    if (!found) this.links.set(container, found = this.linked(container));
    return found;
  }
  linked(container) {
    const layers = this.layersOf(container), member = new Int32Array(this.count).fill(ROOT);
    for (const layer of layers) member[layer] = this.memberOf(layer, container) ?? ROOT;
    const edges = new Map(), stubs = new Map(), leaving = new Map();
    const add = (map, item, key, value) => {
      if (!map.has(item)) map.set(item, new Map());
      if (!map.get(item).has(key)) map.get(item).set(key, value);
    };
    for (const layer of layers) {
      const own = member[layer], isShape = this.type(layer) === "ShapeOf", inputs = this.data.layers.inputs[layer];
      for (let at = 0; at < inputs.length; at += 2) {
        const source = inputs[at], from = source < 0 ? own : member[source];
        if (from === own || this.hidden[source]) continue;
        const output = inputs[at + 1], key = source * 4096 + output;
        if (from === ROOT || isShape) add(stubs, own, key, { layer: source, output, isShape });
        else add(edges, key, own, [from, own, source, output]);
        if (from !== ROOT && !isShape) add(leaving, from, key, [source, output]);
      }
      const { takes, gives } = this.data.bodies;
      for (const [end, isGiven] of [[takes[layer], false], [gives[layer], true]]) {
        if (end && this.isGroup(container)) add(stubs, own, `${layer}${isGiven}`, { layer: end[0], output: end[1], words: end[2], isGiven, isShape: false });
      }
      if (container === ROOT) continue;
      for (const [reader, , output] of this.readers[layer]) {
        if (!this.hidden[reader] && member[reader] === ROOT && this.type(reader) !== "ShapeOf") add(leaving, own, layer * 4096 + output, [layer, output]);
      }
    }
    const drawn = [];
    for (const [key, own] of edges) {
      const [, , source, output] = own.values().next().value;
      if (own.size > 2 && this.readersOf(source, output) > MOST_READERS) for (const target of own.keys()) add(stubs, target, key, { layer: source, output, isShape: false });
      else drawn.push(...own.values());
    }
    const named = new Map();
    for (const [item, own] of stubs) named.set(item, this.named([...own.values()], container));
    return { edges: drawn, stubs: named, leaving: new Map([...leaving].map(([item, own]) => [item, [...own.values()]])) };
  }
  /** The back edges of Loops between the members of an open item: from and to, with the Result and the Parameter. @returns {number[][]} */
  backsOf(container) {
    if (!this.backs) {
      this.backs = new Map();
      for (const [result, parameter] of this.data.bodies.back) {
        const around = this.ancestors(result), body = this.ancestors(parameter).find((one) => around.includes(one));
        if (!this.backs.has(body)) this.backs.set(body, []);
        this.backs.get(body).push([this.memberOf(result, body), this.memberOf(parameter, body), result, parameter]);
      }
    }
    return this.backs.get(container) || [];
  }
  /** Whether an item is an input of its graph, or only holds inputs; the same for results. @param {number} item @param {"Parameter" | "Result"} type */
  isEnd(item, type) { return this.isGroup(item) ? (this.members.get(item) || []).every((one) => this.isEnd(one, type)) : this.type(item) === type; }
  readersOf(layer, output) { return this.readers[layer].filter(([, , one]) => one === output).length; }
  // Stubs with their texts: the name of the member of an open item around, from which a tensor comes. Of many, the first ones are named.
  named(stubs, container) {
    const around = new Set([container, ...(container === ROOT ? [] : this.ancestors(container)), ROOT]);
    const texts = new Map();
    for (const stub of stubs) {
      let item = stub.layer;
      while (!around.has(this.parents[item])) item = this.parents[item];
      const { words = "" } = stub, name = stub.isGiven || stub.output < 0 ? "" : this.type(stub.layer) === "Parameter" ? this.endName(stub.layer) : this.isGroup(item) ? this.groupName(item) : this.shortName(item) || this.type(item);
      const text = `${stub.isShape ? "shape of " : ""}${cut(name, 26)} ${words}`.trim();
      if (!texts.has(text)) texts.set(text, { ...stub, text });
    }
    const found = [...texts.values()].sort((a, b) => Number(a.isShape) - Number(b.isShape));
    return found.length <= 2 ? found : [found[0], { ...found[1], text: `and ${found.length - 1} more` }];
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
      for (const number of this.demands.get(layer) || []) parts.push(this.data.demands[number].text);
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
