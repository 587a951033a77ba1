// The level of detail: groups open as far as all text can be read, and close when the view is zoomed out.
"use strict";

const MOST_BOXES = 25, MOST_TRIED = 10, MOST_DRAWN = 400;
// The group with most of the model may be so much taller than the stage.
const BEYOND = 1.3;
// Zooming this far beyond an end closes a level, or opens the group under the pointer.
const STEP = 0.75;

class Detail {
  /** @param {any} graph */
  constructor(graph) {
    this.graph = graph;
    this.beyond = 1;
  }
  get model() { return this.graph.model; }

  /** Open the largest groups, of equal blocks one, as long as the whole model can be read on the stage; the group with most of it is open anyway. */
  first() {
    const { graph } = this, { width, height } = graph.stage, tried = new Set();
    const room = [(width - 36) / LEAST, (height - 52) / LEAST];
    graph.open.clear();
    graph.layouts.isBrief = false;
    graph.forgetAll();
    graph.draw();
    if (graph.size[1] > room[1]) {
      graph.layouts.isBrief = true;
      graph.forgetAll();
      graph.draw();
    }
    for (let round = 0; round < MOST_TRIED; round++) {
      const closed = [...graph.items.keys()].filter((item) => this.model.opens(item) && !this.isOfLayers(item) && !graph.open.has(item) && !tried.has(item));
      const [item] = closed.sort((a, b) => this.weight(b) - this.weight(a));
      if (item === undefined) break;
      tried.add(item);
      const inner = graph.layouts.of(graph.shownIn(item));
      const isMost = 2 * this.weight(item) > this.model.drawn;
      if (inner.width > room[0] || (!isMost && inner.height + graph.size[1] > room[1] + 40) || graph.items.size + inner.boxes.length > MOST_BOXES + graph.open.size) continue;
      graph.open.add(item);
      graph.layouts.forget(item);
      const root = graph.layouts.of(ROOT);
      if (root.width <= room[0] && root.height <= room[1] * (isMost ? BEYOND : 1)) graph.draw();
      else {
        graph.open.delete(item);
        graph.layouts.forget(item);
      }
    }
    graph.draw();
    graph.fit();
  }
  /** Whether a stack has layers as its blocks, of which one says nothing that the stack does not. */
  isOfLayers(item) { return this.model.repeats(item) > 0 && !this.model.isGroup(this.graph.membersOf(item)[0]); }
  weight(item) { return this.model.isGroup(item) ? this.model.sizes[item - this.model.count] : 0; }

  /** The zoom went beyond what can be read by this factor, at this place of the stage. */
  zoomed(factor, at) {
    if (Math.abs(factor - 1) < 1e-6) { this.beyond = 1; return; }
    this.beyond *= factor;
    if (this.beyond < STEP) { this.beyond = 1; this.closeLevel(at); }
    if (this.beyond > 1 / STEP) { this.beyond = 1; this.openAt(at); }
  }
  /** Close the innermost open groups. */
  closeLevel([x, y]) {
    const { graph } = this, open = [...graph.open].filter((item) => graph.items.has(item));
    if (!open.length) return;
    const deep = (item) => this.model.ancestors(item).length, deepest = Math.max(...open.map(deep));
    const closing = open.filter((item) => deep(item) === deepest);
    const near = closing.sort((a, b) => this.distance(a, x, y) - this.distance(b, x, y))[0];
    for (const item of closing) { graph.open.delete(item); graph.layouts.forget(item); }
    graph.redraw(near);
    if (!open.some((item) => graph.open.has(item))) graph.fit();
  }
  distance(item, x, y) {
    const at = this.graph.positions.get(item), { view } = this.graph;
    return Math.hypot(at.left * view.scale + view.x - x, at.top * view.scale + view.y - y);
  }
  /** Open the closed group at a place of the stage, at the usual size. */
  openAt([x, y]) {
    const { graph } = this, { view } = graph, left = (x - view.x) / view.scale, top = (y - view.y) / view.scale;
    for (const [item, at] of graph.positions) {
      if (graph.open.has(item) || !this.model.opens(item) || left < at.left || left > at.left + at.width || top < at.top || top > at.top + at.whole) continue;
      graph.view = { scale: 1, x: x - at.left - at.width / 2, y: y - at.top - 20 };
      graph.toggle(item);
      return;
    }
  }
  /** Whether more is open than a page draws in an instant. */
  isTooMuch() {
    const { graph } = this, pending = [ROOT];
    let count = 0;
    while (pending.length) {
      for (const item of graph.membersOf(pending.pop())) {
        count++;
        if (graph.isOpen(item)) pending.push(graph.shownIn(item));
      }
    }
    return count > MOST_DRAWN;
  }
}
