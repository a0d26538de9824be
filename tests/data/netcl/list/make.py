"""make.py: writes a network of layers that netcl runs and does not save, in the three forms that can hold its weights,
and what netcl's CPU backend computes with it: net.json and net.npz (a bare list and its arrays), parameters.npz and
parameters.json (a training checkpoint, by netcl), state.pt (PyTorch's container, written by netcl, with the names and
axes that PyTorch has), x.npy, y.npy."""
import json
import os

import numpy
import netcl.nn
from netcl.core.device import manager
from netcl.core.tensor import Tensor
from netcl.io.checkpoint import save_checkpoint
from netcl.io.interop import write_state_dict

HERE = os.path.dirname(os.path.abspath(__file__))
LAYERS = [("GroupNorm", {"num_groups": 2, "num_channels": 6, "eps": 1e-4}), ("PReLU", {"num_parameters": 6}),
          ("SiLU", {}), ("Softplus", {}), ("RMSNorm", {"dim": 9}), ("LayerNorm", {"normalized_shape": [9]}),
          ("Upsample", {"size": [10, 5], "mode": "bilinear"}), ("SwiGLU", {"dim": 5, "hidden": 4}), ("HardSigmoid", {})]
TORCH = {"gamma": "weight", "beta": "bias", "alpha": "weight"}
queue = manager.default("cpu").queue
random = numpy.random.RandomState(8)


def flat(state, before=""):
    """The arrays of a state dict with dotted names."""
    for name, value in state.items():
        if isinstance(value, dict):
            yield from flat(value, before + name + ".")
        elif isinstance(value, numpy.ndarray):
            yield before + name, value


def main():
    layers = []
    for kind, arguments in LAYERS:
        wants_queue = kind in ("GroupNorm", "PReLU", "RMSNorm", "LayerNorm", "SwiGLU")
        layers.append(getattr(netcl.nn, kind)(**arguments, **({"queue": queue} if wants_queue else {})))
    model = netcl.nn.Sequential(*layers)
    for parameter in model.parameters():
        parameter.array[...] = random.standard_normal(parameter.shape)
    arrays, torch = {}, {}
    for index, layer in enumerate(layers):
        for name, array in flat(layer.state_dict()):
            arrays["%d:%s" % (index, name)] = array
            torch["%d.%s" % (index, TORCH.get(name, name))] = array.T if "." in name else array
    numpy.savez(os.path.join(HERE, "net.npz"), **arrays)
    with open(os.path.join(HERE, "net.json"), "w") as file:
        json.dump([{"type": kind, "args": arguments} for kind, arguments in LAYERS], file)
    save_checkpoint(model.parameters(), os.path.join(HERE, "parameters"))
    write_state_dict(torch, os.path.join(HERE, "state.pt"))
    x = random.standard_normal((3, 6, 7, 9)).astype(numpy.float32)
    model.eval()
    numpy.save(os.path.join(HERE, "x.npy"), x)
    numpy.save(os.path.join(HERE, "y.npy"), numpy.asarray(model(Tensor.from_host(queue, x, backend="cpu")).array))


main()
