"""Build the site that runs irshape in the browser: a folder for any static host, with Pyodide in it. Run with `make site`; it needs npm.

The site is `build/browser`: the page, its worker, irshape's sources as a zip, and Pyodide. It loads nothing from elsewhere.
"""

import gzip
import shutil
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
SITE = ROOT / "build" / "browser"
PYODIDE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
# The page runs a worker of its own, and compiles WebAssembly.
ALLOWS = {"script-src": ["'self'", "'wasm-unsafe-eval'"], "worker-src": ["'self'"], "connect-src": ["'self'"]}
# Folders and files of the package that the page does not need.
LEFT_OUT = ("cli/", "settings/", "page/assets/", "report/snippets.py")


def build(site: Path = SITE) -> Path:
    """Build the site in a folder, which is made anew, and return it. Ends the program if npm is missing."""
    from irshape.page.html import asset, page
    from tools.pyodide.run import BUILD, install

    if not install():
        sys.exit("the site contains Pyodide, which comes from npm; npm was not found")
    shutil.rmtree(site, ignore_errors=True)
    (site / "pyodide").mkdir(parents=True)
    for name in PYODIDE:
        shutil.copy(BUILD / "node_modules" / "pyodide" / name, site / "pyodide" / name)
    (site / "index.html").write_text(page(None, start="site.js", allows=ALLOWS), encoding="utf-8")
    (site / "worker.js").write_text(asset("worker.js"), encoding="utf-8")
    with zipfile.ZipFile(site / "irshape.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted((ROOT / "irshape").rglob("*")):
            own = path.relative_to(ROOT / "irshape").as_posix()
            if path.suffix in (".py", ".toml") and not own.startswith(LEFT_OUT):
                archive.write(path, f"irshape/{own}")
    return site


def main() -> None:
    """Build the site, and print what the first visit loads."""
    files = [path for path in sorted(build().rglob("*")) if path.is_file()]
    sizes = [(path.stat().st_size, len(gzip.compress(path.read_bytes(), 6))) for path in files]
    for path, (size, packed) in zip(files, sizes, strict=True):
        print(f"{path.relative_to(SITE).as_posix():30} {size / 1e6:6.2f} MB {packed / 1e6:6.2f} MB compressed")
    whole, packed = (sum(numbers) for numbers in zip(*sizes, strict=True))
    print(f"{SITE.relative_to(ROOT).as_posix():30} {whole / 1e6:6.2f} MB {packed / 1e6:6.2f} MB compressed")


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    main()
