// The site: choose or drop an IR; irshape reads it in a worker of this page, and nothing leaves the machine.
"use strict";

const worker = new Worker("worker.js", { type: "module" });
const waiting = new Map();
worker.onmessage = ({ data: { number, text, error } }) => {
  const [resolve, reject] = waiting.get(number);
  waiting.delete(number);
  if (error === undefined) resolve(text);
  else reject(new Error(error));
};
function ask(act, given = {}) {
  const number = ask.count = (ask.count || 0) + 1;
  return new Promise((resolve, reject) => {
    waiting.set(number, [resolve, reject]);
    worker.postMessage({ number, act, ...given });
  });
}

const status = element("span", { id: "site-status", role: "status" });
const chooser = element("input", { type: "file", id: "files", multiple: true, accept: ".xml,.bin", hidden: true, "aria-label": "Choose an .xml, and its .bin" });
const choose = (text) => element("button", { type: "button", onclick: () => chooser.click() }, text);
const shapes = element("input", { type: "text", id: "shapes", placeholder: "shapes of inputs: image[1,3,H,W]", "aria-label": "Shapes of inputs", spellcheck: false });
const infer = element("button", { type: "button", id: "infer" }, "Infer");
const annotated = element("button", { type: "button", id: "annotated" }, "Annotated IR");
const sarif = element("button", { type: "button", id: "sarif" }, "SARIF");
const bar = element("div", { id: "site" }, choose("Open a file"), shapes, infer, annotated, sarif);
const about = element("div", { id: "landing" }, element("h2", {}, "See the shapes of an OpenVINO model"), element("p", {}, "Drop an IR here: its .xml, and its .bin if you have it."),
  choose("Choose files"), status, element("ul", {}, ...["Every shape, with open sizes as formulas of the inputs", "Every fault, with its place in the file and its fix", "Every size at once: move a slider, and all shapes follow"].map((text) => element("li", {}, text))),
  element("p", {}, "The files stay on this machine. Of the .bin, only the bytes that shapes depend on are read."));
document.querySelector("header").after(bar, chooser);
document.querySelector("main").before(about);
document.getElementById("title").textContent = "irshape";
document.body.classList.add("empty");

let name = "model";
function lock(isLocked) { for (const one of [shapes, infer, annotated, sarif]) one.disabled = isLocked; }
async function act(words, work) {
  status.className = "";
  status.textContent = words;
  try {
    await work();
    status.textContent = "";
  } catch (error) {
    status.className = "error";
    status.textContent = error.message;
  }
}
function show(text) {
  const data = JSON.parse(text);
  if (document.body.classList.contains("empty")) bar.append(status);
  document.body.classList.remove("empty");
  lock(false);
  if (!window.app) window.app = new App(data);
  else window.app.update(data);
  document.title = data.name;
}
function open(files) {
  const xml = [...files].find((file) => file.name.toLowerCase().endsWith(".xml"));
  const bin = [...files].find((file) => file.name.toLowerCase().endsWith(".bin")) || null;
  return act("irshape reads the file …", async () => {
    if (!xml) throw new Error("There is no .xml among these files.");
    name = xml.name.replace(/\.xml$/i, "");
    shapes.value = "";
    show(await ask("open", { xml, bin, inputs: "" }));
  });
}
function save(text, ending, type) {
  const link = element("a", { href: URL.createObjectURL(new Blob([text], { type })), download: `${name}${ending}` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000); // the browser reads it later
}
chooser.onchange = () => open(chooser.files);
document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("drop", (event) => { event.preventDefault(); open(event.dataTransfer.files); });
infer.onclick = () => act("irshape infers the shapes …", async () => show(await ask("data", { inputs: shapes.value })));
shapes.onkeydown = (event) => { event.stopPropagation(); if (event.key === "Enter") infer.click(); };
annotated.onclick = () => act("irshape writes the IR …", async () => save(await ask("annotated"), ".annotated.xml", "application/xml"));
sarif.onclick = () => act("irshape writes the report …", async () => save(await ask("sarif"), ".sarif", "application/sarif+json"));
lock(true);
act("irshape is loading …", () => ask("ready"));
