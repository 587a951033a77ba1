// The layout of what is drawn in one group: its members as boxes in ranks, the tensors between them, and the names of what comes from elsewhere.
"use strict";

const HEAD = 26, LINE = 16, MARGIN = 12, LONGEST = 30, GAP = 18, LANE = 16, CHIP = 30, MOST_CHIPS = 60, UNDER = 6;
// A tensor that more layers read is named at each reader instead of drawn as a fan.
const MOST_READERS = 8;

/** @typedef {{ item: number, middle: number, rank: number, x: number, y: number, width: number, height: number, box: number, label: string, title: string, aside: string, stubs: Stub[], over: string, inner: Layout | null, head: number, chips: Chip[] }} Box */
/** @typedef {{ layer: number, output: number, text: string, isShape: boolean, isGiven?: boolean }} Stub */
/** @typedef {{ text: string, block: number, x: number, y: number, width: number }} Chip */
/** @typedef {{ from: number, to: number, path: string, text: string, x: number, y: number, tensors: [number, number][], isBack: boolean }} Edge */
/** @typedef {{ width: number, height: number, boxes: Box[], edges: Edge[] }} Layout */

// The widths of texts in the fonts of the page.
class Ruler {
  constructor() {
    const style = getComputedStyle(document.documentElement);
    this.pen = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));
    const sans = getComputedStyle(document.body).fontFamily, mono = style.getPropertyValue("--mono");
    this.fonts = { kind: `600 13px ${sans}`, name: `12px ${sans}`, tensor: `12px ${mono}` };
    this.known = new Map();
  }
  /** @param {string} text @param {"kind" | "name" | "tensor"} kind */
  width(text, kind) {
    const key = kind + text;
    let found = this.known.get(key);
    if (found === undefined) {
      this.pen.font = this.fonts[kind];
      this.known.set(key, found = this.pen.measureText(text).width);
    }
    return found;
  }
}

// Gives every box of a graph of dagre the first rank after those that it reads in which there is room for it.
/** @param {any} graph @param {number} widest */
function inRows(graph, widest) {
  const used = new Map(), waits = new Map(graph.nodes().map((name) => [name, graph.inEdges(name).length]));
  const ready = graph.nodes().filter((name) => !waits.get(name));
  const take = (rank, width) => used.set(rank, (used.get(rank) || 0) + width);
  for (const name of ready) {
    const node = graph.node(name), before = graph.inEdges(name);
    let rank = Math.max(0, ...before.map((edge) => graph.node(edge.v).rank + graph.edge(edge).minlen));
    while (node.width && used.get(rank) && used.get(rank) + node.width > widest) rank += 2;
    node.rank = rank;
    take(rank, (node.width || 0) + 18);
    for (const edge of before) if (graph.node(edge.v).width) for (let one = graph.node(edge.v).rank + 1; one < rank; one++) take(one, 16);
    for (const { w } of graph.outEdges(name)) {
      waits.set(w, waits.get(w) - 1);
      if (!waits.get(w)) ready.push(w);
    }
  }
}

/** @param {any} graph @param {any} edge */
function edgeOf(graph, { from, to, isBack }) { return graph.edge(String(from), String(to), isBack ? "back" : undefined); }
// Move a graph of dagre to its corner: dagre leaves out of its frame the ways of edges, and the ends are no part of it any more.
/** @param {any} graph */
function framed(graph) {
  const nodes = graph.nodes().map((name) => graph.node(name)), edges = graph.edges().map((name) => graph.edge(name)), points = edges.flatMap((edge) => edge.points.slice(1, -1));
  const places = [...nodes, ...edges.filter(({ x }) => x !== undefined), ...points];
  if (!places.length) return;
  for (const [axis, extent] of [["x", "width"], ["y", "height"]]) {
    const own = axis === "x" ? places : nodes;
    const least = own.reduce((found, at) => Math.min(found, at[axis] - (at[extent] || 0) / 2), Infinity) - 2;
    for (const at of new Set([...places, ...edges.flatMap((edge) => edge.points)])) at[axis] -= least;
    graph.graph()[extent] = own.reduce((found, at) => Math.max(found, at[axis] + (at[extent] || 0) / 2), 0) + 2;
  }
}
// A line through points, straight down or bent.
/** @param {number[][]} way */
function pathOf(way) {
  let text = `M${way[0]}`;
  for (let at = 1; at < way.length; at++) {
    const [x, y] = way[at - 1], [nextX, nextY] = way[at], middle = (y + nextY) / 2;
    text += Math.abs(x - nextX) < 0.5 ? `L${nextX} ${nextY}` : `C${x} ${middle} ${nextX} ${middle} ${nextX} ${nextY}`;
  }
  return text;
}

class Layouts {
  /** @param {any} app @param {any} graph */
  constructor(app, graph) {
    this.app = app;
    this.graph = graph;
    this.ruler = new Ruler();
    this.known = new Map();
    this.widest = 700;
    // Whether the outermost boxes leave out what they read, so that all of them can be seen.
    this.isBrief = false;
  }
  get model() { return this.app.model; }
  forget(item) { for (const one of [item, ...this.model.ancestors(item), ROOT]) this.known.delete(one); }

  /** The layout of the members of an open item. @returns {Layout} */
  of(container) {
    let found = this.known.get(container);
    if (!found) this.known.set(container, found = this.make(container));
    return found;
  }
  make(container) {
    const { model } = this, links = model.linksOf(container), boxes = new Map();
    for (const item of this.graph.membersOf(container)) boxes.set(item, this.box(item, links));
    const edges = new Map();
    for (const [from, to, layer, output] of links.edges) {
      if (!boxes.has(from) || !boxes.has(to)) continue;
      const key = `${from},${to}`;
      if (!edges.has(key)) edges.set(key, { from, to, tensors: [] });
      edges.get(key).tensors.push([layer, output]);
    }
    for (const edge of edges.values()) edge.text = boxes.get(edge.from).label ? "" : this.tensors(edge.tensors);
    // The only tensor that a box reads is named above the box, so that such names take no room of their own.
    const arriving = new Map();
    for (const edge of edges.values()) arriving.set(edge.to, (arriving.get(edge.to) || 0) + 1);
    for (const edge of edges.values()) {
      const box = boxes.get(edge.to);
      if (!edge.text || arriving.get(edge.to) > 1) continue;
      box.over = edge.text;
      box.height += LINE;
      box.width = Math.max(box.width, this.ruler.width(edge.text, "tensor") + 10);
      edge.text = "";
    }
    // A back edge is laid out the other way, from the Parameter down to the Result, and both leave room for it at their sides.
    for (const [result, parameter, ...tensor] of model.backsOf(container)) {
      const key = `${parameter},${result},back`, isFirst = ![...edges.values()].some(({ isBack }) => isBack);
      if (!boxes.has(parameter) || !boxes.has(result)) continue;
      if (!edges.has(key)) edges.set(key, { from: parameter, to: result, tensors: [], text: isFirst ? "next iteration" : "", isBack: true });
      edges.get(key).tensors.push(tensor);
      for (const item of [parameter, result]) boxes.get(item).width = Math.max(boxes.get(item).width, boxes.get(item).box + 2 * LANE);
    }
    // What is too wide is laid out in rows that fit, at last without the names of tensors that stand between rows.
    const widest = this.widest - (container === ROOT ? 0 : 28 * (this.model.ancestors(container).length + 1));
    let graph = this.ranked(boxes, edges, {}, true);
    const inWidth = () => graph.graph().width <= widest || this.squeezed(graph, boxes, edges, widest);
    if (!inWidth()) graph = this.ranked(boxes, edges, {});
    // The ways of edges take room, too, so that rows of boxes may have to be narrower than the stage.
    const fits = () => [1, 0.8, 0.6].some((share) => {
      graph = this.ranked(boxes, edges, { ranker: (own) => inRows(own, widest * share) });
      return inWidth();
    });
    if (!inWidth() && !fits() && [...edges.values()].some(({ text }) => text)) {
      for (const edge of edges.values()) edge.text = "";
      fits();
    }
    return this.drawn(graph, boxes, edges);
  }
  // With `isLinedUp`, inputs stand in the first row and results in the last one.
  ranked(boxes, edges, options, isLinedUp = false) {
    const graph = new dagre.graphlib.Graph({ multigraph: true });
    graph.setGraph({ rankdir: "TB", nodesep: 18, ranksep: this.isBrief ? GAP / 2 : GAP, edgesep: 14, marginx: 2, marginy: 2, ...options });
    for (const [item, box] of boxes) graph.setNode(String(item), { width: box.width, height: box.height });
    for (const { from, to, text, isBack } of edges.values()) {
      graph.setEdge(String(from), String(to), text ? { width: this.ruler.width(text, "tensor") + 8, height: LINE, labelpos: "c" } : {}, isBack ? "back" : undefined);
    }
    const ends = isLinedUp ? [["Parameter", "first"], ["Result", "last"]] : [];
    for (const [type, end] of ends) {
      const items = [...boxes.keys()].filter((item) => this.model.isEnd(item, /** @type {any} */ (type)));
      if (!items.length || items.length === boxes.size) continue;
      const others = type === "Result" ? graph.sinks() : graph.sources();
      graph.setNode(end, { width: 0, height: 0 });
      const join = (name, weight) => graph.setEdge(...(type === "Result" ? [name, end] : [end, name]), { weight });
      for (const name of others) join(name, 0);
      for (const item of items) join(String(item), 20);
    }
    dagre.layout(graph);
    for (const [, end] of ends) graph.removeNode(end);
    framed(graph);
    return graph;
  }
  // Move what stands in the ranks of a graph together, so that it is no wider than the stage; false if it has no room.
  squeezed(graph, boxes, edges, widest) {
    const ranks = new Map(), apart = 10;
    const add = (at, width) => {
      if (!ranks.has(at.y)) ranks.set(at.y, []);
      const found = { at, width, near: [] };
      ranks.get(at.y).push(found);
      return found;
    };
    const places = new Map([...boxes].map(([item, box]) => [item, add(graph.node(String(item)), box.width)]));
    for (const { from, to, text, isBack } of edges.values()) {
      const edge = edgeOf(graph, { from, to, isBack });
      let before = places.get(from);
      for (const point of edge.points.slice(1, -1)) {
        const isLabel = text && Math.abs(point.y - edge.y) < 1;
        const next = add(point, isLabel ? this.ruler.width(text, "tensor") + 8 : 2);
        if (isLabel) edge.at = point;
        before.near.push(next);
        next.near.push(before);
        before = next;
      }
      before.near.push(places.get(to));
      places.get(to).near.push(before);
    }
    const need = Math.max(...[...ranks.values()].map((rank) => rank.reduce((sum, { width }) => sum + width + apart, -apart)));
    const target = Math.max(need, Math.min(widest, graph.graph().width)), factor = target / graph.graph().width;
    for (const rank of ranks.values()) {
      rank.sort((a, b) => a.at.x - b.at.x);
      let left = 0;
      for (const { at, width } of rank) {
        at.x = Math.max(at.x * factor, left + width / 2);
        left = at.x + width / 2 + apart;
      }
      let right = target;
      for (const { at, width } of [...rank].reverse()) {
        at.x = Math.min(at.x, right - width / 2);
        right = at.x - width / 2 - apart;
      }
    }
    // Edges become straight where there is room.
    for (let round = 0; round < 6; round++) {
      for (const rank of ranks.values()) {
        rank.forEach(({ at, width, near }, number) => {
          if (!near.length) return;
          const before = rank[number - 1], after = rank[number + 1], wanted = near.reduce((sum, one) => sum + one.at.x, 0) / near.length;
          const least = before ? before.at.x + before.width / 2 + apart + width / 2 : width / 2;
          const most = after ? after.at.x - after.width / 2 - apart - width / 2 : target - width / 2;
          at.x = Math.max(least, Math.min(most, wanted));
        });
      }
    }
    for (const own of edges.values()) {
      const edge = edgeOf(graph, own);
      if (edge.at) edge.x = edge.at.x;
    }
    graph.graph().width = target;
    return need <= widest;
  }
  drawn(graph, boxes, edges) {
    /** @type {Layout} */
    const found = { width: graph.graph().width || 0, height: graph.graph().height || 0, boxes: [], edges: [] };
    const ranks = new Map();
    for (const [item, box] of boxes) {
      const { y } = graph.node(String(item));
      ranks.set(y, Math.max(ranks.get(y) || 0, box.height));
    }
    for (const [item, box] of boxes) {
      const at = graph.node(String(item)), over = box.over ? LINE : 0, room = (ranks.get(at.y) - box.height) / 2;
      const aside = this.model.isEnd(item, "Parameter") ? -room : this.model.isEnd(item, "Result") ? room : 0; // inputs stand on one line, and results
      found.boxes.push({ ...box, item, x: at.x - box.box / 2, y: at.y + aside - box.height / 2 + over, height: box.height - over, over: box.over || "", middle: at.x, rank: at.y });
    }
    // The ends of edges on top of a box stand apart, in the order of where the edges come from.
    const arriving = new Map();
    for (const edge of edges.values()) {
      edge.points = edgeOf(graph, edge).points;
      if (edge.isBack) continue;
      if (!arriving.has(edge.to)) arriving.set(edge.to, []);
      arriving.get(edge.to).push(edge);
    }
    for (const box of found.boxes) {
      const ends = (arriving.get(box.item) || []).sort((a, b) => a.points[a.points.length - 2].x - b.points[b.points.length - 2].x);
      const apart = Math.min(18, (box.box - 24) / Math.max(1, ends.length));
      ends.forEach((edge, number) => { edge.end = [box.middle + (number - (ends.length - 1) / 2) * apart, box.y - (box.over ? LINE : 0)]; });
    }
    const places = new Map(found.boxes.map((box) => [box.item, box]));
    for (const edge of edges.values()) {
      const { from, to, text, tensors, isBack = false } = edge, [start, end] = [places.get(from), places.get(to)], { x, y } = edgeOf(graph, edge);
      found.edges.push({ from: isBack ? to : from, to: isBack ? from : to, text, tensors, x, y, isBack, path: isBack ? this.backPath(start, end, edge, ranks) : this.path(start, end, edge, ranks) });
    }
    return found;
  }
  // An edge runs straight down beside the boxes of a rank, and sideways only between ranks.
  path(from, to, { points, end }, ranks) { return pathOf(this.way(from, to, points, [from.middle, from.y + from.height], end, ranks)); }
  // A back edge leaves a Result at its side and enters a Parameter at its side.
  backPath(from, to, { points }, ranks) {
    const [top, bottom] = [from.y + HEAD / 2, to.y + HEAD / 2];
    const [begin, end] = [[from, points[1]], [to, points[points.length - 2]]].map(([box, { x }]) => ({ middle: box.middle, by: x < box.middle ? -1 : 1, box: box.box / 2, lane: box.width / 2 - 4 }));
    const at = ({ middle, by, lane }) => middle + by * lane, edge = ({ middle, by, box }) => middle + by * box;
    const way = this.way(from, to, points, [at(begin), top], [at(end), bottom], ranks);
    return `M${edge(end)} ${bottom}L${at(end)} ${bottom}${pathOf(way.reverse()).replace("M", "L")}L${edge(begin)} ${top}`;
  }
  way(from, to, points, start, end, ranks) {
    const way = [start];
    const add = (x, y) => { if (y > way[way.length - 1][1] && y < end[1]) way.push([x, y]); };
    add(start[0], from.rank + ranks.get(from.rank) / 2);
    for (const { x, y } of points.slice(1, -1)) {
      const half = (ranks.get(y) || 0) / 2;
      add(x, y - half);
      if (half) add(x, y + half);
    }
    add(end[0], to.rank - ranks.get(to.rank) / 2);
    way.push(end);
    return way;
  }

  // Boxes.

  box(item, links) {
    const { model, ruler } = this, isOpen = this.graph.isOpen(item);
    const [title, closed] = this.words(item), aside = isOpen && model.repeats(item) ? this.app.blockText(item) : closed, stubs = this.isBrief && model.parents[item] === ROOT && !isOpen ? [] : links.stubs.get(item) || [];
    const marks = (model.opens(item) ? 16 : 0) + (model.worst.has(item) ? 16 : 0);
    let box = ruler.width(title, "kind") + (aside ? ruler.width(aside, "name") + 8 : 0) + 22 + marks;
    for (const stub of stubs) box = Math.max(box, ruler.width(stub.text, "name") + 34);
    box = Math.max(76, Math.ceil(box));
    const own = links.leaving.get(item) || [], label = this.label(own);
    let height = HEAD + stubs.length * LINE + (model.repeats(item) && !isOpen ? UNDER : 0), chips = [], inner = null, head = height;
    if (isOpen) {
      inner = this.of(this.graph.shownIn(item));
      box = Math.max(box, inner.width + 2 * MARGIN, model.repeats(item) ? 260 : 0);
      if (model.repeats(item)) {
        chips = this.chips(item, box - 2 * MARGIN);
        head += (chips[chips.length - 1].y + 1) * 24 + 2;
      }
      height = head + inner.height + 2 * MARGIN - 6;
    }
    const width = Math.max(box, label ? ruler.width(label, "tensor") + 10 : 0);
    return { title, aside, stubs, label, box, width, height: height + (label ? LINE : 0), inner, head, chips };
  }
  words(item) {
    const { model } = this;
    if (!model.isGroup(item)) return [cut(model.type(item)), cut(model.shortName(item), 22)];
    const count = model.sizes[item - model.count], repeats = model.repeats(item);
    if (repeats) return [`${repeats.toLocaleString("en")} × ${cut(model.groupName(item), 26)}`, count > repeats ? `${counted(Math.round(count / repeats), "layer")} each` : ""];
    return [cut(model.groupName(item)), counted(count, "layer")];
  }
  // One text for all tensors that leave a box; none if they differ, and stand at the edges.
  label(tensors) {
    const texts = new Set(tensors.map(([layer, output]) => this.app.tensorText(layer, output)));
    if (texts.size !== 1) return "";
    return (tensors.length > 1 ? `${tensors.length} × ` : "") + this.app.shortTensor(...tensors[0], 38);
  }
  tensors(tensors) {
    const real = tensors.find(([layer, output]) => /^b?f/.test(this.app.tensorText(layer, output))) || tensors[0];
    return this.label(tensors) || `${this.app.shortTensor(...real, 36)} and ${tensors.length - 1} more`;
  }
  // The numbers of the blocks of a stack, in rows: all, or those near the shown one.
  chips(item, width) {
    const count = this.model.repeats(item), shown = this.graph.blockOf(item);
    const near = Array.from({ length: 13 }, (_, at) => shown - 6 + at).filter((at) => at >= 0 && at < count);
    const blocks = count <= MOST_CHIPS ? Array.from({ length: count }, (_, at) => at) : [...new Set([0, ...near, count - 1])];
    const perRow = Math.max(4, Math.floor(width / CHIP)), size = count > 999 ? CHIP * 1.6 : CHIP;
    const inRow = count > 999 ? Math.max(3, Math.floor(width / size)) : perRow;
    return blocks.map((block, at) => ({ text: String(block + 1), block, x: (at % inRow) * size, y: Math.floor(at / inRow), width: size - 4 }));
  }
}
