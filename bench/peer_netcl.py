"""netcl's own exporter: loads MODEL.netcl on its NumPy backend and exports it. usage: peer_netcl.py MODEL.netcl OUT.onnx INPUTS

The last line printed is the time of the export call alone, in seconds. Place: bench.
"""
import sys
import time

from netcl.core.device import manager
from netcl.io import export_onnx
from netcl.io.serialization import load_model

model = load_model(sys.argv[1], queue=manager.default("cpu").queue)
model.eval()
start = time.monotonic()
export_onnx(model, (1, int(sys.argv[3])), sys.argv[2])
print(time.monotonic() - start)
