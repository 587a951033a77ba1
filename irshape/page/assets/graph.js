// The drawing of the graph: every open group is laid out by itself, and stands as one box in the group around it.
"use strict";

const SVG = "http://www.w3.org/2000/svg";
const LINE = 17, HEAD = 26, MARGIN = 12, LONGEST = 34, MOST_DRAWN = 1500;

function shape(tag, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}
function cut(text, most = LONGEST) {
  const characters = [...text];
  if (characters.length <= most) return text;
  const end = Math.floor(most * 0.62);
  return `${characters.slice(0, most - end - 1).join("")}…${characters.slice(-end).join("")}`;
}

class Graph {
  constructor(app) {
    this.app = app;
    this.svg = document.getElementById("graph");
    this.open = new Set();
    this.layouts = new Map();
    this.view = { x: 0, y: 0, scale: 1 };
    this.items = new Map();
    this.canvas = shape("g");
    const arrow = shape("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, markerUnits: "userSpaceOnUse", orient: "auto" }, shape("path", { d: "M0 0L8 4L0 8z" }));
    this.svg.append(shape("defs", {}, arrow), this.canvas);
    this.listen();
  }
  get model() { return this.app.model; }

  // Open the groups that hold most layers.
  openLargest() {
    const sizeOf = (item) => this.model.sizes[item - this.model.count] || 0;
    for (let members = this.model.members.get(ROOT) || [], whole = this.model.count - this.model.data.hidden.length; ; ) {
      const [largest] = members.filter((item) => this.model.isGroup(item)).sort((a, b) => sizeOf(b) - sizeOf(a));
      if (largest === undefined || sizeOf(largest) * 2 < whole) break;
      this.open.add(largest);
      [members, whole] = [this.model.members.get(largest), sizeOf(largest)];
    }
  }

  // Opening and closing.

  toggle(item) {
    if (this.open.has(item)) this.open.delete(item);
    else this.open.add(item);
    this.forget(item);
    const before = this.positions.get(item);
    this.draw();
    // The corner of the group stays where it is on the screen.
    const after = this.positions.get(item);
    this.view.x += (before.left - after.left) * this.view.scale;
    this.view.y += (before.top - after.top) * this.view.scale;
    this.move();
  }
  forget(item) { for (const one of [item, ...this.model.ancestors(item), ROOT]) this.layouts.delete(one); }
  forgetAll() { this.layouts.clear(); }
  closeAll() { this.open.clear(); this.layouts.clear(); this.draw(); this.fit(); }
  // Open the groups around an item, bring it to the middle if it is not to be seen, and mark it.
  reveal(item) {
    let changed = false;
    for (const one of this.model.ancestors(item)) {
      if (!this.open.has(one)) { this.open.add(one); this.layouts.delete(one); changed = true; }
    }
    if (changed) {
      this.forget(item);
      if (this.drawnCount() > MOST_DRAWN) {
        this.open = new Set(this.model.ancestors(item));
        this.layouts.clear();
      }
    }
    if (changed || !this.items.has(item)) this.draw();
    else this.mark();
    this.center(item);
  }
  drawnCount() {
    let count = 0;
    const pending = [ROOT];
    while (pending.length) for (const item of this.model.members.get(pending.pop()) || []) { count++; if (this.open.has(item)) pending.push(item); }
    return count;
  }

  // Layout.

  sizeOf(item) {
    const texts = this.lines(item);
    const inner = this.open.has(item) && this.model.opens(item) ? this.layout(item) : null;
    const widest = Math.max(...texts.map((text) => text.length)) * 7.1 + 26 + (this.model.opens(item) ? 18 : 0) + (this.model.worst.has(item) ? 12 : 0);
    const height = texts.length * LINE + 12;
    if (!inner) return { width: Math.max(92, widest), height, inner };
    return { width: Math.max(widest, inner.width + 2 * MARGIN), height: inner.height + height + 2 * MARGIN, inner, head: height };
  }
  lines(item) {
    if (this.model.isGroup(item)) return [cut(this.model.groupName(item)), counted(this.model.sizes[item - this.model.count], "layer")];
    const characters = [...this.model.name(item)];
    const tail = characters.length > LONGEST ? `…${characters.slice(1 - LONGEST).join("")}` : characters.join("");
    return [cut(this.model.type(item)), tail];
  }
  layout(container) {
    let found = this.layouts.get(container);
    if (found) return found;
    const members = this.model.members.get(container) || [];
    const graph = new dagre.graphlib.Graph();
    graph.setGraph({ rankdir: "TB", nodesep: 22, ranksep: 26, edgesep: 12, marginx: 4, marginy: 4 });
    const sizes = new Map();
    for (const item of members) {
      const size = this.sizeOf(item);
      sizes.set(item, size);
      graph.setNode(String(item), { width: size.width, height: size.height });
    }
    const edges = new Map();
    for (const [from, to, layer, output] of this.model.edgesOf(container)) {
      const key = `${from},${to}`;
      if (!edges.has(key)) edges.set(key, { from, to, tensors: [] });
      edges.get(key).tensors.push([layer, output]);
    }
    for (const edge of edges.values()) {
      edge.text = edge.tensors.length > 1 ? `${edge.tensors.length} tensors` : cut(this.app.tensorText(...edge.tensors[0]), 44);
      graph.setEdge(String(edge.from), String(edge.to), { width: edge.text.length * 6.4, height: 14, labelpos: "r", labeloffset: 4 });
    }
    dagre.layout(graph);
    found = { width: 0, height: 0, items: [], edges: [] };
    for (const item of members) {
      const at = graph.node(String(item)), size = sizes.get(item);
      found.items.push({ item, x: at.x - size.width / 2, y: at.y - size.height / 2, ...size });
    }
    for (const edge of edges.values()) {
      const at = graph.edge(String(edge.from), String(edge.to));
      found.edges.push({ ...edge, points: at.points, x: at.x, y: at.y });
    }
    found.width = graph.graph().width || 0;
    found.height = graph.graph().height || 0;
    this.layouts.set(container, found);
    return found;
  }

  // Drawing.

  draw() {
    const focused = document.activeElement && document.activeElement.dataset ? document.activeElement.dataset.item : undefined;
    this.items.clear();
    this.positions = new Map();
    const root = this.layout(ROOT);
    this.size = [root.width, root.height];
    this.canvas.replaceChildren(...this.drawn(root, 0, 0));
    this.mark();
    this.move();
    if (focused !== undefined && this.items.has(Number(focused))) this.items.get(Number(focused)).focus({ preventScroll: true });
  }
  drawn(layout, left, top) {
    const edges = layout.edges.map((edge) => this.drawnEdge(edge, left, top));
    const labels = layout.edges.filter((edge) => edge.text).map((edge) =>
      shape("text", { class: "tensor", x: left + edge.x, y: top + edge.y + 4, "text-anchor": "middle" }, edge.text));
    const boxes = layout.items.flatMap((box) => this.drawnItem(box, left + box.x, top + box.y));
    return [...edges, ...boxes, ...labels];
  }
  drawnEdge({ from, to, points }, left, top) {
    const at = points.map(({ x, y }) => [left + x, top + y]);
    let path = `M${at[0]}`;
    for (let index = 1; index < at.length - 1; index++) {
      const end = index === at.length - 2 ? at[index + 1] : [(at[index][0] + at[index + 1][0]) / 2, (at[index][1] + at[index + 1][1]) / 2];
      path += `Q${at[index]} ${end}`;
    }
    if (at.length === 2) path += `L${at[1]}`;
    return shape("path", { class: "edge", d: path, "marker-end": "url(#arrow)", "data-from": from, "data-to": to });
  }
  drawnItem({ item, width, height, inner, head }, left, top) {
    const model = this.model, texts = this.lines(item), isGroup = model.isGroup(item);
    const classes = ["item", isGroup ? "group" : "layer", ...(inner ? ["open"] : []), ...this.app.classesOf(item)];
    if (!isGroup && ["Parameter", "Result"].includes(model.type(item))) classes.push("end");
    const worst = model.worst.get(item);
    if (worst && worst !== "note") classes.push("faulty", ...(worst === "warning" ? ["soft"] : []));
    const label = isGroup ? `group ${model.groupName(item)}, ${texts[1]}${inner ? ", open" : ""}` : `${model.type(item)} ${model.name(item)}`;
    const box = shape("g", { class: classes.join(" "), tabindex: 0, role: "button", "aria-label": label, "data-item": item });
    box.append(shape("rect", { class: "box", x: left, y: top, width, height }));
    const opener = model.opens(item) ? (inner ? "▾ " : "▸ ") : "";
    box.append(shape("text", { class: "kind", x: left + 10, y: top + LINE }, opener + texts[0]));
    box.append(shape("text", { class: "name", x: left + 10, y: top + 2 * LINE - 1 }, texts[1]));
    if (worst) box.append(shape("text", { class: `mark ${worst}`, x: left + width - 9, y: top + LINE, "text-anchor": "end" }, worst === "note" ? "i" : "!"));
    box.append(shape("title", {}, isGroup ? model.groupName(item) : model.name(item)));
    this.items.set(item, box);
    this.positions.set(item, { left, top, width, height: inner ? head : height, whole: height });
    return inner ? [box, ...this.drawn(inner, left + MARGIN, top + head + MARGIN)] : [box];
  }
  mark() {
    const chosen = this.app.chosen;
    for (const [item, box] of this.items) box.classList.toggle("chosen", item === chosen);
    for (const edge of this.canvas.querySelectorAll(".edge")) {
      edge.classList.toggle("near", Number(edge.dataset.from) === chosen || Number(edge.dataset.to) === chosen);
    }
  }

  // The view.

  move() { this.canvas.setAttribute("transform", `translate(${this.view.x} ${this.view.y}) scale(${this.view.scale})`); }
  fit() {
    const { width, height } = this.svg.getBoundingClientRect();
    const scale = Math.max(0.25, Math.min(1.15, (width - 40) / (this.size[0] || 1), (height - 70) / (this.size[1] || 1)));
    this.view = { scale, x: (width - this.size[0] * scale) / 2, y: Math.max(20, (height - 40 - this.size[1] * scale) / 2) };
    this.move();
  }
  center(item) {
    const at = this.positions.get(item);
    if (!at) return;
    const { width, height } = this.svg.getBoundingClientRect(), { x, y, scale } = this.view;
    const isSeen = at.left * scale + x > 0 && (at.left + at.width) * scale + x < width && at.top * scale + y > 0 && (at.top + at.height) * scale + y < height;
    if (isSeen && scale > 0.6) return;
    this.view.scale = Math.max(scale, 0.8);
    this.view.x = width / 2 - (at.left + at.width / 2) * this.view.scale;
    this.view.y = height / 2 - (at.top + at.height / 2) * this.view.scale;
    this.move();
  }
  zoom(factor, x, y) {
    const box = this.svg.getBoundingClientRect();
    const at = [x === undefined ? box.width / 2 : x - box.left, y === undefined ? box.height / 2 : y - box.top];
    const scale = Math.min(4, Math.max(0.05, this.view.scale * factor));
    const real = scale / this.view.scale;
    this.view = { scale, x: at[0] - (at[0] - this.view.x) * real, y: at[1] - (at[1] - this.view.y) * real };
    this.move();
  }

  listen() {
    const itemAt = (event) => {
      const box = event.target.closest ? event.target.closest(".item") : null;
      return box ? Number(box.dataset.item) : null;
    };
    let drag = null;
    this.svg.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      drag = { x: event.clientX, y: event.clientY, moved: false };
    });
    this.svg.addEventListener("pointermove", (event) => {
      if (!drag || !(event.buttons & 1)) return;
      const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
      if (!drag.moved && Math.abs(dx) + Math.abs(dy) < 5) return;
      if (!drag.moved) this.svg.setPointerCapture(event.pointerId);
      this.view.x += dx; this.view.y += dy;
      drag = { x: event.clientX, y: event.clientY, moved: true };
      this.move();
    });
    this.svg.addEventListener("click", (event) => {
      const item = itemAt(event), wasDrag = drag && drag.moved;
      drag = null;
      if (item === null || wasDrag) return;
      if (this.model.isGroup(item)) this.toggle(item);
      else this.app.choose(item, { reveal: false });
    });
    this.svg.addEventListener("dblclick", (event) => {
      const item = itemAt(event);
      if (item !== null && !this.model.isGroup(item) && this.model.opens(item)) this.toggle(item);
    });
    this.svg.addEventListener("wheel", (event) => {
      event.preventDefault();
      if (event.ctrlKey || event.metaKey || !event.shiftKey) this.zoom(Math.exp(-Math.max(-60, Math.min(60, event.deltaY)) / 260), event.clientX, event.clientY);
      else { this.view.x -= event.deltaY; this.move(); }
    }, { passive: false });
    this.svg.addEventListener("keydown", (event) => {
      const item = itemAt(event);
      if ((event.key === "Enter" || event.key === " ") && item !== null) {
        event.preventDefault();
        if (this.model.isGroup(item)) this.toggle(item);
        else this.app.choose(item, { reveal: false });
      } else if (event.key === "o" && item !== null && this.model.opens(item)) this.toggle(item);
      else if (event.key.startsWith("Arrow")) {
        event.preventDefault();
        const chosen = this.app.chosen;
        if (chosen === null || event.shiftKey) {
          this.view.x += { ArrowLeft: 60, ArrowRight: -60 }[event.key] || 0;
          this.view.y += { ArrowUp: 60, ArrowDown: -60 }[event.key] || 0;
          this.move();
        } else this.app.step({ ArrowUp: "up", ArrowDown: "down", ArrowLeft: "left", ArrowRight: "right" }[event.key]);
      }
    });
  }
}
