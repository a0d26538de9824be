"""torch.onnx.export of the network with two large layers, its weights read from MODEL.netcl. usage: peer_torch.py MODEL.netcl OUT.onnx INPUTS

The last line printed is the time of the export call alone, in seconds. Place: bench.
"""
import sys
import time

import numpy
import torch

archive = numpy.load(sys.argv[1])
layers = []
for index in (0, 1):
    weight = archive[f"{index}:weight"]
    layer = torch.nn.utils.skip_init(torch.nn.Linear, *weight.shape)
    layer.weight = torch.nn.Parameter(torch.from_numpy(weight.T))
    layer.bias = torch.nn.Parameter(torch.from_numpy(archive[f"{index}:bias"]))
    layers.append(layer)
model = torch.nn.Sequential(*layers).eval()
start = time.monotonic()
torch.onnx.export(model, (torch.zeros(1, int(sys.argv[3])),), sys.argv[2], dynamo=False)
print(time.monotonic() - start)
