"""Makes the files that are derived from the code: run with `make generate`; `--check` says which are stale."""

import sys
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

ROOT = Path(__file__).parent.parent


def op_index() -> str:
    """The source of `irshape/ops/index.py`: which module holds a type."""
    import irshape.ops
    from irshape.ops.registry import REGISTRY

    for module in walk_packages(irshape.ops.__path__, "irshape.ops."):
        import_module(module.name)
    homes = {type: op.__module__.removeprefix("irshape.ops.") for type, op in REGISTRY.homes().items()}
    lines = "".join(f'    "{type}": "{home}",\n' for type, home in sorted(homes.items()))
    return f'"""Which module holds a type, in lower case. Made by `make generate`."""\n\nfrom typing import Final\n\nMODULES: Final = {{\n{lines}}}\n'


FILES = {"irshape/ops/index.py": op_index}


def main() -> int:
    """Write every file, or with `--check` only name those that would change."""
    stale = []
    for name, make in FILES.items():
        path, text = ROOT / name, make()
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
            if "--check" not in sys.argv:
                path.write_text(text, encoding="utf-8")
    if stale:
        print(("stale: " if "--check" in sys.argv else "written: ") + ", ".join(stale))
    return int("--check" in sys.argv and bool(stale))


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main())
