#!/usr/bin/env python3
"""Tests the benchmark's inputs and its judge on a small network: every form of it exports to the same model, whose weights are
found and are right, inside the model and beside it; a changed byte and a missing weight are noticed.

usage: test_bench.py ONNXPORT BENCH WORK     BENCH: the project's folder bench/
"""
import os
import pathlib
import shutil
import subprocess
import sys
import types

COMMAND, FOLDER, WORK = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
sys.path.insert(0, FOLDER)
import bench as benchmark  # noqa: E402
import networks  # noqa: E402
import onnx_weights  # noqa: E402


def export(bench, source, *options):
    bench.clear("ours")
    subprocess.run([COMMAND, "export", source, "-o", WORK / "ours/model.onnx", "--quiet", *options], check=True)


def expect_wrong(bench, what):
    try:
        bench.check(networks.small)
    except benchmark.Failed as reason:
        assert "WRONG" in str(reason), reason
    else:
        sys.exit(f"{what} was not noticed")


def change_byte(path, offset):
    with open(path, "r+b") as file:
        file.seek(offset)
        byte = file.read(1)[0]
        file.seek(offset)
        file.write(bytes([byte ^ 1]))


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    options = types.SimpleNamespace(onnxport=COMMAND, folder=WORK, runs=1, keep=False, measure="")
    bench = benchmark.Bench(options)
    for form in ("plain", "fortran", "big-endian", "deflated", "pair"):
        source = bench.input(networks.small, form)
        export(bench, source)
        bench.check(networks.small)
        bench.drop(source)
        assert not source.exists(), f"{source} was to be removed"
    last = onnx_weights.initializers(str(WORK / "ours/model.onnx"))[-1]
    change_byte(WORK / "ours/model.onnx", last.offset + last.bytes - 1)
    expect_wrong(bench, "a changed weight")

    export(bench, bench.input(networks.small), "--output-name", "other")
    expect_wrong(bench, "a model with another name in it")

    bench.model_sha256.clear()
    export(bench, bench.input(networks.small), "--external-data", "always")
    tensors = onnx_weights.initializers(str(WORK / "ours/model.onnx"))
    assert any(os.path.basename(tensor.path) != "model.onnx" for tensor in tensors), "no weight lies in a file of its own"
    bench.check(networks.small)

    bench.network(networks.small).weights.pop()
    expect_wrong(bench, "a weight too many")


if __name__ == "__main__":
    main()
