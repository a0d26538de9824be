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
import sys
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
    yield "grey.jpg", picture.convert("L"), {}
    yield "cmyk.jpg", picture.convert("CMYK"), {}


def picture_seeds():
    for name, picture, options in pictures():
        out = io.BytesIO()
        picture.save(out, name.split(".")[1].replace("jpg", "jpeg"), **options)
        yield "image", name, out.getvalue()


def main():
    corpus = pathlib.Path(sys.argv[1])
    for target, name, data in itertools.chain(seeds(), picture_seeds()):
        (corpus / target).mkdir(parents=True, exist_ok=True)
        (corpus / target / re.sub(r"[^\w.-]", "_", name)).write_bytes(data)


if __name__ == "__main__":
    main()
