"""Fuzzers whose seeds run in a process of their own, because OpenVINO ends its process on some files."""

import argparse
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator

_DONE = ": done"


def found(module: str, first: int, count: int) -> Iterator[str]:
    """What a fuzzer finds for some seeds. A seed with which OpenVINO ends the process is passed over; an exception is a finding."""
    end = first + count
    while first < end:
        command = [sys.executable, "-m", module, "--first", str(first), "--count", str(end - first), "--here"]
        process = subprocess.run(command, capture_output=True, text=True, check=False)
        lines = process.stdout.splitlines()
        yield from (line for line in lines if not line.endswith(_DONE))
        ended = [int(line.partition(":")[0]) for line in lines if line.endswith(_DONE)]
        first = ended[-1] + 1 if ended else first
        if process.returncode > 0:
            yield f"{first}: {process.stderr.strip().splitlines()[-1]}"
        first += 1


def main(module: str, about: str | None, findings: Callable[[int], Iterable[str]], count: int) -> int:
    """The command line of a fuzzer, whose `findings` are those of one seed; 1 if there are any. `count` seeds are the default."""
    parser = argparse.ArgumentParser(prog=f"python -m {module}", description=about)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--count", type=int, default=count, help="the number of seeds")
    parser.add_argument("--here", action="store_true", help="run the seeds in this process, and say which are done")
    given = parser.parse_args()
    if given.here:
        for seed in range(given.first, given.first + given.count):
            for one in findings(seed):
                print(f"{seed}: {one}", flush=True)
            print(f"{seed}{_DONE}", flush=True)
        return 0
    lines = 0
    for line in found(module, given.first, given.count):
        lines += 1
        print(line, flush=True)
    print(f"{given.count} seeds, {lines} findings")
    return 1 if lines else 0
