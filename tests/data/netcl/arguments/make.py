"""make.py: writes arguments.json beside it: what netcl makes of odd values of every argument of its layer classes, found
by asking it.

For each class: its arguments as usual (JSON text), the shapes of its input (without batch) and arrays, and for each
argument what each value (JSON text) does in its place, on netcl's CPU backend in evaluation mode: "loads not",
"runs not", the plain value that gives the same output ("as usual": the argument left alone), or "differs" where none
does. Classes that netcl's files cannot hold are constructed in Python; whether they load means then whether the
constructor takes the value. ConvTranspose2d is not here: the CPU backend cannot run it.
"""
import json
import os
import tempfile

import numpy
import netcl.nn
from netcl.core.device import manager
from netcl.core.tensor import Tensor
from netcl.io import load_model

HERE = os.path.dirname(os.path.abspath(__file__))
queue = manager.default("cpu").queue
random = numpy.random.RandomState(3)
PLAIN = ["0", "1", "2", "3", "-1", "0.5", "1.5", "0.1", "1e-05", "Infinity", "NaN", "true", "false"]
VALUES = PLAIN + ["null", "0.0", "1.0", "2.0", "3.0", "-0.5", "-Infinity", '"3"', '"x"', '""', "[]", "[3]", "[3, 3]",
                  "[1, 2]", "{}", "100000", "1e+39"]
MORE = {"mode": ['"nearest"', '"bilinear"', '"bicubic"'], "seed": ["18446744073709551616"], "size": ["[4, 5]"],
        "scale_factor": ["[2, 3]", "49"], "dilation": ["1.0"], "unknown": []}
# class: its arguments as usual, the input's shape, the shapes of its arrays
SAVED = {
    "Conv2d": ({"in_channels": 2, "out_channels": 4, "kernel_size": 3, "stride": 1, "pad": 1, "bias": True, "dilation": 1,
                "groups": 1}, (2, 2, 6, 7), {"weight": (4, 2, 3, 3), "bias": (4,)}),
    "Linear": ({"in_features": 3, "out_features": 4, "bias": True}, (2, 3), {"weight": (3, 4), "bias": (4,)}),
    "BatchNorm2d": ({"num_features": 3, "momentum": 0.1, "eps": 1e-5}, (2, 3, 4, 5),
                    {"gamma": (3,), "beta": (3,), "running_mean": (3,), "running_var": (3,)}),
    "LeakyReLU": ({"negative_slope": 0.01}, (2, 6), {}),
    "Dropout": ({"p": 0.5, "seed": None}, (2, 6), {}),
    "MaxPool2d": ({"kernel_size": 2, "stride": 2}, (2, 2, 6, 7), {}),
    "ReLU": ({}, (2, 6), {}),
    "Sigmoid": ({}, (2, 6), {}),
    "Tanh": ({}, (2, 6), {}),
    "Flatten": ({}, (2, 3, 4), {}),
}
CONSTRUCTED = {
    "AvgPool2d": ({"kernel_size": 2, "stride": 2}, (2, 2, 6, 7), {}),
    "AdaptiveAvgPool2d": ({"output_size": 1}, (2, 2, 6, 7), {}),
    "DepthwiseConv2d": ({"channels": 2, "kernel_size": 3, "stride": 1, "pad": 1, "bias": True}, (2, 2, 6, 7),
                        {"weight": (2, 1, 3, 3), "bias": (2,)}),
    "ELU": ({"alpha": 1.0}, (2, 6), {}),
    "GELU": ({"approximate": True}, (2, 6), {}),
    "GroupNorm": ({"num_groups": 1, "num_channels": 3, "eps": 1e-5}, (2, 3, 4, 5), {"gamma": (3,), "beta": (3,)}),
    "LayerNorm": ({"normalized_shape": [3], "eps": 1e-5}, (2, 4, 3), {"gamma": (3,), "beta": (3,)}),
    "HardTanh": ({"min_val": -1.0, "max_val": 1.0}, (2, 6), {}),
    "PReLU": ({"num_parameters": 3, "init": 0.25}, (2, 3, 4, 5), {"alpha": (3,)}),
    "RMSNorm": ({"dim": 3, "eps": 1e-6}, (2, 4, 3), {"gamma": (3,)}),
    "Upsample": ({"size": 3, "mode": "nearest", "align_corners": False}, (2, 2, 4, 5), {}),
}


def changed(usual, argument, value):
    """The arguments as JSON text, one of them replaced (None: none)."""
    names = list(usual) + ([argument] if argument and argument not in usual else [])
    return "{%s}" % ", ".join('"%s": %s' % (n, value if n == argument else json.dumps(usual[n])) for n in names)


def load(kind, text, arrays):
    handle, path = tempfile.mkstemp(suffix=".netcl")
    meta = '{"type": "Sequential", "config": [{"type": "%s", "args": %s}], "version": 2}' % (kind, text)
    with os.fdopen(handle, "wb") as file:
        numpy.savez(file, **{"0:" + name: array for name, array in arrays.items()}, __netcl_meta__=numpy.array(meta))
    try:
        return load_model(path, queue=queue)
    finally:
        os.remove(path)


def construct(kind, text, arrays):
    arguments = json.loads(text)
    if arrays:
        arguments["queue"] = queue
    layer = getattr(netcl.nn, kind)(**arguments)
    for name, array in arrays.items():
        if getattr(layer, name).shape != array.shape:
            raise ValueError("another shape")
        getattr(layer, name).array[...] = array
    return netcl.nn.Sequential(layer)


def answer(make, kind, text, arrays, x):
    """The output, or the word for where netcl fails."""
    try:
        model = make(kind, text, arrays)
    except Exception:  # whatever it is: netcl does not take it
        return "loads not"
    try:
        model.eval()
        return numpy.asarray(model(Tensor.from_host(queue, x, backend="cpu")).array)
    except Exception:
        return "runs not"


def same(a, b):
    return not isinstance(a, str) and not isinstance(b, str) and a is not None and b is not None and \
        a.shape == b.shape and numpy.array_equal(a, b, equal_nan=True)


def answers(make, kind, usual, shape, shapes):
    x = random.standard_normal(shape).astype(numpy.float32)
    arrays = {name: numpy.abs(random.standard_normal(s)).astype(numpy.float32) for name, s in shapes.items()}
    normal = answer(make, kind, changed(usual, None, None), arrays, x)
    assert not isinstance(normal, str), (kind, normal)
    found = {}
    for argument in list(usual) + ["unknown"]:
        large = any(word in argument for word in ("channels", "features", "size", "dim", "num_parameters", "shape"))
        values = [v for v in VALUES + MORE.get(argument, []) if not (large and v in ("100000", "1e+39"))]
        outputs = {value: answer(make, kind, changed(usual, argument, value), arrays, x) for value in values}
        found[argument] = {}
        for value, y in outputs.items():
            twin = next((plain for plain in PLAIN if plain != value and same(outputs.get(plain), y)), "differs")
            found[argument][value] = y if isinstance(y, str) else "as usual" if same(y, normal) else twin
    return found


def main():
    numpy.seterr(all="ignore")
    lines = []
    for make, classes in ((load, SAVED), (construct, CONSTRUCTED)):
        for kind, (usual, shape, shapes) in classes.items():
            layer = {"saved": kind in SAVED, "usual": changed(usual, None, None), "input": shape[1:], "arrays": shapes,
                     "answers": answers(make, kind, usual, shape, shapes)}
            lines.append("%s: %s" % (json.dumps(kind), json.dumps(layer)))
    with open(os.path.join(HERE, "arguments.json"), "w") as file:
        file.write("{\n%s\n}\n" % ",\n".join(lines))


main()
