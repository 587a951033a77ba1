# ruff: noqa: E501 - the script of the measure has long lines
"""Measures what a person can read of the graph: the smallest text, what overlaps, what runs upwards, what is cut off.

The measure looks at what is drawn, and knows nothing of how: texts, boxes (`.item > .box`), labels (`.tensor`) and edges (`.edge`).
"""

from typing import Any, Final, NamedTuple

_MEASURE: Final = """() => {
  const svg = document.getElementById("graph"), stage = svg.getBoundingClientRect();
  const rectOf = (one) => { const { left, top, right, bottom } = one.getBoundingClientRect(); return { left, top, right, bottom }; };
  const isSeen = (at) => at.right > stage.left && at.left < stage.right && at.bottom > stage.top && at.top < stage.bottom;
  const deep = (a, b) => Math.min(Math.min(a.right, b.right) - Math.max(a.left, b.left), Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top));
  const inside = (a, b) => a.left >= b.left - 1 && a.right <= b.right + 1 && a.top >= b.top - 1 && a.bottom <= b.bottom + 1;
  const words = (one) => (one.textContent || one.getAttribute("aria-label") || "").slice(0, 60);

  const texts = [...svg.querySelectorAll("text")].filter((one) => one.textContent.trim() && isSeen(rectOf(one)));
  const sizes = texts.map((one) => [parseFloat(getComputedStyle(one).fontSize) * one.getScreenCTM().d, words(one)]);
  const outside = [...document.querySelectorAll("body *")].filter((one) => !svg.contains(one) && one.checkVisibility()
    && !["SCRIPT", "STYLE", "TITLE"].includes(one.tagName) && [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim()));
  for (const one of outside) sizes.push([parseFloat(getComputedStyle(one).fontSize), words(one)]);
  sizes.sort((a, b) => a[0] - b[0]);

  const boxes = [...svg.querySelectorAll(".item > .box")].map((one) => ({ at: rectOf(one), name: words(one.parentNode), item: one.parentNode }));
  const labels = [...svg.querySelectorAll(".tensor")].map((one) => ({ at: rectOf(one), name: words(one), text: one }));
  const overlaps = [];
  const add = (kind, a, b) => overlaps.push(`${kind}: ${a.name} / ${b.name}`);
  for (let i = 0; i < boxes.length; i++) for (let j = i + 1; j < boxes.length; j++) {
    const [a, b] = [boxes[i], boxes[j]];
    const nested = (x, y) => y.item.classList.contains("open") && inside(x.at, y.at);
    if (deep(a.at, b.at) > 1 && !nested(a, b) && !nested(b, a)) add("boxes", a, b);
  }
  labels.forEach((label, number) => {
    for (const box of boxes) if (deep(label.at, box.at) > 1 && !(box.item.classList.contains("open") && inside(label.at, box.at))) add("label and box", label, box);
    for (const other of labels.slice(number + 1)) if (deep(label.at, other.at) > 1) add("labels", label, other);
    for (const text of texts) if (text !== label.text && !text.classList.contains("tensor") && deep(label.at, rectOf(text)) > 1) add("label and text", label, { name: words(text) });
  });
  for (const box of boxes) {
    const own = [...box.item.children].filter((one) => one.tagName === "text");
    for (const text of own) if (!inside(rectOf(text), box.at)) add("text leaves its box", { name: words(text) }, box);
    own.forEach((text, number) => { for (const other of own.slice(number + 1)) if (deep(rectOf(text), rectOf(other)) > 1) add("texts in a box", { name: words(text) }, { name: words(other) }); });
  }

  const upward = [], across = [], back = [];
  for (const edge of svg.querySelectorAll(".edge")) {
    const length = edge.getTotalLength(), ctm = edge.getScreenCTM(), count = Math.max(2, Math.min(60, Math.ceil(length / 8)));
    const points = Array.from({ length: count + 1 }, (_, number) => edge.getPointAtLength(length * number / count).matrixTransform(ctm));
    const ends = [edge.dataset.from, edge.dataset.to], name = ends.join(" -> ");
    const isBack = edge.classList.contains("back");
    if (points.some((point, number) => number && (isBack ? point.y > points[number - 1].y + 0.75 : point.y < points[number - 1].y - 0.75))) upward.push(name);
    if (isBack) back.push(ends.map((end) => words(svg.querySelector(`[data-item="${end}"]`))));
    for (const { at, item, name: box } of boxes) {
      if (ends.includes(item.dataset.item)) continue;
      const crossed = points.some((point) => point.x > at.left + 2 && point.x < at.right - 2 && point.y > at.top + 2 && point.y < at.bottom - 2);
      const lies = item.classList.contains("open") && points.every((point) => point.x >= at.left - 1 && point.x <= at.right + 1 && point.y >= at.top - 1 && point.y <= at.bottom + 1);
      if (crossed && !lies) across.push(`${name} / ${box}`);
    }
  }
  const drawn = boxes.length ? boxes : [];
  const ends = drawn.reduce((all, { at }) => [Math.min(all[0], at.left), Math.min(all[1], at.top), Math.max(all[2], at.right), Math.max(all[3], at.bottom)], [1e9, 1e9, -1e9, -1e9]);
  const whole = ends[0] >= stage.left - 1 && ends[1] >= stage.top - 1 && ends[2] <= stage.right + 1 && ends[3] <= stage.bottom + 1;
  const bare = [...document.querySelectorAll("#map, #places, #banner")].filter((one) => one.checkVisibility() && one.getBoundingClientRect().width);
  const covered = [];
  for (const tool of bare) for (const { at, name, item } of boxes) if (!item.classList.contains("open") && deep(at, rectOf(tool)) > 1) covered.push(`${tool.id} / ${name}`);
  return { font: sizes.length ? sizes[0][0] : 99, smallest: sizes.length ? sizes[0][1] : "", boxes: boxes.length,
    closed: boxes.filter(({ item }) => !item.classList.contains("open")).length, overlaps, upward, across, back, covered, whole,
    size: [ends[2] - ends[0], ends[3] - ends[1], stage.width, stage.height].map(Math.round) };
}"""


class Legibility(NamedTuple):
    """What a person can read of a page.

    `font` is the size of the smallest visible text in pixels of the screen, and `smallest` that text. `boxes` is the number of boxes, and
    `closed` of those that hold no others. `overlaps` are pairs of boxes and labels that overlap, and texts that leave their boxes; `upward`
    are edges that run upwards and are no back edges, and back edges that do not, `across` edges that cross a box, `back` the boxes at the
    ends of back edges, `covered` boxes under the tools. `whole` tells whether all boxes are in view. `size` is width and height of all boxes, and of the stage.
    """

    font: float
    smallest: str
    boxes: int
    closed: int
    overlaps: list[str]
    upward: list[str]
    across: list[str]
    back: list[list[str]]
    covered: list[str]
    whole: bool
    size: list[int]

    @property
    def faults(self) -> list[str]:
        """What makes the page illegible; empty if nothing does."""
        found = [f"overlap: {one}" for one in self.overlaps] + [f"upward: {one}" for one in self.upward]
        found += [f"across: {one}" for one in self.across]
        return [*found, *([f"{self.font:.1f} px: {self.smallest}"] if self.font < 10.5 else [])]


def legibility(page: Any) -> Legibility:
    """What a person can read of a page as it stands."""
    return Legibility(**page.evaluate(_MEASURE))
