// Load Pyodide, show it the repository as the folder /irshape, and run tools/pyodide/suite.py in it. `run.py` starts this script.

import { fileURLToPath } from "node:url";
import { loadPyodide } from "../../build/pyodide/node_modules/pyodide/pyodide.mjs";

const pyodide = await loadPyodide();
pyodide.FS.mkdirTree("/irshape");
pyodide.mountNodeFS("/irshape", fileURLToPath(new URL("../..", import.meta.url)));
pyodide.globals.set("arguments", pyodide.toPy(process.argv.slice(2)));
try {
  process.exitCode = pyodide.runPython(`
import os, sys
os.chdir("/irshape")
sys.dont_write_bytecode = True
sys.path[:0] = ["/irshape", "/irshape/tools/pyodide", "/irshape/build/pyodide/site-packages"]
from suite import main
main(arguments)
`);
} catch (error) {
  console.error(error.message); // an uncaught error would show the line of Pyodide's source, which has a megabyte
  process.exitCode = 1;
}
