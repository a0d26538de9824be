#!/usr/bin/env python3
"""Makes a .pt file as torch.save does, without torch: usage: make_pt.py OUT [--big] [--without NAME] [KEY=TREE]...

The weights are those of tests/data/faults/62/plain.netcl, a Linear from 3 to 2. A TREE is a path of keys, with `*` for the place
where the names of the weights are put: `model/module.*` is {"model": {"module.0.weight": ..., "module.0.bias": ...}}. Each TREE
has weights of its own: those of the first are the right ones, those of the n-th are n times as large. `KEY=NUMBER` adds a number.
Without any the names stand alone. --big: values, and the record that says so, are big-endian. --without: this name is left out.
"""
import argparse
import io
import pathlib
import pickle
import struct
import sys
import types
import zipfile
from collections import OrderedDict

SOURCE = pathlib.Path(__file__).resolve().parents[1] / "data/faults/62/plain.netcl"


class FloatStorage:
    """Stands for torch's class: only its name is written."""


def _rebuild_tensor_v2(*_):
    """Stands for torch's function: only its name is written."""


for thing, module in ((FloatStorage, "torch"), (_rebuild_tensor_v2, "torch._utils")):
    thing.__module__ = module
    sys.modules.setdefault(module, types.ModuleType(module)).__dict__[thing.__name__] = thing


class Tensor:
    def __init__(self, key, shape):
        self.key, self.shape = key, shape

    def __reduce__(self):
        strides = tuple(self.shape[1:]) + (1,)
        return _rebuild_tensor_v2, (Storage(self.key, self.shape), 0, self.shape, strides, False, OrderedDict())


class Storage:
    def __init__(self, key, shape):
        count = 1
        for size in shape:
            count *= size
        self.id = ("storage", FloatStorage, key, "cpu", count)


class Pickler(pickle.Pickler):
    def persistent_id(self, obj):
        return obj.id if isinstance(obj, Storage) else None


def weights():
    """Name, shape and values as torch has them: a Linear's weight is (out, in)."""
    with zipfile.ZipFile(SOURCE) as archive:
        def floats(name):
            data = archive.read(name)
            data = data[10 + struct.unpack("<H", data[8:10])[0] :]
            return struct.unpack(f"<{len(data) // 4}f", data)
        weight, bias = floats("0:weight.npy"), floats("0:bias.npy")
    yield "0.weight", (2, 3), [weight[i * 2 + o] for o in range(2) for i in range(3)]
    yield "0.bias", (2,), list(bias)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("--big", action="store_true")
    parser.add_argument("--without")
    parser.add_argument("trees", nargs="*")
    options = parser.parse_intermixed_args()
    storages, top, scale = [], OrderedDict(), 0
    for tree in options.trees or ["*"]:
        key, equals, number = tree.partition("=")
        if equals:
            top[key] = int(number)
            continue
        scale += 1
        *levels, names = tree.split("/")
        place = top
        for level in levels:
            place = place.setdefault(level, OrderedDict())
        for name, shape, values in weights():
            if name != options.without:
                place[names.replace("*", name)] = Tensor(str(len(storages)), shape)
                storages.append([value * scale for value in values])
    stream = io.BytesIO()
    Pickler(stream, 2).dump(top)
    with zipfile.ZipFile(options.out, "w") as archive:
        archive.writestr("archive/data.pkl", stream.getvalue())
        for key, values in enumerate(storages):
            archive.writestr(f"archive/data/{key}", struct.pack(f"{'<>'[options.big]}{len(values)}f", *values))
        archive.writestr("archive/byteorder", "big" if options.big else "little")
        archive.writestr("archive/version", "3\n")


if __name__ == "__main__":
    main()
