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
prove() { # NETWORK INPUT...
  local name=$1
  shift
  say "exporting examples/$name.netcl and proving it on $*"
  $command export "examples/$name.netcl" -o "$out/$name.onnx" --json >"$out/$name.export.json"
  $command verify "examples/$name.netcl" "$out/$name.onnx" --input "$@" --json >"$out/$name.verify.json" || status=$?
}

prove h_det26 examples/photos
prove b_cnn examples/b_cnn.x.npy

printf '\n%-10s%8s%14s%22s   %s\n' network layers bytes 'largest difference' verdict
row h_det26
row b_cnn
cat <<TEXT

The models are in $out/. What to try next:
  $command inspect $out/h_det26.onnx
  $command verify examples/h_det26.netcl $out/h_det26.onnx --input examples/photos --layers
  $command export YOUR.netcl -o your.onnx && $command verify YOUR.netcl your.onnx
  ./dev test
TEXT
exit $status
