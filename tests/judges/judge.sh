#!/bin/sh
# judge.sh PYTHON FOLDER COMMAND...: empties FOLDER, has COMMAND fill it with cases, and lets onnx_judge.py look at them. Exit status
# 77 (skipped) where that Python or the package `onnx` is missing.
python=$1
folder=$2
shift 2
here=$(dirname "$0")
if ! "$python" -c 'import numpy, onnx' 2>/dev/null; then
  echo "skipped: $python with the package onnx is missing; ./dev setup makes it"
  exit 77
fi
rm -rf "$folder"
mkdir -p "$folder" || exit 1
"$@"
status=$?
# The driver of the layer kinds says 77 when it could not compare with ONNX Runtime; the cases are there all the same.
[ "$status" -eq 0 ] || [ "$status" -eq 77 ] || exit 1
[ "$status" -eq 0 ] || [ -n "$(ls "$folder")" ] || exit 77 # the command said why
exec "$python" "$here/onnx_judge.py" "$folder"
