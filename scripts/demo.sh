#!/usr/bin/env bash
# demo.sh: exports the example networks with build/onnxport into build/demo and proves each against ONNX Runtime on real input.
# The exit status is 0 only when every verdict is "match".
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/common.sh

command=build/onnxport
out=build/demo
mkdir -p $out

# Puts the two JSON results of a network into a row of the table.
row() { # NETWORK
  python3 - "$1" "$out/$1.export.json" "$out/$1.verify.json" <<'PYTHON'
import json, sys
name, exported, verified = sys.argv[1], json.load(open(sys.argv[2])), json.load(open(sys.argv[3]))
if "error" in verified:
    largest, verdict = "-", verified["error"]["code"]
else:
    largest, verdict = f'{max(o["max_abs"] for o in verified["outputs"]):.1e}', verified["verdict"]
print(f'{name:<10}{exported["layers"]:>8}{exported["bytes"]:>14,}{largest:>22}   {verdict}')
PYTHON
}

status=0
prove() { # NETWORK SHAPE INPUT
  say "exporting examples/$1.netcl and proving it on $3"
  $command export "examples/$1.netcl" --input-shape "$2" -o "$out/$1.onnx" --json >"$out/$1.export.json"
  $command verify "examples/$1.netcl" "$out/$1.onnx" --input-shape "$2" --input "$3" --json >"$out/$1.verify.json" ||
    status=$?
}

# A .netcl file does not hold the size of its input.
prove h_det26 3x256x256 examples/photos
prove b_cnn 3x32x32 examples/b_cnn.x.npy

printf '\n%-10s%8s%14s%22s   %s\n' network layers bytes 'largest difference' verdict
row h_det26
row b_cnn
cat <<TEXT

The models are in $out/. What to try next:
  $command inspect $out/h_det26.onnx
  $command verify examples/b_cnn.netcl --input-shape 3x32x32 --layers
  $command export YOUR.netcl -o your.onnx && $command verify YOUR.netcl your.onnx
  ./dev test
TEXT
exit $status
