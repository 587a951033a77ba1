"""Takes the JavaScript libraries of the page from npm, at fixed versions: run with `make vendor`, which needs npm.

The files are committed, so nobody who builds or installs irshape needs npm. `THIRD_PARTY.md` lists them with their licences.
"""

import base64
import hashlib
import json
import subprocess
import sys
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
ASSETS = ROOT / "irshape" / "page" / "assets"


class Library(NamedTuple):
    """A file of a package of npm; `integrity` is that of the package, as npm states it."""

    package: str
    version: str
    file: str
    licence: str
    integrity: str
    about: str


LIBRARIES = [
    Library(
        "@dagrejs/dagre",
        "3.1.3",
        "dist/dagre.min.js",
        "MIT",
        "sha512-X4aUTwOReZvthaZWOVHqlJ52/ZdhZFEM4+Lh/uR4XooUSLE6p71bcy7MPGzYnNUcNh+nj+i/qJQpCMIdQnSmrg==",
        "lays out the graph of the page that `irshape view` shows",
    ),
]


def fetch(library: Library, folder: Path) -> tuple[str, str]:
    """The text of a library and of its licence. Ends the program if the package is another than the fixed one."""
    command = ["npm", "pack", "--silent", "--pack-destination", str(folder), f"{library.package}@{library.version}"]
    name = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip().splitlines()[-1]
    package = (folder / name).read_bytes()
    found = "sha512-" + base64.b64encode(hashlib.sha512(package).digest()).decode()
    if found != library.integrity:
        sys.exit(f"{library.package} {library.version}: its integrity is {found}, expected {library.integrity}")
    with tarfile.open(folder / name) as archive:
        text, licence = (archive.extractfile(f"package/{file}") for file in (library.file, f"{library.file}.LEGAL.txt"))
        assert text is not None
        assert licence is not None
        lines = text.read().decode().splitlines(keepends=True)
        return "".join(line for line in lines if not line.startswith("//# sourceMappingURL=")), licence.read().decode()


def listing(texts: list[tuple[str, str]]) -> str:
    """The text of THIRD_PARTY.md."""
    lines = [
        "# Third-party software",
        "",
        "irshape contains these files of others, in `irshape/page/assets`. Made by `make vendor` from `tools/vendor.py`.",
    ]
    for library, (text, licence) in zip(LIBRARIES, texts, strict=True):
        name = Path(library.file).name
        digest = hashlib.sha256(text.encode()).hexdigest()
        lines += [
            "",
            f"## {library.package} {library.version}",
            "",
            f"`{name}` {library.about}. Licence: {library.licence}. SHA-256 of the file: `{digest}`.",
            "",
            "```text",
            licence.strip().removeprefix("/*").removesuffix("*/").replace("@license", "").strip(),
            "```",
        ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write the libraries and THIRD_PARTY.md."""
    with TemporaryDirectory() as folder:
        texts = [fetch(library, Path(folder)) for library in LIBRARIES]
    for library, (text, _) in zip(LIBRARIES, texts, strict=True):
        (ASSETS / Path(library.file).name).write_text(text, encoding="utf-8")
    (ROOT / "THIRD_PARTY.md").write_text(listing(texts), encoding="utf-8")
    print(json.dumps({library.package: library.version for library in LIBRARIES}))


if __name__ == "__main__":
    main()
