// The worker of the site: irshape in Pyodide. Every question has a number, which its answer has, too.
import { loadPyodide } from "./pyodide/pyodide.mjs";

const reader = new FileReaderSync();
let opened = null;

async function load() {
  const [pyodide, archive] = await Promise.all([loadPyodide(), fetch("irshape.zip").then((answer) => answer.arrayBuffer())]);
  pyodide.unpackArchive(new Uint8Array(archive), "zip", { extractDir: "/irshape" });
  pyodide.runPython("import sys; sys.path.insert(0, '/irshape')");
  const bytes = (blob) => pyodide.toPy(new Uint8Array(reader.readAsArrayBuffer(blob)));
  return { bytes, browser: pyodide.pyimport("irshape.page.browser") };
}
const irshape = load();

const acts = {
  ready: () => "",
  open({ bytes, browser }, { xml, bin, inputs }) {
    const weights = bin ? browser.RangedFile((begin, end) => bytes(bin.slice(begin, end)), bin.size) : undefined;
    opened = browser.OpenModel(xml.name, bytes(xml), weights);
    return opened.data(inputs);
  },
  data: (_, { inputs }) => opened.data(inputs),
  annotated: () => opened.annotated(),
  sarif: () => opened.sarif(),
};

self.onmessage = async ({ data: { number, act, ...given } }) => {
  try {
    self.postMessage({ number, text: acts[act](await irshape, given) });
  } catch (error) {
    // The message of a Python error follows its name, after the lines of the stack.
    const lines = String(error.message).trim().split("\n").filter((line) => /^[\w.]+: /.test(line));
    self.postMessage({ number, error: lines.length ? lines.pop().replace(/^[\w.]+: /, "") : String(error.message) });
  }
};
