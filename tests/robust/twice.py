#!/usr/bin/env python3
"""Several exports to one target at once: usage: twice.py ONNXPORT ROUNDS

Afterwards the target is one of the complete models, with its data, and nothing else is there.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from exports import LARGE, SMALL, check, command, contents, export, fail


def complete_models(program, folder, jobs):
    models = []
    for source, options in jobs:
        shutil.rmtree(folder)
        folder.mkdir()
        export(program, source, folder / "model.onnx", *options)
        models.append(contents(folder))
    return models


def main():
    program, rounds = os.path.abspath(sys.argv[1]), int(sys.argv[2])
    external = ("--external-data", "always")
    jobs = [(SMALL, ()), (LARGE, ()), (SMALL, external), (LARGE, external)]
    folder = pathlib.Path(tempfile.mkdtemp(prefix="twice-", dir="."))
    models = complete_models(program, folder, jobs)
    won = [0] * len(jobs)
    for number in range(rounds):
        running = [subprocess.Popen(command(program, source, folder / "model.onnx", *options), stdout=subprocess.DEVNULL)
                   for source, options in jobs[number % 4 :] + jobs[: number % 4]]
        if any([child.wait() for child in running]):
            fail("an export failed because of another one")
        which, _ = check(folder, models, leftovers_allowed=False)
        won[which] += 1
    shutil.rmtree(folder)
    print(f"{rounds} rounds of {len(jobs)} exports at once; each was the last {won} times")


if __name__ == "__main__":
    main()
