#!/usr/bin/env python3
"""Makes first seeds of the fuzz targets from the golden files: usage: make_corpus.py CORPUS

Archives are packed again with zeros for the values of large arrays, deflated, so that a seed is as small as what it says. The corpus
beside this file holds those seeds, and what long runs learned, that are needed to reach all that was reached: for each target
`fuzz_TARGET -set_cover_merge=1 -use_counters=0 NEW OLD LEARNED`, with inputs below 700 bytes. Names say where a seed is from; inputs
with a name that is a number were found by a fuzzer, and `message_*` and `empty_*` are old findings.
"""
import io
import itertools
import json
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE.parent / "data"
SMALL = 400  # bytes of a member that keeps its values

# Layers that no golden file holds in a description of its own.
LAYERS = [
    {"type": "Conv2d", "in_channels": 3, "out_channels": 4, "kernel_size": [3, 2], "stride": 2, "pad": 1, "groups": 1},
    {"type": "DepthwiseConv2d", "channels": 4, "kernel_size": 3, "pad": 1},
    {"type": "ELU", "alpha": 0.5}, {"type": "HardSwish"}, {"type": "Upsample2d", "scale_factor": 2},
    {"type": "Upsample", "scale_factor": 2}, {"type": "Identity"}, {"type": "AvgPool2d", "kernel_size": 2, "stride": 2},
    {"type": "GlobalAvgPool2d"}, {"type": "Flatten"}, {"type": "LayerNorm", "normalized_shape": [4]},
    {"type": "GELU", "approximate": "tanh"}, {"type": "Softmax", "axis": -1}, {"type": "Concat", "axis": 1},
]


def zeroed(name, data):
    if len(data) <= SMALL or "meta" in name or name.endswith(".pkl"):
        return data
    start = 10 + struct.unpack("<H", data[8:10])[0] if data[:6] == b"\x93NUMPY" else 0
    return data[:start] + bytes(len(data) - start)


def repacked(path):
    out = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(out, "w") as new:
        for info in old.infolist():
            data = zeroed(info.filename, old.read(info))
            method = zipfile.ZIP_DEFLATED if len(data) > SMALL else zipfile.ZIP_STORED
            new.writestr(zipfile.ZipInfo(info.filename), data, method)
    return out.getvalue()


def description(path):
    """The JSON text inside a .netcl archive; None when it has none."""
    try:
        with zipfile.ZipFile(path) as archive:
            data = archive.read("__netcl_meta__.npy")
        text = data[10 + struct.unpack("<H", data[8:10])[0] :].decode("utf-32-le")
        json.loads(text)
        return text.encode()
    except (KeyError, ValueError, zipfile.BadZipFile):
        return None


def seeds():
    """Yields target, name, bytes."""
    netcl = DATA / "netcl"
    for path in sorted([*netcl.glob("*.netcl"), *netcl.glob("act/*.netcl"), *netcl.glob("edge/*.netcl")]):
        yield "netcl", path.name, repacked(path)
        yield "path", path.name, repacked(path)
        if text := description(path):
            yield "json", path.stem + ".json", text
            yield "path", path.stem + ".json", text
    for path in sorted([*netcl.glob("legacy/*"), *netcl.glob("checkpoint/*"), *netcl.glob("layers/*Norm.npz")]):
        if path.suffix == ".json":
            yield "json", path.name, path.read_bytes()
        elif path.suffix in (".npz", ".netcl"):
            yield "netcl", path.name, repacked(path)
    for path in sorted(netcl.glob("damaged/*.netcl")):
        if path.stat().st_size < 7000:
            yield "zip_npy", path.name, path.read_bytes()
    for path in sorted([*netcl.glob("*.y.npy"), *netcl.glob("edge/*.y.npy")]):
        if path.stat().st_size < 500:
            yield "zip_npy", path.name, path.read_bytes()
    for path in sorted(netcl.glob("pt/*.pt")):
        if zipfile.is_zipfile(path):
            yield "pt", path.name, repacked(path)
            with zipfile.ZipFile(path) as archive:
                yield "pt", path.stem + ".pkl", next(archive.read(n) for n in archive.namelist() if n.endswith(".pkl"))
        else:
            yield "pt", path.name, path.read_bytes()[:600]
    for path in sorted([*netcl.rglob("*.onnx"), *DATA.glob("netcl-real/*.onnx"), *DATA.glob("runmat/*.onnx")]):
        if path.stat().st_size < 2500:
            yield "onnx", path.name, path.read_bytes()
    for target in ("json", "path"):
        yield target, "layers.json", json.dumps(LAYERS).encode()
        yield target, "model.json", json.dumps({"type": "Sequential", "version": 2, "config": LAYERS[:1]}).encode()
        for layer in LAYERS:
            yield target, f"layer_{layer['type']}.json", json.dumps([layer]).encode()


def pickle_of(path):
    with zipfile.ZipFile(path) as archive:
        return next(archive.read(name) for name in archive.namelist() if name.endswith("data.pkl"))


def odd_seeds():
    """What other programs write and other readers take: streams, bytes behind, JSON and pickles with more than the standard has."""
    faults = DATA / "faults"
    for name in ("62/plain.netcl", "62/streamed.netcl", "edge/trailing.netcl", "edge/trailing_in_member.netcl"):
        yield "zip_npy", name.replace("/", "_"), (faults / name).read_bytes()
        yield "netcl", name.replace("/", "_"), (faults / name).read_bytes()
    for path in sorted([*faults.glob("65/*.pt"), *faults.glob("68/*.pt")]):
        yield "pt", path.stem + ".pkl", pickle_of(path)
    yield "json", "python.json", b"\xef\xbb\xbf" + json.dumps({"a": [float("nan"), float("inf"), -float("inf")], "b": "\udce9"}).encode()
    yield "json", "slope.json", b'[{"type": "LeakyReLU", "negative_slope": NaN}, {"type": "MaxPool2d", "kernel_size": [2, 1e999]}]'
    for tree in ("model/module.*", "a/b/*", "_orig_mod.*"):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([HERE.parent / "cli/make_pt.py", f"{folder}/net.pt", tree, "epoch=3"], check=True)
            yield "pt", re.sub(r"\W", "_", tree) + ".pt", pathlib.Path(folder, "net.pt").read_bytes()


def pictures():
    """Small pictures of every kind that the decoders tell apart. Needs the package pillow."""
    from PIL import Image

    picture = Image.frombytes("RGBA", (13, 9), bytes((i * 37 + i // 52 * 11) % 256 for i in range(13 * 9 * 4)))
    for mode in ("1", "L", "LA", "P", "RGB", "RGBA", "I;16"):
        of_mode = Image.new("I;16", picture.size, 4711) if mode == "I;16" else picture.convert(mode)
        yield f"{mode.replace(';', '')}.png", of_mode, {}
    for name, options in (("420", {"subsampling": 2}), ("444", {"subsampling": 0}), ("progressive", {"progressive": True}),
                          ("restart", {"restart_marker_blocks": 1})):
        yield f"{name}.jpg", picture.convert("RGB"), options
    for name, orientation in (("turned.jpg", 6), ("mirrored.png", 5)):
        exif = Image.Exif()
        exif[0x0112] = orientation
        yield name, picture.convert("RGB"), {"exif": exif}
    yield "grey.jpg", picture.convert("L"), {}
    yield "cmyk.jpg", picture.convert("CMYK"), {}


def picture_seeds():
    for name, picture, options in pictures():
        out = io.BytesIO()
        picture.save(out, name.split(".")[1].replace("jpg", "jpeg"), **options)
        yield "image", name, out.getvalue()


def main():
    corpus = pathlib.Path(sys.argv[1])
    for target, name, data in itertools.chain(seeds(), odd_seeds(), picture_seeds()):
        (corpus / target).mkdir(parents=True, exist_ok=True)
        (corpus / target / re.sub(r"[^\w.-]", "_", name)).write_bytes(data)


if __name__ == "__main__":
    main()
