// The mouse and the keyboard in the graph.
"use strict";

/** @param {any} graph */
function listenTo(graph) {
  const { svg } = graph;
  const itemAt = (event) => {
    const box = event.target.closest ? event.target.closest(".item") : null;
    return box ? Number(box.dataset.item) : null;
  };
  // A click on an open group means its head: what is around its members is free for dragging.
  const isFree = (event, item) => graph.isOpen(item) && event.target.classList.contains("box");
  const act = (item) => {
    if (graph.model.isGroup(item)) graph.toggle(item);
    else graph.app.choose(item, { reveal: false });
  };
  const special = (target) => {
    const chip = target.closest(".chip"), stub = target.closest(".stub");
    if (chip) graph.show(Number(chip.dataset.stack), Number(chip.dataset.block));
    else if (stub) graph.app.choose(Number(stub.dataset.layer));
    return Boolean(chip || stub);
  };
  /** @type {{ x: number, y: number, moved: boolean } | null} */
  let drag = null;
  svg.addEventListener("pointerdown", (event) => { if (!event.button) drag = { x: event.clientX, y: event.clientY, moved: false }; });
  svg.addEventListener("pointermove", (event) => {
    if (!drag || !(event.buttons & 1)) return;
    const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
    if (!drag.moved && Math.abs(dx) + Math.abs(dy) < 5) return;
    if (!drag.moved) svg.setPointerCapture(event.pointerId);
    graph.view.x += dx;
    graph.view.y += dy;
    drag = { x: event.clientX, y: event.clientY, moved: true };
    graph.move();
  });
  svg.addEventListener("click", (event) => {
    const item = itemAt(event), wasDrag = drag && drag.moved;
    drag = null;
    if (wasDrag || special(event.target) || item === null || isFree(event, item)) return;
    act(item);
  });
  svg.addEventListener("dblclick", (event) => {
    const item = itemAt(event);
    if (item !== null && !graph.model.isGroup(item) && graph.model.opens(item)) graph.toggle(item);
  });
  svg.addEventListener("pointerover", (event) => graph.light(event.target.closest(".stub")?.dataset.tensor ?? null));
  svg.addEventListener("wheel", (event) => {
    event.preventDefault();
    if (event.shiftKey && !event.ctrlKey && !event.metaKey) { graph.view.x -= event.deltaY; graph.move(); }
    else graph.zoom(Math.exp(-Math.max(-60, Math.min(60, event.deltaY)) / 260), event.clientX, event.clientY);
  }, { passive: false });
  svg.addEventListener("keydown", (event) => {
    const item = itemAt(event);
    if ((event.key === "Enter" || event.key === " ") && (special(event.target) || item !== null)) {
      event.preventDefault();
      if (!event.target.closest(".chip")) act(item);
    } else if (event.key === "o" && item !== null && graph.model.opens(item)) graph.toggle(item);
    else if (event.key.startsWith("Arrow")) {
      event.preventDefault();
      if (graph.app.chosen === null || event.shiftKey) {
        graph.view.x += { ArrowLeft: 60, ArrowRight: -60 }[event.key] || 0;
        graph.view.y += { ArrowUp: 60, ArrowDown: -60 }[event.key] || 0;
        graph.move();
      } else graph.app.step({ ArrowUp: "up", ArrowDown: "down", ArrowLeft: "left", ArrowRight: "right" }[event.key]);
    }
  });
}
