"""Where the files are that tests read."""

import tarfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
DATA = ROOT / "tests" / "data"
IRS = DATA / "ir"
ATROUS = EXAMPLES / "atrous.xml"
DECODER = EXAMPLES / "decoder.xml"
STATEFUL = EXAMPLES / "decoder_stateful.xml"


def unpack(name: str, folder: Path) -> None:
    """Unpack an archive of the test data into a folder. Python before 3.11.4 has no filter."""
    with tarfile.open(DATA / name) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)
        archive.extractall(folder)
