"""Plants faults: from a right model to copies with one mistake each, of the kinds that exporters and people make. A fault knows its
kind and the layer that is wrong from there on. The same model gives the same faults."""
import dataclasses

import numpy
import onnx
from onnx import helper, numpy_helper

FLOAT = onnx.TensorProto.FLOAT


@dataclasses.dataclass
class Fault:
    kind: str
    layer: str
    model: onnx.ModelProto
    error: float = 0  # one array of weights was scaled by 1 - error or 1 + error; 0: something else was done


class Planter:
    """Walks a model that onnxport wrote. `layers` are the network's layer names, in order."""

    def __init__(self, model, layers, seed):
        self.model, self.layers = model, layers
        self.random = numpy.random.default_rng(seed)
        self.arrays = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
        self.faults = []

    # --- Where a node belongs ---

    def layer_of(self, index):
        """The nodes of profile onnx carry the layer's name, those of profile netcl stand in the layers' order."""
        name = self.model.graph.node[index].name
        return name.split("/")[0] if name else self.layers[index]

    def weights_of(self, index):
        """The float arrays among a node's inputs, with their place."""
        node = self.model.graph.node[index]
        return [(place, name) for place, name in enumerate(node.input)
                if name in self.arrays and self.arrays[name].dtype == numpy.float32 and node.op_type != "Resize"]

    # --- Planting ---

    def copy(self):
        copy = onnx.ModelProto()
        copy.CopyFrom(self.model)
        return copy

    def plant(self, kind, index, edit):
        """Adds the copy that edit(graph, node) changes, unless it changes nothing."""
        model = self.copy()
        edit(model.graph, model.graph.node[index])
        if model != self.model:
            self.faults.append(Fault(kind, self.layer_of(index), model))

    def plant_array(self, kind, index, name, array, error=0.0):
        """Adds the copy in which one array of a node is another one."""
        old = self.arrays[name]
        array = numpy.ascontiguousarray(array, dtype=numpy.float32)
        if array.shape != old.shape or array.tobytes() == old.tobytes():
            return
        model = self.copy()
        next(t for t in model.graph.initializer if t.name == name).CopyFrom(numpy_helper.from_array(array, name))
        self.faults.append(Fault(kind, self.layer_of(index), model, error))

    # --- Arrays ---

    def weights(self, index):
        for _, name in self.weights_of(index):
            array = self.arrays[name]
            self.plant_array("an array zeroed", index, name, array * 0, 1)
            self.plant_array("an array scaled by 1.01", index, name, array * numpy.float32(1.01), 0.01)
            self.plant_array("an array scaled by 1.0001", index, name, array * numpy.float32(1.0001), 0.0001)
            self.plant_array("an array's sign turned", index, name, -array, 2)
            self.plant_array("an array in float16", index, name, array.astype(numpy.float16))
            self.plant_array("a value doubled", index, name, self.doubled(array))
            for axis in range(min(array.ndim, 2)):
                self.plant_array("two channels swapped", index, name, self.swapped(array, axis))
            if array.ndim == 2:
                self.plant_array("a matrix transposed" if array.shape[0] == array.shape[1] else "a matrix read by columns",
                                 index, name, array.T.reshape(array.shape))
            if array.ndim == 4:
                self.plant_array("a kernel turned by 180 degrees", index, name, array[:, :, ::-1, ::-1])
                self.plant_array("a kernel's height and width exchanged", index, name, array.transpose(0, 1, 3, 2))

    def doubled(self, array):
        changed = array.copy()
        changed.flat[int(self.random.integers(array.size))] *= 2
        return changed

    def swapped(self, array, axis):
        if array.shape[axis] < 2:
            return array
        first, second = self.random.choice(array.shape[axis], 2, replace=False)
        order = numpy.arange(array.shape[axis])
        order[[first, second]] = order[[second, first]]
        return array.take(order, axis)

    def bias(self, index):
        node = self.model.graph.node[index]
        if node.op_type in ("Conv", "Gemm", "LayerNormalization") and len(node.input) == 3:
            self.plant("a bias dropped", index, lambda graph, node: node.input.pop())

    def statistics(self, index):
        node = self.model.graph.node[index]
        if node.op_type != "BatchNormalization":
            return
        gamma, beta, mean, variance = (self.arrays[name] for name in node.input[1:])

        def exchange(first, second):
            def edit(graph, node):
                node.input[first], node.input[second] = node.input[second], node.input[first]
            return edit
        self.plant("scale and shift exchanged", index, exchange(1, 2))
        if (mean >= 0).all():
            self.plant("mean and variance exchanged", index, exchange(3, 4))
        self.plant_array("the deviation for the variance", index, node.input[4], numpy.sqrt(variance))

    def exchanged_arrays(self):
        """The weights of two layers, of one shape, in each other's place."""
        seen = {}
        for index in range(len(self.model.graph.node)):
            for place, name in self.weights_of(index):
                shape = (place, self.arrays[name].shape)
                if shape in seen and seen[shape][1] != name and self.arrays[name].size > 1:
                    first, other = seen.pop(shape)

                    def edit(graph, node, name=name, other=other):
                        for tensor in graph.initializer:
                            if tensor.name in (name, other):
                                tensor.name = other if tensor.name == name else name
                    self.plant("weights of two layers exchanged", first, edit)
                else:
                    seen[shape] = (index, name)

    # --- Attributes ---

    def attributes(self, index):
        node = self.model.graph.node[index]
        found = {a.name: helper.get_attribute_value(a) for a in node.attribute}

        def put(kind, name, value):
            def edit(graph, node):
                kept = [a for a in node.attribute if a.name != name]
                del node.attribute[:]
                node.attribute.extend([*kept, helper.make_attribute(name, value)])
            self.plant(kind, index, edit)
        pads, strides = found.get("pads"), found.get("strides")
        if pads and any(pads):
            top, left, bottom, right = pads
            put("pads shifted", "pads", [top + 1, left, bottom - 1, right] if bottom else [top, left + 1, bottom, right - 1])
            put("pads shifted", "pads", [top, left - 1, bottom, right + 1] if left else [top - 1, left, bottom + 1, right])
            put("pads left out", "pads", [0] * 4)
        if strides and max(strides) > 1:
            put("strides changed", "strides", [1] * len(strides))
        if node.op_type in ("MaxPool", "AveragePool") and max(found["kernel_shape"]) > 1:
            put("another kernel size", "kernel_shape", [k - 1 for k in found["kernel_shape"]])
        if "epsilon" in found:
            put("another epsilon", "epsilon", 1e-3 if found["epsilon"] < 5e-4 else 1e-5)
            put("another epsilon", "epsilon", found["epsilon"] * 1000)
        if node.op_type == "Resize":
            put("another interpolation", "mode", "linear" if found["mode"] == b"nearest" else "nearest")
        if node.op_type in ("LeakyRelu", "Elu", "HardSigmoid"):
            put("another slope", "alpha", found.get("alpha", 0.01) * 1.5)
            put("another slope", "alpha", 0.0)
        if node.op_type == "Gelu":
            put("another approximation", "approximate", "none" if found.get("approximate") == b"tanh" else "tanh")
        if node.op_type == "Softmax" and found.get("axis") not in (0, None):
            put("another axis", "axis", 0)
        if node.op_type == "Gemm":
            put("a factor of Gemm", "alpha", 0.5)
            if len(node.input) == 3:
                put("a factor of Gemm", "beta", 0.0)
        if found.get("group", 1) > 1:
            self.mixed_groups(index, found["group"])

    def mixed_groups(self, index, groups):
        """Groups of output channels that belong to each other's input."""
        name = self.model.graph.node[index].input[1]
        array = self.arrays[name]
        parts = array.reshape(groups, array.shape[0] // groups, *array.shape[1:])
        self.plant_array("groups exchanged", index, name, parts[::-1].reshape(array.shape))

    # --- Operators ---

    OTHER = {"Relu": ["LeakyRelu", "Abs", "Softplus"], "LeakyRelu": ["Relu", "Elu"], "Sigmoid": ["HardSigmoid", "Tanh"],
             "Tanh": ["Softsign", "Sigmoid"], "Elu": ["Relu", "Selu"], "Gelu": ["Relu"], "Erf": ["Tanh"], "Softmax": ["LogSoftmax"],
             "MaxPool": ["AveragePool"], "AveragePool": ["MaxPool"], "GlobalAveragePool": ["GlobalMaxPool"]}
    DROPPED = ("Relu", "LeakyRelu", "Sigmoid", "Tanh", "Elu", "Gelu", "Clip", "Softmax", "BatchNormalization",
               "LayerNormalization")

    def operators(self, index):
        for other in self.OTHER.get(self.model.graph.node[index].op_type, []):
            def edit(graph, node, other=other):
                keep = ("kernel_shape", "strides", "pads") if other.endswith("Pool") else ("axis",)
                kept = [a for a in node.attribute if a.name in keep]
                node.op_type = other
                del node.attribute[:]
                node.attribute.extend(kept)
            self.plant("another operator", index, edit)
        if self.model.graph.node[index].op_type in self.DROPPED:
            def drop(graph, node):
                node.op_type = "Identity"
                del node.input[1:], node.attribute[:]
            self.plant("a layer left out", index, drop)
        if self.model.graph.node[index].op_type == "Flatten":
            self.flattened_channels_last(index)

    def flattened_channels_last(self, index):
        def edit(graph, node):
            turned = helper.make_node("Transpose", [node.input[0]], ["turned"], name=f"{node.name}/turn", perm=[0, 2, 3, 1])
            node.input[0] = "turned"
            graph.node.insert(index, turned)
        self.plant("a map flattened channels last", index, edit)

    def swapped_layers(self, index):
        """A node and the one behind it, each one in and one out, in the other order. The values keep their names."""
        nodes = self.model.graph.node
        if index + 1 >= len(nodes) or nodes[index].op_type == nodes[index + 1].op_type:
            return
        second = nodes[index + 1]
        if second.input[0] != nodes[index].output[0] or "Identity" in (nodes[index].op_type, second.op_type):
            return

        def edit(graph, node):
            behind = graph.node[index + 1]
            ends = node.input[0], node.output[0], behind.output[0]
            first = onnx.NodeProto()
            first.CopyFrom(node)
            node.CopyFrom(behind)
            behind.CopyFrom(first)
            node.input[0], node.output[0] = ends[0], ends[1]
            behind.input[0], behind.output[0] = ends[1], ends[2]
        self.plant("two layers swapped", index, edit)

    # --- All ---

    def all(self):
        for index in range(len(self.model.graph.node)):
            self.weights(index)
            self.bias(index)
            self.statistics(index)
            self.attributes(index)
            self.operators(index)
            self.swapped_layers(index)
        self.exchanged_arrays()
        return self.faults
