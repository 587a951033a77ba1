"""Runs commands in turn and prints CPU seconds, peak bytes and exit code of each run.

A process inherits the peak of the one that starts it, so this one stays small: run with `python -I -S`, it
imports nothing but `os` and `sys`.

    launch.py ROUNDS COMMAND... -- COMMAND...
"""

import os
import sys


def run(command: list[str]) -> tuple[float, int, int]:
    """CPU seconds, peak resident bytes and exit code of a command whose output nobody reads."""
    quiet = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    child = os.posix_spawn(command[0], command, os.environ, file_actions=quiet)
    _, status, usage = os.wait4(child, 0)
    peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return usage.ru_utime + usage.ru_stime, peak, os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    commands: list[list[str]] = [[]]
    for argument in sys.argv[2:]:
        if argument == "--":
            commands.append([])
        else:
            commands[-1].append(argument)
    for _ in range(int(sys.argv[1])):
        for number, command in enumerate(commands):
            print(number, *run(command), flush=True)
