#!/usr/bin/env python3
"""Shows our reader, checker and writer the models of ONNX's own operator tests, which nobody here wrote, and spoiled copies of them.

usage: operators_judge.py PROGRAM FOLDER

PROGRAM is operator_models; FOLDER is emptied and filled with models. A genuine model must be accepted and written again with the
same bytes; so must models of our own making that ONNX's checker accepts: arrays of every type, functions. In each spoiled copy one thing was changed that breaks the rules of ONNX, and the copy must be refused; that is
demanded of the operators that our exporter writes, and only counted for the others, about which the checker may know less.
Prints one line for each model that ends otherwise, then the counts. Exit status 0: all as it must be; 1: not, or there were not
enough models; 77: the package `onnx` is not here.
"""
import collections
import functools
import math
import pathlib
import shutil
import subprocess
import sys
import warnings

try:
    import numpy
    import onnx
    import onnx.numpy_helper
    import onnx.parser
    from onnx.backend.test.case.node import collect_testcases
except ImportError as missing:
    print(f"skipped: {missing}; ./dev setup installs the judges")
    sys.exit(77)

Model = collections.namedtuple("Model", "name spoil operator must path")


def hold_constants(model, values):
    """The model with its small further inputs inside of it, which tell the shape of the result: axes, sizes, pads."""
    held = onnx.ModelProto.FromString(model.SerializeToString())
    for info, value in list(zip(held.graph.input, values))[1:]:
        if isinstance(value, numpy.ndarray) and value.dtype.kind in "fiu" and value.size <= 16:
            held.graph.initializer.append(onnx.numpy_helper.from_array(value, info.name))
            held.graph.input.remove(info)
            held.ir_version = max(held.ir_version, 4)  # before, an initializer had to be an input too
    return held


def genuine_models():
    """Name and model of every test that the package ships or makes, and whether all is in it that tells the shapes."""
    with warnings.catch_warnings():  # of NumPy, about the numbers in the tests' arrays
        warnings.simplefilter("ignore")
        for case in collect_testcases(None):
            if case.model:
                yield case.name, case.model, False
                yield case.name + ", constants inside", hold_constants(case.model, case.data_sets[0][0]), True
    shipped = pathlib.Path(onnx.__file__).parent / "backend/test/data"
    for path in sorted(shipped.rglob("*.onnx")):
        yield path.parent.name, onnx.load(path), True


# --- Models of our own making, which ONNX's checker accepts ---


FUNCTIONS = {
    "a function": """<ir_version: 10, opset_import: ["": 18, "local": 1]> g (float[N] x) => (float[N] y) { y = local.twice(x) }
        <domain: "local", opset_import: ["": 18]> twice (a) => (b) { c = Add(a, a) b = Mish(c) }""",
    "a function with an attribute": """<ir_version: 10, opset_import: ["": 17, "local": 1]>
        g (float[N] x) => (float[N] y) { y = local.leak <alpha = 0.5> (x) }
        <domain: "local", opset_import: ["": 17]> leak <alpha> (a) => (b) { b = LeakyRelu <alpha: float = @alpha> (a) }""",
    "functions that call each other": """<ir_version: 10, opset_import: ["": 17, "local": 1, "other": 2]>
        g (float[N] x) => (float[N] y) { z = local.outer(x) y = other.inner(z) }
        <domain: "local", opset_import: ["": 17, "other": 2]> outer (a) => (b) { b = other.inner(a) }
        <domain: "other", opset_import: ["": 17]> inner (a) => (b) { b = Neg(a) }""",
    "a domain of somebody's own": """<ir_version: 10, opset_import: ["": 17, "com.example": 1]>
        g (float[N] x) => (float[N] y) { y = com.example.Anything <whatever = 1> (x) }""",
}


def arrays():
    """Arrays of every element type, their values in the field of the type and as raw bytes."""
    for name, number in onnx.TensorProto.DataType.items():
        for dims in ([5], [2, 3], [], [0]) if number else ():
            count = math.prod(dims)
            typed = onnx.helper.make_tensor("w", number, dims, [b"a"] * count if name == "STRING" else [1] * count)
            yield f"{name} {dims}", typed
            if name != "STRING":
                raw = onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(typed), "w")
                assert raw.data_type == number and raw.HasField("raw_data")
                yield f"{name} {dims}, raw", raw


def array_model(tensor):
    node = onnx.helper.make_node("Identity", ["w"], ["y"])
    output = onnx.helper.make_tensor_value_info("y", tensor.data_type, tensor.dims)
    graph = onnx.helper.make_graph([node], "g", [], [output], [tensor])
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 28)], ir_version=14)


def made_models():
    """Name and model."""
    for name, text in FUNCTIONS.items():
        yield name, onnx.parser.parse_model(text)
    for name, tensor in arrays():
        yield name, array_model(tensor)


# --- Ways to spoil a model ---


def static_shape(info):
    tensor = info.type.tensor_type
    return tensor.HasField("shape") and tensor.shape.dim and all(dim.HasField("dim_value") for dim in tensor.shape.dim)


def spoil_size(model):
    """An output is one larger than it can be."""
    info = model.graph.output[0]
    if not static_shape(info):
        return False
    info.type.tensor_type.shape.dim[-1].dim_value += 1
    return True


def spoil_rank(model):
    info = model.graph.output[0]
    if not static_shape(info):
        return False
    info.type.tensor_type.shape.dim.add().dim_value = 3
    return True


def spoil_type(model):
    info = model.graph.output[0]
    if not info.type.HasField("tensor_type"):
        return False
    tensor = info.type.tensor_type
    tensor.elem_type = onnx.TensorProto.INT16 if tensor.elem_type != onnx.TensorProto.INT16 else onnx.TensorProto.FLOAT
    return True


def spoil_attribute(model):
    model.graph.node[0].attribute.append(onnx.helper.make_attribute("no_such_attribute", 1))
    return True


def spoil_inputs(model):
    """More inputs than any operator takes that does not take any number of them."""
    node = model.graph.node[0]
    if not node.input:
        return False
    node.input.extend([node.input[0]] * 40)
    return True


def spoil_source(model):
    if not model.graph.node[0].input:
        return False
    model.graph.node[0].input[0] = "nothing_gives_this"
    return True


def spoil_output(model):
    """A value is computed twice."""
    model.graph.node.append(model.graph.node[0])
    return True


def spoil_operator(model):
    model.graph.node[0].op_type = "NoSuchOperator"
    return True


@functools.cache
def first_opsets():
    """By domain and operator: the first opset that has it."""
    first = {}
    for row in onnx.defs.get_all_schemas_with_history():
        key = row.domain, row.name
        first[key] = min(row.since_version, first.get(key, row.since_version))
    return first


def spoil_opset(model):
    """The last opset of the domain that did not have the operator yet."""
    node = model.graph.node[0]
    domain = "" if node.domain == "ai.onnx" else node.domain
    since = first_opsets()[domain, node.op_type]
    for row in model.opset_import if since > 1 else ():
        if row.domain.removeprefix("ai.onnx" if not domain else "") == domain:
            row.version = since - 1
    return since > 1


def spoil_function(model):
    """Mish is not in the opset that the function imports."""
    if not any(node.op_type == "Mish" for function in model.functions for node in function.node):
        return False
    model.functions[0].opset_import[0].version = 17
    return True


def values_of(model):
    """The array of a model of our own, and the list of its values; the list is None for raw bytes, the array where there are none."""
    tensor = model.graph.initializer[0] if model.graph.initializer else None
    if not tensor or not math.prod(tensor.dims):
        return None, None
    return tensor, None if tensor.HasField("raw_data") else getattr(tensor, onnx.helper.tensor_dtype_to_field(tensor.data_type))


def spoil_fewer(model):
    tensor, values = values_of(model)
    if tensor and values:
        del values[-1]
    elif tensor:
        tensor.raw_data = tensor.raw_data[:-1]
    return bool(tensor)


def spoil_more(model):
    tensor, values = values_of(model)
    if tensor and values:
        values.append(values[0])
    elif tensor:
        tensor.raw_data += b"\0"
    return bool(tensor)


def spoil_field(model):
    """The values are in the field of another type."""
    tensor, values = values_of(model)
    if not values:
        return False
    other = tensor.double_data if values is not tensor.double_data and tensor.data_type not in (11, 15) else tensor.int64_data
    other.extend([1] * len(values))
    del values[:]
    return True


def spoil_twice(model):
    tensor, values = values_of(model)
    if not values or tensor.data_type == onnx.TensorProto.STRING:
        return False
    tensor.raw_data = onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(tensor)).raw_data
    return True


SPOILS = [spoil_operator, spoil_opset, spoil_size, spoil_rank, spoil_type, spoil_attribute, spoil_inputs, spoil_source, spoil_output]

# Spoiled copies of a model that must be refused whatever its operator is, and those that must be when our exporter writes it.
ALWAYS = {spoil_source, spoil_output, spoil_operator, spoil_opset}
MADE_SPOILS = [spoil_function, spoil_fewer, spoil_more, spoil_field, spoil_twice]  # all must be refused
OURS = {"Add", "AveragePool", "BatchNormalization", "Clip", "Concat", "Conv", "Div", "Elu", "Erf", "Flatten", "Gelu", "Gemm",
        "GlobalAveragePool", "HardSigmoid", "Identity", "LayerNormalization", "LeakyRelu", "MatMul", "MaxPool", "Mul", "Pad",
        "ReduceMean", "Relu", "Resize", "Sigmoid", "Softmax", "Split", "Sqrt", "Sub", "Tanh", "Transpose"}
OLDEST_OPSET = 7  # of operators that our checker knows
LEAST_MODELS = 2000  # fewer: the tests were not found


def is_open(model):
    """Sizes that ONNX leaves open: how a last window that begins behind the map counts, and how products are rounded."""
    node = model.graph.node[0]
    values = {attribute.name: onnx.helper.get_attribute_value(attribute) for attribute in node.attribute}
    return (values.get("ceil_mode", 0) == 1 or values.get("keep_aspect_ratio_policy", b"stretch") != b"stretch"
            or values.get("coordinate_transformation_mode") == b"tf_crop_and_resize")


def write_made_models(folder):
    for number, (name, model) in enumerate(made_models()):
        onnx.checker.check_model(model)
        path = folder / f"made-{number:04}.onnx"
        onnx.save(model, path)
        yield Model(name, None, "", False, path)
        for spoil in MADE_SPOILS:
            copy = onnx.ModelProto.FromString(path.read_bytes())
            if spoil(copy):
                spoiled = folder / f"made-{number:04}-{spoil.__name__}.onnx"
                onnx.save(copy, spoiled)
                yield Model(name, spoil, "", True, spoiled)


def write_models(folder):
    for number, (name, model, is_whole) in enumerate(genuine_models()):
        opset = max((row.version for row in model.opset_import if row.domain in ("", "ai.onnx")), default=0)
        to_spoil = is_whole and len(model.graph.node) == 1 and opset >= OLDEST_OPSET
        operator = model.graph.node[0].op_type if to_spoil else ""
        path = folder / f"{number:04}.onnx"
        onnx.save(model, path)
        yield Model(name, None, operator, False, path)
        for spoil in SPOILS if to_spoil else []:
            copy = onnx.ModelProto.FromString(path.read_bytes())
            if spoil(copy):
                spoiled = folder / f"{number:04}-{spoil.__name__}.onnx"
                onnx.save(copy, spoiled)
                ours = operator in OURS and not (spoil is spoil_size and is_open(copy))
                yield Model(name, spoil, operator, spoil in ALWAYS or ours, spoiled)


def judge(model, status, text):
    """Whether the answer is right; None where none is demanded."""
    if not model.spoil:
        return status == "OXP_OK" and text == "same"
    refused = status == "OXP_BAD_FILE"
    return refused if refused or model.must else None


def main(program, folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    models = [*write_models(folder), *write_made_models(folder)]
    said = subprocess.run([program], input="".join(f"{model.path}\n" for model in models), capture_output=True, text=True,
                          check=True)
    counts = collections.Counter()
    for model, line in zip(models, said.stdout.splitlines(), strict=True):
        status, text = line.split("\t", 1)
        kind, right = model.spoil.__name__ if model.spoil else "genuine", judge(model, status, text)
        counts[kind, right] += 1
        if right is False:
            print(f"{kind}: {model.name} ({model.operator}): {status} {text}")
    for kind in ["genuine"] + [spoil.__name__ for spoil in SPOILS + MADE_SPOILS]:
        print(f"{kind:16} right {counts[kind, True]}, wrong {counts[kind, False]}, not noticed, nor demanded {counts[kind, None]}")
    if counts["genuine", True] < LEAST_MODELS or any(counts[key] for key in counts if key[1] is False):
        return 1
    shutil.rmtree(folder)  # thousands of files
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], pathlib.Path(sys.argv[2])))
