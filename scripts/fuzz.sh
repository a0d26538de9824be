#!/usr/bin/env bash
# fuzz.sh: builds the fuzz targets with clang and runs them, two at a time, at the lowest priority: fuzz.sh [MINUTES] [TARGET...]
# (10 minutes each, all targets). What a run learns is kept in build-fuzz/corpus, inputs that fail in build-fuzz/findings.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/common.sh

minutes=10
case ${1:-} in
  [1-9]*)
    minutes=$1
    shift
    ;;
esac
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(zip_npy netcl pt onnx json path build image)

need_tools build fuzz
say "building the fuzz targets in build-fuzz"
configure build-fuzz -DCMAKE_C_COMPILER=clang -DOXP_SANITIZE=ON -DOXP_FUZZ=ON
build_in build-fuzz tests/fuzz/all

# Limits are part of what is tested: half a gigabyte with the sanitizers' own needs, ten seconds for an input of 64 kB.
run_target() { # TARGET
  local corpus=build-fuzz/corpus/$1 findings=build-fuzz/findings/ largest=64
  [ "$1" != image ] || largest=256 # the library's own limit is 64 Mi pixels
  mkdir -p "$corpus" "$findings"
  ASAN_OPTIONS=quarantine_size_mb=64 nice -n 19 "build-fuzz/tests/fuzz/fuzz_$1" -max_total_time=$((minutes * 60)) \
    -rss_limit_mb=512 -malloc_limit_mb=$largest -timeout=10 -max_len=65536 \
    -dict="tests/fuzz/dictionaries/$1.dict" -artifact_prefix="$findings$1-" -print_final_stats=1 \
    "$corpus" "tests/fuzz/corpus/$1" >"build-fuzz/$1.log" 2>&1
}

failed=0
for ((i = 0; i < ${#targets[@]}; i += 2)); do
  running=()
  for target in "${targets[@]:i:2}"; do
    say "$target: $minutes minutes (build-fuzz/$target.log)"
    run_target "$target" &
    running+=("$!:$target")
  done
  for pair in "${running[@]}"; do
    wait "${pair%%:*}" || {
      failed=1
      tail -n 25 "build-fuzz/${pair#*:}.log" >&2
    }
  done
done
[ "$failed" -eq 0 ] || die "a target found something: see build-fuzz/findings"
say "no findings"
