#!/usr/bin/env python3
"""Exports every golden netcl network at every opset, with its inputs and expected outputs, for onnx_judge.py.

usage: golden_nets.py ONNXPORT DATA FOLDER

ONNXPORT is the command, DATA is tests/data/netcl, FOLDER is there and empty.
"""
import json
import pathlib
import subprocess
import sys

import numpy

OPSETS = range(13, 27)
# Networks that are written under the profile netcl as well: all kinds that it writes at every opset.
OTHER_PROFILE = ["a_mlp", "b_cnn", "c_conv_groups", "e_dropout_pool", "f_allact"]
# The layers of g_layernorm, whose file holds weights only: netcl can run and export it, but not save it.
LAYER_NORM = [
    {"type": "Linear", "in_features": 10, "out_features": 16},
    {"type": "LayerNorm", "normalized_shape": [16], "eps": 1e-3},
    {"type": "ReLU"},
    {"type": "Linear", "in_features": 16, "out_features": 3},
]


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}: exit status {done.returncode}\n{done.stderr}")


def networks(data):
    """Pairs of a network's path and its name: every file or pair that has an input beside it."""
    for x in sorted(data.glob("**/*.x.npy")):
        stem = x.with_name(x.name[: -len(".x.npy")])
        for suffix in (".netcl", ".json"):
            if pathlib.Path(f"{stem}{suffix}").exists():
                yield pathlib.Path(f"{stem}{suffix}"), stem


def detector_input(data):
    """The four photos as the detector wants them: divided in float32, channels first. One is enough for a slow judge."""
    photos = numpy.load(data / "detector" / "photos.uint8.npy")[:1]
    return numpy.ascontiguousarray((photos.astype(numpy.float32) / numpy.float32(255)).transpose(0, 3, 1, 2))


def sample_shape(x):
    return "x".join(str(size) for size in x.shape[1:])


def expected(onnxport, source, stem, x_path, folder):
    """netcl's own result; for the special values of act/ (NaN, infinities), where netcl departs from the formula and from ONNX
    (its ReLU turns NaN into 0), our reference engine's."""
    if source.parent.name != "act":
        return numpy.load(f"{stem}.y.npy")
    run(onnxport, "run", source, "--input-shape", sample_shape(numpy.load(x_path)), "--input", x_path,
        "--output", folder / "y.npy")
    return numpy.load(folder / "y.npy")


def write_case(onnxport, source, name, x, y, folder, *options):
    for opset in OPSETS:
        target = folder / f"{name}-opset{opset}.onnx"
        run(onnxport, "export", source, "-o", target, "--opset", opset, "--input-shape",
            sample_shape(x), "--quiet", *options)
    numpy.save(folder / f"{name}.input_0.npy", x)
    numpy.save(folder / f"{name}.output.npy", y)


def write_layer_norm(onnxport, data, folder):
    layers = folder / "g_layernorm.json"
    layers.write_text(json.dumps(LAYER_NORM), encoding="utf-8")
    x, y = (numpy.load(data / f"g_layernorm.{what}.npy") for what in "xy")
    write_case(onnxport, data / "g_layernorm.weights.npz", "g_layernorm", x, y, folder, "--description", layers)


def main(onnxport, data, folder):
    count = 0
    for source, stem in networks(data):
        x_path = pathlib.Path(f"{stem}.x.npy")
        x, y = numpy.load(x_path), expected(onnxport, source, stem, x_path, folder)
        write_case(onnxport, source, f"{source.parent.name}.{stem.name}", x, y, folder)
        if stem.name in OTHER_PROFILE:
            write_case(onnxport, source, f"profile_netcl.{stem.name}", x, y, folder, "--profile", "netcl")
        count += 1
    write_layer_norm(onnxport, data, folder)
    y = numpy.load(data / "detector" / "h_det26.y.npy")[:1]
    write_case(onnxport, data / "detector" / "h_det26.netcl", "h_det26", detector_input(data), y, folder)
    (folder / "y.npy").unlink(missing_ok=True)
    print(f"{count + 2} networks, opsets {OPSETS[0]} to {OPSETS[-1]}, in {folder}")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*(pathlib.Path(word).resolve() for word in sys.argv[1:]))
