"""The networks that the driver works on: the golden ones of tests/data, and random ones that are drawn from a seed."""
import dataclasses
import json
import pathlib

import numpy

# The layers of g_layernorm, whose file holds weights only: netcl can run and export it, but not save it.
LAYER_NORM = [
    {"type": "Linear", "in_features": 10, "out_features": 16},
    {"type": "LayerNorm", "normalized_shape": [16], "eps": 1e-3},
    {"type": "ReLU"},
    {"type": "Linear", "in_features": 16, "out_features": 3},
]
# Kept away from the driver: special values, where a fault may make no difference and NaN matches NaN.
LEFT_OUT = {"p_pool_nan", "z_empty"}
# The same networks as in another file.
TWINS = {"v014_cnn", "v014_mlp", "v014_nobias", "v027_cnn", "v027_mlp", "v027_nobias"}


@dataclasses.dataclass
class Network:
    name: str
    path: pathlib.Path
    shape: tuple  # of one sample
    options: list = dataclasses.field(default_factory=list)

    def words(self):
        """The words of a command line that mean this network."""
        return [self.path, "--input-shape", "x".join(map(str, self.shape)), *self.options]


def golden(data, folder):
    """Every network of tests/data that has an input beside it, and the detector, on a smaller picture."""
    found = []
    for x in sorted((data / "netcl").glob("**/*.x.npy")):
        stem = x.name[: -len(".x.npy")]
        if stem in LEFT_OUT or stem in TWINS or x.parent.name == "damaged":
            continue
        for suffix in (".netcl", ".json"):
            if (path := x.with_name(stem + suffix)).exists():
                found.append(Network(stem, path, numpy.load(x, mmap_mode="r").shape[1:]))
    layers = folder / "g_layernorm.json"
    layers.write_text(json.dumps(LAYER_NORM), encoding="utf-8")
    weights = data / "netcl" / "g_layernorm.weights.npz"
    found.append(Network("g_layernorm", weights, (10,), ["--description", layers]))
    found.append(Network("h_det26", data / "netcl" / "detector" / "h_det26.netcl", (3, 32, 32)))
    return found


class Draw:
    """A random network as a plain list of layers with netcl's class names, with the weights beside it."""

    def __init__(self, seed):
        self.random = numpy.random.default_rng(seed)
        self.layers, self.weights = [], {}

    def normal(self, *shape, scale=1.0, around=0.0):
        return (around + scale * self.random.standard_normal(shape)).astype(numpy.float32)

    def add(self, kind, arrays=None, **arguments):
        for role, array in (arrays or {}).items():
            self.weights[f"{len(self.layers)}:{role}"] = array
        self.layers.append({"type": kind, **arguments})

    def one_of(self, *values):
        return values[int(self.random.integers(len(values)))]

    def activation(self):
        kind = self.one_of("ReLU", "LeakyReLU", "Sigmoid", "Tanh", "ELU", "GELU", "HardSwish", "HardTanh", "SiLU")
        arguments = {"LeakyReLU": {"negative_slope": self.one_of(0.01, 0.1, 0.3)}, "ELU": {"alpha": self.one_of(1.0, 0.5)},
                     "GELU": {"approximate": self.one_of(True, False)}, "HardTanh": {"min_val": -0.8, "max_val": 1.2}}
        self.add(kind, **arguments.get(kind, {}))

    def linear(self, features, out):
        bias = self.one_of(True, True, False)
        arrays = {"weight": self.normal(features, out, scale=(1.5 / features) ** 0.5)}
        if bias:
            arrays["bias"] = self.normal(out, scale=0.2)
        self.add("Linear", arrays, in_features=features, out_features=out, bias=bias)
        return out

    def layer_norm(self, features):
        arrays = {"gamma": self.normal(features, scale=0.2, around=1), "beta": self.normal(features, scale=0.2)}
        self.add("LayerNorm", arrays, normalized_shape=[features], eps=self.one_of(1e-5, 1e-3))

    def convolution(self, channels, height, width):
        kernel, groups = self.one_of(1, 3, 3, 3, 5), self.one_of(1, 1, 1, 2) if channels % 2 == 0 else 1
        stride, pad = self.one_of(1, 1, 2), kernel // 2
        out, bias = groups * self.one_of(2, 3, 4, 5), self.one_of(True, True, False)
        fan = channels // groups * kernel * kernel
        arrays = {"weight": self.normal(out, channels // groups, kernel, kernel, scale=(1.5 / fan) ** 0.5)}
        if bias:
            arrays["bias"] = self.normal(out, scale=0.2)
        self.add("Conv2d", arrays, in_channels=channels, out_channels=out, kernel_size=kernel, stride=stride, pad=pad,
                 bias=bias, dilation=1, groups=groups)
        return out, (height - 1) // stride + 1, (width - 1) // stride + 1

    def batch_norm(self, channels):
        arrays = {"gamma": self.normal(channels, scale=0.2, around=1), "beta": self.normal(channels, scale=0.3),
                  "running_mean": self.normal(channels, scale=0.5),
                  "running_var": self.random.uniform(0.3, 2, channels).astype(numpy.float32)}
        self.add("BatchNorm2d", arrays, num_features=channels, momentum=0.1, eps=self.one_of(1e-5, 1e-3))

    def map_layer(self, channels, height, width):
        """One layer on a map that is not a convolution; returns the new size."""
        kind = self.one_of("BatchNorm2d", "BatchNorm2d", "MaxPool2d", "AvgPool2d", "Upsample", "PReLU", "Dropout")
        if kind == "BatchNorm2d":
            self.batch_norm(channels)
        elif kind == "PReLU":
            self.add(kind, {"alpha": self.normal(channels, scale=0.1, around=0.3)}, num_parameters=channels)
        elif kind == "Upsample":
            self.add(kind, scale_factor=2, mode=self.one_of("nearest", "bilinear"))
            return height * 2, width * 2
        elif kind == "Dropout":
            self.add(kind, p=0.5, seed=None)
        elif min(height, width) >= 4:
            self.add(kind, kernel_size=2, stride=2)
            return height // 2, width // 2
        return height, width

    def maps(self):
        shape = (self.one_of(1, 3, 4), self.one_of(8, 9, 12), self.one_of(8, 10, 13))
        channels, height, width = shape
        for _ in range(self.one_of(1, 2, 3)):
            channels, height, width = self.convolution(channels, height, width)
            height, width = self.map_layer(channels, height, width)
            self.activation()
        if self.one_of(True, False):
            self.add("GlobalAvgPool2d")
            height = width = 1
        if self.one_of(True, True, False):
            self.add("Flatten")
            self.dense(channels * height * width)
        return shape

    def dense(self, features):
        for _ in range(self.one_of(1, 2)):
            features = self.linear(features, self.one_of(4, 6, 8))
            if self.one_of(True, False):
                self.layer_norm(features)
            self.activation()
        self.linear(features, self.one_of(2, 3, 5))
        if self.one_of(True, False, False):
            self.add("Softmax")

    def rows(self):
        shape = self.one_of((6,), (12,), (3, 8))
        self.dense(shape[-1])
        return shape


def drawn(seed, folder):
    """Random network number `seed`, the same each time; its files lie in `folder`."""
    draw = Draw(seed)
    shape = draw.maps() if draw.one_of(True, True, False) else draw.rows()
    path = folder / f"random_{seed}.json"
    path.write_text(json.dumps(draw.layers), encoding="utf-8")
    numpy.savez(path.with_suffix(".npz"), **draw.weights)
    return Network(path.stem, path, shape)
