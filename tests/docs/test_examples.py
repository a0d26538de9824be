#!/usr/bin/env python3
"""Runs the examples that `onnxport VERB --help` shows, as they are printed, in a copy of examples/.

usage: test_examples.py SOURCE ONNXPORT WORK

Every verb has to show two. Those of export come first, because other verbs look at what it wrote.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

NOT_HERE = 6  # the exit status for "ONNX Runtime is not here"


def verbs(onnxport):
    """The verbs that the overview lists, export first."""
    text = subprocess.run([onnxport, "--help"], capture_output=True, text=True, check=True).stdout
    names = re.findall(r"(?m)^  ([a-z]+) +\S", text)
    return ["export"] + [name for name in names if name != "export"]


def examples(onnxport, verb):
    text = subprocess.run([onnxport, verb, "--help"], capture_output=True, text=True, check=True).stdout
    return re.findall(r"(?m)^  (\S.*)\n      \S", text.partition("\nExamples")[2])


def run(command, folder, environment):
    """True when the command does what is promised of it, or cannot be tried without ONNX Runtime."""
    done = subprocess.run(["bash", "-ec", command], cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode == NOT_HERE:
        print(f"skipped: {command}: {done.stderr.strip()}")
        return True
    print(f"{done.returncode}: {command}")
    if done.returncode != 0:
        print(done.stdout + done.stderr)
    return done.returncode == 0


def main(source, onnxport, work):
    folder = pathlib.Path(work) / "examples"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(pathlib.Path(source) / "examples", folder)
    environment = dict(os.environ, PATH=f"{pathlib.Path(onnxport).parent}:{os.environ['PATH']}")
    failures = 0
    names = verbs(onnxport)
    for verb in names:
        shown = examples(onnxport, verb)
        if len(shown) != 2:
            print(f"FAILED: onnxport {verb} --help shows {len(shown)} examples, not 2")
            failures += 1
        failures += sum(not run(command, folder, environment) for command in shown)
    print(f"{len(names)} verbs, {failures} failures")
    return 1 if failures or len(names) < 10 else 0


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
