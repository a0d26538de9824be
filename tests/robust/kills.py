#!/usr/bin/env python3
"""Kills exports at random moments while they replace an older model: usage: kills.py ONNXPORT COUNT [SEED]

After each kill the folder holds the old model or the complete new one, with its data, and nothing else that looks like a model.
A last export that is let run removes what the killed ones left behind. Half of the models keep their weights in a file of
their own.
"""
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from exports import LARGE, SMALL, check, command, contents, export, fail


def usual(program, target, options):
    """Seconds that an export takes; the median of a few."""
    times = []
    for _ in range(9):
        start = time.monotonic()
        export(program, LARGE, target, *options)
        times.append(time.monotonic() - start)
    return statistics.median(times)


def kill_one(program, target, options, delay):
    """True when the process was still running when it was killed."""
    child = subprocess.Popen(command(program, LARGE, target, *options), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(delay)
    child.kill()
    return child.wait() != 0


def kill_many(program, folder, count, options, chance):
    """Returns how many were killed while running, left the old model, left something behind."""
    target = folder / "model.onnx"
    export(program, LARGE, target, *options)
    seconds = usual(program, target, options)
    new = contents(folder)
    for name in new:
        os.remove(folder / name)
    export(program, SMALL, target, *options)
    old = contents(folder)
    running = kept = leftovers = 0
    for _ in range(count):
        running += kill_one(program, target, options, chance.uniform(0, seconds))
        which, left = check(folder, [old, new], leftovers_allowed=True)
        kept += which == 0
        leftovers += left > 0
        if which == 1:
            export(program, SMALL, target, *options)
            check(folder, [old], leftovers_allowed=False)
    export(program, SMALL, target, *options)
    check(folder, [old], leftovers_allowed=False)
    return running, kept, leftovers


def main():
    program, count = os.path.abspath(sys.argv[1]), int(sys.argv[2])
    chance = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    for name, options in ("one file", ()), ("with a data file", ("--external-data", "always")):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="kills-", dir="."))
        running, kept, leftovers = kill_many(program, folder, count // 2, options, chance)
        shutil.rmtree(folder)
        print(f"{name}: {count // 2} kills, {running} while it ran, {kept} left the old model, {leftovers} left something behind")
        if running < count // 8:
            fail("too few were killed while they ran")


if __name__ == "__main__":
    main()
