// What leaves the page: the current view as a picture, SVG or PNG, and copied texts. Styles become attributes, so that a picture needs nothing of the page.
"use strict";

const PICTURED = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "font-size", "font-family", "font-weight", "text-anchor"];

/** @param {any} app */
function pictureOf(app) {
  const { graph } = app, { width, height } = graph.stage, copy = graph.svg.cloneNode(true);
  const originals = graph.svg.querySelectorAll("*"), copies = copy.querySelectorAll("*");
  originals.forEach((original, number) => {
    const style = getComputedStyle(original);
    for (const name of PICTURED) copies[number].setAttribute(name, style.getPropertyValue(name));
    copies[number].removeAttribute("style");
  });
  for (const [name, value] of Object.entries({ xmlns: SVG, width, height, viewBox: `0 0 ${width} ${height}` })) copy.setAttribute(name, value);
  copy.prepend(shape("rect", { width, height, fill: getComputedStyle(document.body).backgroundColor }));
  return new XMLSerializer().serializeToString(copy);
}
/** Copy a text, and say so on a button. @param {string} text @param {any} button */
function copyText(text, button) {
  const focused = /** @type {any} */ (document.activeElement), field = element("textarea", {}), said = button.dataset.said || button.textContent;
  field.value = text;
  document.body.append(field);
  field.select();
  document.execCommand("copy"); // also where a page of a file has no clipboard
  field.remove();
  focused?.focus();
  button.dataset.said = said;
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = said; }, 1500);
}
/** @param {Blob} blob @param {string} name */
function saveAs(blob, name) {
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000); // the browser reads it later
}
/** @param {any} app @param {"svg" | "png"} kind */
function savePicture(app, kind) {
  const name = `${app.model.data.name.replace(/\.xml$/i, "")}.${kind}`, svg = new Blob([pictureOf(app)], { type: "image/svg+xml" });
  if (kind === "svg") { saveAs(svg, name); return; }
  const image = new Image(), { width, height } = app.graph.stage;
  image.onload = () => {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [width * 2, height * 2];
    /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d")).drawImage(image, 0, 0, width * 2, height * 2);
    URL.revokeObjectURL(image.src);
    canvas.toBlob((blob) => { if (blob) saveAs(blob, name); });
  };
  image.src = URL.createObjectURL(svg);
}
