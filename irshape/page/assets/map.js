// The small map of everything that is drawn, with a frame around what is to be seen.
"use strict";

class MiniMap {
  /** @param {any} app */
  constructor(app) {
    this.app = app;
    this.svg = /** @type {any} */ (document.getElementById("map"));
    this.frame = shape("rect", { class: "frame" });
    this.boxes = shape("g");
    this.svg.replaceChildren(this.boxes, this.frame);
    const go = (event) => {
      if (event.type === "pointermove" && !(event.buttons & 1)) return;
      const { left, top, width } = this.svg.getBoundingClientRect(), { graph } = this.app, { view, stage } = graph;
      const factor = this.box[2] / width, x = this.box[0] + (event.clientX - left) * factor, y = this.box[1] + (event.clientY - top) * factor;
      view.x = stage.width / 2 - x * view.scale;
      view.y = stage.height / 2 - y * view.scale;
      graph.move();
    };
    this.svg.onpointerdown = go;
    this.svg.onpointermove = go;
    this.box = [0, 0, 1, 1];
  }
  draw() {
    const { graph } = this.app, [width, height] = graph.size, scale = Math.max(width / 170, height / 130, 1);
    this.box = [0, 0, width, height];
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.svg.style.width = `${width / scale}px`;
    this.svg.style.height = `${height / scale}px`;
    this.boxes.replaceChildren(...[...graph.positions].map(([item, { left, top, width: wide, whole, isOpen }]) =>
      shape("rect", { class: isOpen ? "open" : item === this.app.chosen ? "chosen" : "", x: left, y: top, width: wide, height: whole })));
    this.move();
  }
  move() {
    const { graph } = this.app, { view, stage } = graph;
    const [x, y, width, height] = [-view.x / view.scale, -view.y / view.scale, stage.width / view.scale, stage.height / view.scale];
    this.svg.style.display = graph.isWhole ? "none" : "";
    for (const [name, value] of Object.entries({ x, y, width, height })) this.frame.setAttribute(name, String(value));
  }
}
