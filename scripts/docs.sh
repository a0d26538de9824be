#!/usr/bin/env bash
# docs.sh: prints the reference pages, the manual page and the completion of shells from the tables of build/onnxport into docs/, and the
# table of ONNX's operators from the Python package onnx, where that is in .deps/venv. With --check nothing is written; the exit status says
# whether all of them are up to date.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/common.sh

command=${ONNXPORT:-build/onnxport}
target=docs
if [ "${1:-}" = --check ]; then
  target=$(mktemp -d)
  trap 'rm -rf "$target"' EXIT
fi
mkdir -p "$target/reference"
for table in layers profiles formats engines errors; do
  "$command" $table --markdown >"$target/reference/$table.md"
done
"$command" --man >"$target/onnxport.1"
mkdir -p "$target/completion"
"$command" completion bash >"$target/completion/onnxport.bash"
"$command" completion zsh >"$target/completion/_onnxport"
"$command" completion fish >"$target/completion/onnxport.fish"
operators=src/onnx/operators_table.c
[ "$target" = docs ] || operators=$target/operators_table.c
.deps/venv/bin/python scripts/operators.py "$operators" 2>/dev/null || say "the table of operators was not compared: no package onnx in .deps/venv"

[ "$target" = docs ] && exit 0
status=0
if [ -f "$operators" ]; then
  diff -u src/onnx/operators_table.c "$operators" || status=1
fi
diff -ru docs/reference "$target/reference" || status=1
diff -u docs/onnxport.1 "$target/onnxport.1" || status=1
diff -ru docs/completion "$target/completion" || status=1
[ $status -eq 0 ] || say "the printed pages are out of date: ./dev docs"
exit $status
