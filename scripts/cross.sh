#!/usr/bin/env bash
# cross.sh: builds onnxport for other machines and compares it with build/onnxport. Without names: all targets of tests/cross.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/common.sh

bash scripts/setup.sh --quiet --cross
bash tests/cross/get.sh

targets=("$@")
[ $# -gt 0 ] || mapfile -t targets < <(sed -n 's/^ *\([a-z0-9]*-[a-z0-9-]*\)[ )].*/\1/p' tests/cross/CMakeLists.txt)
failed=()
for target in "${targets[@]}"; do
  status=0
  bash tests/cross/run.sh "$target" "$PWD/build/onnxport" || status=$?
  [ "$status" -eq 0 ] || failed+=("$target")
done
[ ${#failed[@]} -eq 0 ] || die "failed or not run: ${failed[*]}"
