"""layers_judge.py ONNXPORT FOLDER: random chains of the layers that the genuine netcl package runs and does not save, as
bare lists. What the reference engine computes must be what netcl's CPU backend computes, and ONNX Runtime must agree
with the exported model. Exit status 77 (skipped) without netcl. ConvTranspose2d is not here: that backend cannot run it."""
import inspect
import json
import os
import shutil
import subprocess
import sys

try:
    import numpy
    import netcl.nn
    from netcl.core.device import manager
    from netcl.core.tensor import Tensor
except ImportError as missing:
    print("SKIP: netcl cannot be imported (%s)" % missing)
    sys.exit(77)

CHAINS, LENGTH, TOLERANCE = 12, 5, 2e-5  # of the output's scale: five layers in float32, upsampled coordinates among them
queue = manager.default("cpu").queue


def draw(random, shape):
    """A random layer for an input of that shape: its class and its arguments."""
    channels, height, width = shape[1:]
    whole = lambda low, high: int(random.randint(low, high + 1))
    eps = float(random.choice([1e-5, 1e-3]))
    size = [whole(3, 17), whole(3, 17)]
    choices = [("GroupNorm", {"num_groups": int(random.choice([g for g in range(1, channels + 1) if channels % g == 0])),
                              "num_channels": channels, "eps": eps}),
               ("PReLU", {"num_parameters": channels}), ("SiLU", {}), ("Softplus", {}), ("HardSigmoid", {}),
               ("HardSwish", {}), ("ELU", {"alpha": float(random.uniform(0.1, 2))}), ("GELU", {}), ("Softmax", {}),
               ("HardTanh", {"min_val": -0.5, "max_val": 2.0}), ("RMSNorm", {"dim": width, "eps": eps}),
               ("LayerNorm", {"normalized_shape": [width], "eps": eps}),
               ("SwiGLU", {"dim": width, "hidden": whole(1, 12), "bias": bool(whole(0, 1))}),
               ("DepthwiseConv2d", {"channels": channels, "kernel_size": 3, "stride": whole(1, 2), "pad": whole(1, 2),
                                    "bias": bool(whole(0, 1))}),
               ("Upsample", {"size": size, "mode": "nearest"}),
               ("Upsample", {"size": size, "mode": "bilinear", "align_corners": bool(whole(0, 1))}),
               ("Upsample", {"scale_factor": float(random.choice([2, 3, 1.5])), "mode": "bilinear",
                             "align_corners": bool(whole(0, 1))})]
    if min(height, width) > 5:
        choices.append(("AvgPool2d", {"kernel_size": 2, "stride": whole(1, 3)}))
    return choices[whole(0, len(choices) - 1)]


def arrays(state, before):
    for name, value in state.items():
        if isinstance(value, dict):
            yield from arrays(value, before + name + ".")
        elif isinstance(value, numpy.ndarray):
            yield before + name, value


def chain(seed, stem):
    """Writes STEM.json, STEM.npz and STEM.x.npy; returns netcl's output and the names of the classes."""
    random = numpy.random.RandomState(seed)
    shape = (2, int(random.choice([2, 4, 6])), random.randint(4, 10), random.randint(4, 10))
    x = random.standard_normal(shape).astype(numpy.float32)
    layers, stored, value = [], {}, Tensor.from_host(queue, x, backend="cpu")
    for index in range(LENGTH):
        kind, arguments = draw(random, value.shape)
        constructor = getattr(netcl.nn, kind)
        wants_queue = "queue" in inspect.signature(constructor).parameters
        layer = constructor(**arguments, **({"queue": queue} if wants_queue else {}))
        for parameter in layer.parameters():
            parameter.array[...] = random.standard_normal(parameter.shape)
        layer.eval()
        value = layer(value)
        layers.append({"type": kind, "args": arguments})
        stored.update(arrays(layer.state_dict(), "%d:" % index))
    with open(stem + ".json", "w") as file:
        json.dump(layers, file)
    numpy.savez(stem + ".npz", **stored)
    numpy.save(stem + ".x.npy", x)
    return numpy.asarray(value.array), [layer["type"] for layer in layers]


def judge(command, seed, folder):
    stem = os.path.join(folder, "chain_%d" % seed)
    expected, kinds = chain(seed, stem)
    x = numpy.load(stem + ".x.npy")
    size = "x".join(map(str, x.shape[1:]))
    for engine in ("reference", "ort:cpu"):
        run = subprocess.run([command, "run", stem + ".json", "--input-shape", size, "-i", stem + ".x.npy",
                              "-o", stem + ".y.npy", "--engine", engine], capture_output=True, text=True)
        if run.returncode == 6 and engine != "reference":
            continue  # no runtime here
        if run.returncode != 0:
            return ["chain %d %s on %s: %s" % (seed, kinds, engine, run.stderr.strip())]
        actual = numpy.load(stem + ".y.npy")
        if actual.shape != expected.shape:
            return ["chain %d %s on %s: shape %s, netcl %s" % (seed, kinds, engine, actual.shape, expected.shape)]
        worst, scale = float(numpy.abs(actual - expected).max()), float(numpy.abs(expected).max())
        print("chain %-3d %-10s off by %.1e of %.1e  %s" % (seed, engine, worst, scale, " ".join(kinds)))
        if not worst <= TOLERANCE * max(1, scale):
            return ["chain %d %s on %s: off by %g" % (seed, kinds, engine, worst)]
    return []


def main(command, folder):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    faults = [fault for seed in range(CHAINS) for fault in judge(command, seed, folder)]
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
