#!/usr/bin/env python3
"""Lets the `onnx` package judge ONNX files that onnxport wrote: its checker, its strict shape inference, its evaluator.

usage: onnx_judge.py FOLDER...

A case is FOLDER/**/NAME-opsetN.onnx with NAME.input_0.npy, NAME.input_1.npy, ... and NAME.output.npy (or NAME.output_0.npy,
...): the arrays that went in and what should come out, shared by all opsets. Prints one line per case that fails, then the counts. Exit status 0: all passed;
1: one failed, or there was none; 77: the package is not here (CTest counts that as skipped).
"""
import collections
import pathlib
import re
import sys

try:
    import numpy
    import onnx
    import onnx.checker
    import onnx.reference
    import onnx.shape_inference
except ImportError as missing:
    print(f"skipped: {missing}; ./dev setup installs the judges")
    sys.exit(77)

# The evaluator is written in NumPy and rounds every operation to the model's element type; what is expected came from double
# sums, rounded once per layer, or from another float32 implementation. A sum of n float32 products is off by about
# sqrt(n) * 2^-24 of its largest term: 4e-6 for the longest sums here (4608 terms), so 2e-5 of the output's scale leaves a factor
# of five for several layers in a row. Attributes are float32 in every model: that bounds float64 ones to the same order.
RTOL = 1e-4
ATOL_OF_SCALE = 2e-5


# What a judge cannot judge: it is not shown models with `operator` at `opsets` whose name begins with `name` (with
# `grouped`: where it has several groups). Every entry says why, and how that was found out.
Excuse = collections.namedtuple("Excuse", "judge operator opsets name reason grouped", defaults=(False,))
EXCUSES = [
    Excuse("evaluator", "BatchNormalization", range(9, 14), "",
           "it takes the presence of `momentum` for training mode, but fills in the attribute's default itself, so it always "
           "mixes the batch's own statistics in (class BatchNormalization_9 of onnx 1.23.2); the operator's text says that a "
           "node with one output is in test mode, and ONNX Runtime and the evaluator's own opset 14 agree with us"),
    Excuse("evaluator", "MaxPool", range(8, 27), "act.p_pool_nan",
           "ONNX does not say what the largest of numbers with a NaN among them is; the evaluator and netcl keep a NaN only in "
           "a window's first place, ONNX Runtime in some other places, the reference engine everywhere"),
    Excuse("evaluator", "ConvTranspose", range(11, 27), "",
           "with groups it cuts the weight, whose first axis is the input's channels, at multiples of the output's, and "
           "gives every group the whole bias (class ConvTranspose of onnx 1.23.2); ONNX Runtime agrees with us", True),
]


def has_groups(node):
    return any(attribute.name == "group" and attribute.i > 1 for attribute in node.attribute)


def excused(path, model, opset, judge):
    return any(row.judge == judge and opset in row.opsets and path.name.startswith(row.name) and
               any(node.op_type == row.operator and (not row.grouped or has_groups(node)) for node in model.graph.node)
               for row in EXCUSES)


def arrays(model_path, what):
    """The array NAME.what.npy, or the arrays NAME.what_0.npy, NAME.what_1.npy, ... beside a model."""
    name = re.sub(r"-opset\d+$", "", model_path.stem)
    single = model_path.with_name(f"{name}.{what}.npy")
    if single.exists():
        return [numpy.load(single, allow_pickle=False)]
    found = []
    while True:
        path = model_path.with_name(f"{name}.{what}_{len(found)}.npy")
        if not path.exists():
            return found
        found.append(numpy.load(path, allow_pickle=False))


def difference(expected, actual):
    """Why two arrays differ; None when they are close enough."""
    if expected.shape != actual.shape:
        return f"shape {actual.shape}, expected {expected.shape}"
    if expected.dtype != actual.dtype:
        return f"element type {actual.dtype}, expected {expected.dtype}"
    finite = numpy.abs(expected[numpy.isfinite(expected)].astype(numpy.float64))
    atol = ATOL_OF_SCALE * max(1.0, finite.max() if finite.size else 0.0)
    close = numpy.isclose(actual, expected, rtol=RTOL, atol=atol, equal_nan=True)
    if close.all():
        return None
    at = tuple(int(i) for i in numpy.argwhere(~close)[0])
    return f"{int((~close).sum())} values differ, the first at {at}: {actual[at]!r}, expected {expected[at]!r}"


def declared(model, values, what, infos):
    """The arrays fit the names, types and shapes that the model declares."""
    if len(infos) != len(values):
        raise ValueError(f"{len(infos)} {what}s are declared, {len(values)} arrays are there")
    symbols = {}
    for info, value in zip(infos, values):
        tensor = info.type.tensor_type
        if onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type) != value.dtype:
            raise ValueError(f"{what} {info.name}: declared type {tensor.elem_type}, array {value.dtype}")
        if not tensor.HasField("shape") or len(tensor.shape.dim) != value.ndim:
            raise ValueError(f"{what} {info.name}: declared rank {len(tensor.shape.dim)}, array {value.ndim}")
        for dim, size in zip(tensor.shape.dim, value.shape):
            known = dim.dim_value if dim.HasField("dim_value") else symbols.setdefault(dim.dim_param or object(), size)
            if known != size:
                raise ValueError(f"{what} {info.name}: declared {dim}, array {value.shape}")


def check(path, model, inputs, outputs):
    onnx.checker.check_model(str(path), full_check=True)


def infer(path, model, inputs, outputs):
    onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)


def declare(path, model, inputs, outputs):
    declared(model, inputs, "input", model.graph.input)
    declared(model, outputs, "output", model.graph.output)


def evaluate(path, model, inputs, outputs):
    names = [info.name for info in model.graph.input]
    with numpy.errstate(all="ignore"):
        results = onnx.reference.ReferenceEvaluator(model).run(None, dict(zip(names, inputs)))
    for info, expected, actual in zip(model.graph.output, outputs, results):
        reason = difference(expected, numpy.asarray(actual))
        if reason:
            raise ValueError(f"output {info.name}: {reason}")


JUDGES = [("checker", check), ("inference", infer), ("declared", declare), ("evaluator", evaluate)]


def judge_case(path, counts):
    """Shows one case to every judge; returns the complaints."""
    complaints = []
    model, inputs, outputs = onnx.load(path), arrays(path, "input"), arrays(path, "output")
    opset = next((row.version for row in model.opset_import if row.domain in ("", "ai.onnx")), 0)
    if not inputs or not outputs:
        return opset, [f"{path}: input or output arrays are missing"]
    for judge, ask in JUDGES:
        if excused(path, model, opset, judge):
            counts[judge, "skipped"] += 1
            continue
        try:
            ask(path, model, inputs, outputs)
            counts[judge, "passed"] += 1
        except Exception as complaint:  # whatever a judge raises is its complaint
            counts[judge, "failed"] += 1
            complaints.append(f"{path}: {judge}: {' '.join(str(complaint).split())[:400]}")
    return opset, complaints


def main(folders):
    paths = sorted(path for folder in folders for path in pathlib.Path(folder).rglob("*.onnx"))
    counts, opsets, failed = collections.Counter(), collections.Counter(), 0
    for path in paths:
        try:
            opset, complaints = judge_case(path, counts)
        except Exception as complaint:  # not readable at all
            opset, complaints = 0, [f"{path}: {complaint}"]
        opsets[opset] += 1
        failed += bool(complaints)
        for complaint in complaints:
            print(complaint)
    for judge, _ in JUDGES:
        print(f"{judge:10} passed {counts[judge, 'passed']}, failed {counts[judge, 'failed']}, "
              f"skipped {counts[judge, 'skipped']}")
    for row in EXCUSES:
        print(f"skipped by the {row.judge}: {row.operator} at opsets {row.opsets[0]} to {row.opsets[-1]} {row.name}: {row.reason}")
    print("opsets     " + ", ".join(f"{opset}: {count}" for opset, count in sorted(opsets.items())))
    print(f"onnx {onnx.__version__}: {len(paths)} models, {failed} failed")
    return 1 if failed or not paths else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))
