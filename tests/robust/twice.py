#!/usr/bin/env python3
"""Several exports to one target at once: usage: twice.py ONNXPORT ROUNDS

Afterwards the target is one of the complete models, with its data, and nothing else is there; the same for conversions to one pair
of files. A folder that somebody else keeps locked does not stop an export.
"""
import fcntl
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


def export_into_locked_folder(program, folder, models):
    """Somebody who keeps the folder locked for ever delays an export, but does not stop it."""
    lock = os.open(folder, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    subprocess.run(command(program, SMALL, folder / "model.onnx"), check=True, timeout=60)
    os.close(lock)
    export(program, SMALL, folder / "model.onnx")  # removes what the other one could not
    check(folder, models[:1], leftovers_allowed=False)


def convert_to_one_pair(program, folder, rounds):
    """Description and weights are of one network."""
    shutil.rmtree(folder)
    folder.mkdir()
    commands = [[program, "convert", str(source), "-o", str(folder / "pair.json"), "--format", "netcl_pair", "--quiet"]
                for source in (SMALL, LARGE)]
    pairs = []
    for one in commands:
        subprocess.run(one, check=True)
        pairs.append(contents(folder))
    for _ in range(rounds):
        running = [subprocess.Popen(one) for one in commands * 2]
        if any([child.wait() for child in running]):
            fail("a conversion failed because of another one")
        if contents(folder) not in pairs:
            fail(f"the files are of two networks, or not alone: {sorted(contents(folder))}")


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
    export_into_locked_folder(program, folder, models)
    convert_to_one_pair(program, folder, rounds)
    shutil.rmtree(folder)
    print(f"{rounds} rounds of {len(jobs)} exports at once; each was the last {won} times")


if __name__ == "__main__":
    main()
