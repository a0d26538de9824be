#!/usr/bin/env python3
"""Does onnxport, built for another machine, do the same as the one built for this machine?

usage: compare.py --native ONNXPORT --data tests/data/netcl --work FOLDER -- COMMAND...

COMMAND runs the other one: an emulator and the program. Every archive of the data is exported in several ways and looked into with
both; exit status, standard output, standard error and every file that was written must be the same, byte for byte. Closes with
`N passed, N failed`; exit status 1 when something differs.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys

# The golden networks that export must accept in each of WAYS, with the size of a sample.
GOLDEN = {
    "a_mlp.netcl": "20",
    "b_cnn.netcl": "3x32x32",
    "c_conv_groups.netcl": "8x17x13",
    "d_bn.netcl": "5x9x7",
    "e_dropout_pool.netcl": "4x29x22",
    "f_allact.netcl": "12",
    "p_pools.netcl": "3x23x26",
    "damaged/bigendian.netcl": "2x5x6",
    "damaged/compressed.netcl": "2x5x6",
    "damaged/float16.netcl": "2x5x6",
    "damaged/float64.netcl": "2x5x6",
    "damaged/fortran.netcl": "2x5x6",
    "pt/b_cnn.netcl_export.pt": "3x32x32",
    "pt/b_cnn.torch_bfloat16.pt": "3x32x32",
    "pt/b_cnn.torch_strided_offset.pt": "3x32x32",
    "legacy/v013_mlp.npz": "4",
    "legacy/v027_cnn.netcl": "3x16x16",
}
# Many pieces and several megabytes, so that threads are at work where there are any.
LARGE = {"detector/h_det26.netcl": "3x256x256"}

# Ways to export, each with what makes another program path of it.
WAYS = [
    [],
    ["--profile", "netcl", "--opset", "13", "--batch", "3"],
    ["--external-data", "always"],
    ["--dtype", "float64", "--batchnorm", "expanded", "--opset", "18"],
]
MOST_REPORTED = 20
TABLES = ["layers", "profiles", "formats", "errors"]


class Side:
    def __init__(self, command, work):
        self.command, self.work = command, work

    def run(self, arguments):
        """Exit status, what was printed, and what was written to an empty folder."""
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True)
        words = self.command + [a.replace("{work}", str(self.work)) for a in arguments]
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=300)
        files = {p.name: p.read_bytes() for p in sorted(self.work.iterdir())}
        return {"status": done.returncode, "stdout": done.stdout, "stderr": done.stderr, "files": files}


class Comparison:
    def __init__(self, native, foreign, work):
        # One folder for both, one after the other: its name is in what they print.
        self.native, self.foreign = Side(native, work / "out"), Side(foreign, work / "out")
        self.passed = self.failed = 0

    def note(self, arguments, wrong):
        self.passed += not wrong
        self.failed += bool(wrong)
        if wrong and self.failed <= MOST_REPORTED:
            print("FAILED:", " ".join(arguments), "\n ", "\n  ".join(text[:600] for text in wrong), flush=True)

    def same(self, arguments, must_work=False):
        here, there = self.native.run(arguments), self.foreign.run(arguments)
        wrong = [f"{key}: {here[key]!r} here, {there[key]!r} there" for key in ("status", "stdout", "stderr") if here[key] != there[key]]
        if list(here["files"]) != list(there["files"]):
            wrong.append(f"files: {list(here['files'])} here, {list(there['files'])} there")
        wrong += [f"{name}: {difference(data, there['files'][name])}" for name, data in here["files"].items()
                  if name in there["files"] and data != there["files"][name]]
        if must_work and (here["status"] != 0 or not here["files"]):
            wrong.append(f"does not work here: {here['stderr']!r}")
        self.note(arguments, wrong)


def difference(a, b):
    first = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    return f"{len(a)} and {len(b)} bytes, the first difference is at {first}"


def source(path, data):
    """The words that name a network; a .pt file has no layers of its own."""
    described = ["--description", str((data / "b_cnn.netcl").resolve())] if path.suffix == ".pt" else []
    return [str(path), *described]


def archives(data):
    found = [p for p in data.rglob("*") if p.suffix in (".netcl", ".pt", ".npz", ".json") and p.is_file()]
    return sorted(p.resolve() for p in found)


def compare_all(comparison, data):
    for name, size in {**GOLDEN, **LARGE}.items():
        path = (data / name).resolve()
        words = source(path, data)
        for way in WAYS if name in GOLDEN else WAYS[:3]:
            comparison.same(["export", *words, "--input-shape", size, *way, "-o", "{work}/out.onnx"], must_work=True)
        comparison.same(["convert", *words, "--input-shape", size, "-o", "{work}/out.netcl"], must_work=True)
    for path in archives(data):
        comparison.same(["export", str(path), "-o", "{work}/out.onnx"])
        comparison.same(["inspect", str(path), "--json"])
    for path in sorted(data.glob("*.onnx")):
        comparison.same(["inspect", str(path.resolve()), "--json"])
    for table in TABLES:
        comparison.same([table, "--json"])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--native", required=True)
    parser.add_argument("--data", required=True, type=pathlib.Path)
    parser.add_argument("--work", required=True, type=pathlib.Path)
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    os.environ.update(NO_COLOR="1", LC_ALL="C.UTF-8")
    comparison = Comparison([options.native], options.command, options.work.resolve())
    compare_all(comparison, options.data.resolve())
    print(f"{comparison.passed} passed, {comparison.failed} failed")
    return comparison.failed > 0


if __name__ == "__main__":
    sys.exit(main())
