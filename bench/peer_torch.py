"""torch.onnx.export of the network with two large layers, its weights read from MODEL.netcl. usage: peer_torch.py MODEL.netcl OUT.onnx INPUTS

The last line printed is the time of the export call alone, in seconds. Place: bench.
"""
import inspect
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
# The exporter that traces; newer versions would take another one by themselves.
tracing = {"dynamo": False} if "dynamo" in inspect.signature(torch.onnx.export).parameters else {}
start = time.monotonic()
torch.onnx.export(model, (torch.zeros(1, int(sys.argv[3])),), sys.argv[2], **tracing)
print(time.monotonic() - start)
