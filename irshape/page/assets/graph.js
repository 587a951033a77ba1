// The drawing of the graph: every open group is laid out by itself, and stands as one box in the group around it.
"use strict";

const SVG = "http://www.w3.org/2000/svg";
// The zoom: no text is drawn smaller than 11 pixels, and nothing larger than a page needs.
const LEAST = 0.92, MOST = 2.5;

/** @param {string} tag @param {Record<string, any>} attributes @param {...(Node | string)} children @returns {any} */
function shape(tag, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}
/** @param {string} text @param {number} most */
function cut(text, most = LONGEST) {
  const characters = [...text];
  if (characters.length <= most) return text;
  const end = Math.floor(most * 0.62);
  return `${characters.slice(0, most - end - 1).join("")}…${characters.slice(-end).join("")}`;
}

class Graph {
  /** @param {any} app */
  constructor(app) {
    this.app = app;
    this.svg = /** @type {any} */ (document.getElementById("graph"));
    this.open = new Set();
    this.blocks = new Map();
    this.layouts = new Layouts(app, this);
    this.view = { x: 0, y: 0, scale: 1 };
    this.items = new Map();
    this.positions = new Map();
    this.size = [0, 0];
    this.canvas = shape("g", { id: "canvas" });
    const arrow = shape("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, markerUnits: "userSpaceOnUse", orient: "auto" }, shape("path", { d: "M0 0L8 4L0 8z" }));
    const back = arrow.cloneNode(true);
    back.id = "arrow-back";
    this.svg.append(shape("defs", {}, arrow, back), this.canvas);
    this.detail = new Detail(this);
    listenTo(this);
  }
  get model() { return this.app.model; }
  get stage() { return this.svg.getBoundingClientRect(); }

  // What is open.

  isOpen(item) { return this.open.has(item) && this.model.opens(item); }
  /** The number of the block that a stack shows. */
  blockOf(item) { return Math.min(this.blocks.get(item) || 0, this.model.repeats(item) - 1); }
  membersOf(container) {
    const members = this.model.members.get(container) || [];
    return this.model.repeats(container) ? [members[this.blockOf(container)]] : members;
  }
  /** The item whose members stand in an open one: of a stack, the block that it shows. */
  shownIn(item) {
    if (!this.model.repeats(item)) return item;
    const [block] = this.membersOf(item);
    return this.model.isGroup(block) ? block : item;
  }
  /** Whether all groups around an item are open, and the stacks show it. */
  isShown(item) {
    for (let one = item, around = this.model.parents[one]; around !== ROOT; one = around, around = this.model.parents[one]) {
      const stack = this.model.repeats(around);
      if (stack ? this.membersOf(around)[0] !== one || !this.open.has(around) : !this.open.has(around) && !this.isBlock(around)) return false;
    }
    return true;
  }
  isBlock(item) { return this.model.parents[item] !== ROOT && this.model.repeats(this.model.parents[item]) > 0; }

  toggle(item) {
    if (this.open.has(item)) this.open.delete(item);
    else this.open.add(item);
    this.layouts.forget(item);
    this.redraw(item);
    this.bring(item);
    this.app.places.at(this.open.has(item) ? item : this.model.parents[item]);
  }
  show(stack, block) {
    this.blocks.set(stack, block);
    this.layouts.forget(stack);
    this.layouts.known.delete(this.shownIn(stack));
    this.redraw(stack);
    this.app.places.at(this.membersOf(stack)[0]);
  }
  /** Draw anew; the corner of an item stays where it is on the screen. */
  redraw(item) {
    const before = this.positions.get(item);
    this.draw();
    const after = this.positions.get(item);
    if (before && after) {
      this.view.x += (before.left - after.left) * this.view.scale;
      this.view.y += (before.top - after.top) * this.view.scale;
    }
    this.move();
  }
  forgetAll() { this.layouts.known.clear(); }
  closeAll() { this.open.clear(); this.forgetAll(); this.draw(); this.fit(); this.app.places.at(ROOT); }
  /** Open what is around an item; true if anything changed. */
  openAround(item) {
    let changed = false;
    const around = this.model.ancestors(item);
    [item, ...around].forEach((one, at) => {
      const parent = around[at];
      if (parent === undefined) return;
      if (this.model.repeats(parent)) {
        const block = this.model.members.get(parent).indexOf(one);
        if (block !== this.blockOf(parent)) { this.blocks.set(parent, block); this.layouts.known.delete(parent); changed = true; }
      }
      if (!this.open.has(parent) && !this.isBlock(parent)) { this.open.add(parent); changed = true; }
    });
    if (changed) this.layouts.forget(item);
    return changed;
  }
  /** Open the groups around an item, bring it to the middle if it is not to be seen, and mark it. */
  reveal(item) {
    const changed = this.openAround(item);
    if (changed && this.detail.isTooMuch()) {
      this.open = new Set(this.model.ancestors(item).filter((one) => !this.isBlock(one)));
      this.forgetAll();
    }
    if (changed || !this.items.has(item)) this.draw();
    else this.mark();
    this.center(item);
  }

  // Drawing.

  draw() {
    const active = /** @type {any} */ (document.activeElement), focused = active && active.dataset ? active.dataset.item : undefined;
    this.layouts.widest = Math.max(480, (this.stage.width - 36) / LEAST);
    this.items.clear();
    this.positions = new Map();
    const root = this.layouts.of(ROOT);
    this.size = [root.width, root.height];
    this.canvas.replaceChildren(...this.drawn(root, 0, 0));
    this.mark();
    this.move();
    this.app.places?.map.draw();
    if (focused !== undefined && this.items.has(Number(focused))) this.items.get(Number(focused)).focus({ preventScroll: true });
  }
  /** @param {Layout} layout @param {number} left @param {number} top */
  drawn(layout, left, top) {
    const isInner = layout !== this.layouts.known.get(ROOT), edges = layout.edges.map(({ path, from, to, tensors, isBack }) => {
      const edge = shape("path", { class: isBack ? "edge back" : "edge", d: path, "data-from": from, "data-to": to, transform: `translate(${left} ${top})`, "marker-end": isBack ? "url(#arrow-back)" : "url(#arrow)" });
      const words = ([layer, other]) => (isBack ? `${this.model.name(other)} is ${this.model.name(layer)} of the iteration before` : this.app.tensorText(layer, other));
      edge.append(shape("title", {}, tensors.map(words).join("\n")));
      return edge;
    });
    const labels = layout.edges.filter(({ text }) => text).flatMap(({ x, y, text }) => {
      const wide = this.layouts.ruler.width(text, "tensor") + 4;
      return [shape("rect", { class: isInner ? "plate inner" : "plate", x: left + x - wide / 2, y: top + y - 8, width: wide, height: 16 }), shape("text", { class: "tensor", x: left + x, y: top + y + 4, "text-anchor": "middle" }, text)];
    });
    const boxes = layout.boxes.flatMap((box) => this.drawnBox(box, left + box.x, top + box.y));
    return [...edges, ...boxes, ...labels];
  }
  /** @param {any} box @param {number} left @param {number} top */
  drawnBox(box, left, top) {
    const { item, inner, head, chips } = box, { model } = this, isGroup = model.isGroup(item), width = box.box;
    const isStack = model.repeats(item) > 0 && !inner, below = (box.label ? LINE : 0) + (isStack ? UNDER : 0), height = box.height - below;
    const classes = ["item", isGroup ? "group" : "layer", ...(inner ? ["open"] : []), ...(model.repeats(item) ? ["stack"] : []), ...this.app.classesOf(item)];
    if (!isGroup && ["Parameter", "Result"].includes(model.type(item))) classes.push("end");
    const worst = model.worst.get(item);
    if (worst && worst !== "note") classes.push("faulty", ...(worst === "warning" ? ["soft"] : []));
    const own = shape("g", { class: classes.join(" "), tabindex: 0, role: "button", "aria-label": this.app.spoken(item, Boolean(inner)), "data-item": item });
    if (isStack) for (const by of [UNDER, UNDER / 2]) own.append(shape("rect", { class: "under", x: left + by, y: top + by, width, height }));
    const frame = shape("rect", { class: "box", x: left, y: top, width, height });
    const paint = inner ? "" : this.app.colours.of(item);
    if (paint) { frame.style.fill = paint; own.classList.add("painted"); }
    own.append(frame);
    if (inner) own.append(shape("rect", { class: "head", x: left + 1, y: top + 1, width: width - 2, height: HEAD - 2 }));
    const opener = model.opens(item) ? (inner ? "▾" : "▸") : "", from = left + 10 + (opener ? 15 : 0);
    if (opener) own.append(shape("text", { class: "opener", x: left + 9, y: top + 18 }, opener));
    own.append(shape("text", { class: "kind", x: from, y: top + 18 }, box.title));
    if (box.aside) own.append(shape("text", { class: "name", x: from + this.layouts.ruler.width(box.title, "kind") + 7, y: top + 18 }, box.aside));
    if (worst) own.append(shape("text", { class: `mark ${worst}`, x: left + width - 9, y: top + 18, "text-anchor": "end" }, worst === "note" ? "i" : "!"));
    box.stubs.forEach((stub, at) => own.append(this.drawnStub(stub, left + 9, top + HEAD + at * LINE + 11)));
    for (const chip of chips) own.append(this.drawnChip(item, chip, left + MARGIN, top + head - (chips[chips.length - 1].y + 1) * 24));
    own.append(shape("title", {}, isGroup ? model.groupName(item) : model.name(item)));
    this.items.set(item, own);
    this.positions.set(item, { left, top, width, height: inner ? head : height, whole: height, isOpen: Boolean(inner) });
    const found = [own];
    if (inner) found.push(...this.drawn(inner, left + (width - inner.width) / 2, top + head + MARGIN - 6));
    if (box.over) found.push(shape("text", { class: "tensor", x: left + width / 2, y: top - 5, "text-anchor": "middle" }, box.over));
    if (box.label) found.push(shape("text", { class: "tensor", x: left + width / 2, y: top + height + below - 4, "text-anchor": "middle" }, box.label));
    return found;
  }
  drawnStub({ layer, output, text, isShape, isGiven }, x, y) {
    const stub = shape("text", { class: "stub", x, y, "data-layer": layer, "data-tensor": `${layer}:${output}` }, `${isGiven ? "→" : "↳"} ${text}`);
    const verb = isGiven ? "gives" : isShape ? "reads the shape of" : "reads";
    stub.append(shape("title", {}, `${verb} ${this.model.type(layer)} ${this.model.name(layer)}${output < 0 ? "" : `: ${this.app.tensorText(layer, output)}`}`));
    return stub;
  }
  drawnChip(item, { text, block, x, y, width }, left, top) {
    const member = this.model.members.get(item)[block], worst = this.model.worst.get(member);
    const classes = ["chip", ...(block === this.blockOf(item) ? ["shown"] : []), ...(worst && worst !== "note" ? ["faulty"] : []), ...this.app.classesOf(member)];
    const chip = shape("g", { class: classes.join(" "), tabindex: 0, role: "button", "aria-label": `block ${text}`, "data-block": block, "data-stack": item });
    chip.append(shape("rect", { x: left + x, y: top + y * 24, width, height: 20 }), shape("text", { x: left + x + width / 2, y: top + y * 24 + 14, "text-anchor": "middle" }, text));
    return chip;
  }
  mark() {
    const chosen = this.app.chosen;
    for (const [item, box] of this.items) box.classList.toggle("chosen", item === chosen);
    for (const edge of this.canvas.querySelectorAll(".edge")) {
      edge.classList.toggle("near", Number(edge.dataset.from) === chosen || Number(edge.dataset.to) === chosen);
    }
  }
  /** Light every place where a tensor is named, and the layer that gives it. */
  light(tensor) {
    for (const stub of this.canvas.querySelectorAll(".stub")) stub.classList.toggle("lit", stub.dataset.tensor === tensor);
    const layer = tensor === null ? -2 : Number(tensor.split(":")[0]), around = layer < 0 ? [] : [layer, ...this.model.ancestors(layer)];
    for (const [item, box] of this.items) box.classList.toggle("lit", around.includes(item));
  }

  // The view.

  /** Whether everything is to be seen. */
  get isWhole() {
    const { width, height } = this.stage, { x, y, scale } = this.view;
    return x >= -scale && y >= -scale && x + (this.size[0] - 1) * scale <= width && y + (this.size[1] - 1) * scale <= height;
  }
  move() {
    this.canvas.setAttribute("transform", `translate(${this.view.x} ${this.view.y}) scale(${this.view.scale})`);
    this.app.places?.map.move();
  }
  /** Show everything: close groups until the rest can be read, and open what has room. */
  fit() {
    const { width, height: whole } = this.stage, height = whole - (this.app.colours.mode === "none" ? 0 : 36);
    const scale = Math.max(LEAST, Math.min(1.15, (width - 36) / (this.size[0] || 1), (height - 52) / (this.size[1] || 1)));
    const left = (width - this.size[0] * scale) / 2, top = (height - 52 - this.size[1] * scale) / 2 + 40;
    this.view = { scale, x: Math.max(16, left), y: Math.max(40, top) };
    this.move();
  }
  center(item) {
    let at = this.positions.get(item);
    for (const one of this.model.ancestors(item)) at = at || this.positions.get(one);
    if (!at) return;
    const { width, height } = this.stage, { x, y, scale } = this.view;
    const isSeen = at.left * scale + x > 0 && (at.left + at.width) * scale + x < width && at.top * scale + y > 40 && (at.top + at.height) * scale + y < height - 40;
    if (isSeen) return;
    this.view.x = width / 2 - (at.left + at.width / 2) * scale;
    this.view.y = height / 2 - (at.top + at.height / 2) * scale;
    this.move();
  }
  zoomTo(item) {
    const at = item === null ? null : this.positions.get(item);
    if (!at) return;
    const { width, height } = this.stage, scale = Math.min(MOST, Math.max(1.6, LEAST));
    this.view = { scale, x: width / 2 - (at.left + at.width / 2) * scale, y: height / 2 - (at.top + at.whole / 2) * scale };
    this.move();
  }
  /** Move just as far as an item that was opened needs. */
  bring(item) {
    const at = this.positions.get(item);
    if (!at) return;
    const { width, height } = this.stage, { x, y, scale } = this.view;
    const left = at.left * scale + x, top = at.top * scale + y;
    const right = left + at.width * scale, bottom = top + at.whole * scale;
    if (right > width - 12) this.view.x -= Math.min(right - width + 12, left - 16);
    if (left < 12) this.view.x += 16 - left;
    if (bottom > height - 12) this.view.y -= Math.min(bottom - height + 50, top - 40);
    if (top < 40) this.view.y += 40 - top;
    this.move();
  }
  zoom(factor, x, y) {
    const box = this.stage, at = [x === undefined ? box.width / 2 : x - box.left, y === undefined ? box.height / 2 : y - box.top];
    const wanted = this.view.scale * factor, scale = Math.min(MOST, Math.max(LEAST, wanted)), real = scale / this.view.scale;
    this.view = { scale, x: at[0] - (at[0] - this.view.x) * real, y: at[1] - (at[1] - this.view.y) * real };
    this.move();
    this.detail.zoomed(wanted / scale, at);
  }
}
