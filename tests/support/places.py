"""Where the files are that tests read."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
DATA = ROOT / "tests" / "data"
IRS = DATA / "ir"
ATROUS = EXAMPLES / "atrous.xml"
DECODER = EXAMPLES / "decoder.xml"
STATEFUL = EXAMPLES / "decoder_stateful.xml"
