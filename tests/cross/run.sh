#!/usr/bin/env bash
# run.sh: builds onnxport for another machine, compares what it does with the one built for this machine, and runs the unit tests and
# the corpora of the fuzz targets there.
#
# usage: run.sh TARGET ONNXPORT      TARGET is what the compiler calls the machine, ONNXPORT the native command
#
# Everything that is built stays in .deps/cross/ and build-cross/. Exit status 77: what is needed is not here (./dev cross installs it).
set -euo pipefail
target=$1 native=$2
here=$(dirname "$(readlink -f "$0")")
cd "$here/../.."
. scripts/common.sh

cross=$PWD/.deps/cross
build=$PWD/build-cross/$target

skip() {
  say "skipped: $* (./dev cross installs it)"
  exit 77
}

case $target in
  s390x-linux-*) emulator=(qemu-s390x) ;;
  powerpc-linux-*) emulator=(qemu-ppc) ;;
  x86-linux-*) emulator=(qemu-i386) ;;
  arm-linux-*) emulator=(qemu-arm) ;;
  wasm32-wasi*) emulator=(node --no-warnings "$here/wasi.mjs") ;;
  *) die "there is no emulator for $target" ;;
esac

zig=$(find "$cross/venv/lib" -path '*/site-packages/ziglang/zig' 2>/dev/null || true)
[ -n "$zig" ] || skip "the compiler is missing"
command -v "${emulator[0]}" >/dev/null || skip "${emulator[0]} is missing"
[ "${emulator[0]}" != node ] || node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)' || skip "Node 20 is missing"
[ -e "$cross/sources/complete" ] || skip "the sources of the libraries are missing"

wrapper() { # NAME WORDS...
  local file=$cross/bin/$1
  shift
  mkdir -p "$cross/bin"
  printf '#!/bin/sh\nexec %s "$@"\n' "$*" >"$file.new"
  chmod +x "$file.new"
  if cmp -s "$file.new" "$file"; then rm "$file.new"; else mv "$file.new" "$file"; fi
}

configure_cross() { # SOURCE BUILD OPTION...
  local source=$1 folder=$2
  shift 2
  quietly cmake -S "$source" -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Release "-DCMAKE_TOOLCHAIN_FILE=$here/cmake/toolchain.cmake" \
    "-DOXP_TARGET=$target" "-DOXP_CROSS=$cross" "$@"
}

build_libraries() {
  [ ! -e "$cross/$target/complete" ] || return 0
  say "building the libraries for $target"
  configure_cross "$here/deps" "$cross/$target/build" "-DSOURCES=$cross/sources" "-DCMAKE_INSTALL_PREFIX=$cross/$target"
  build_in "$cross/$target/build" install
  touch "$cross/$target/complete"
}

wrapper "cc-$target" "$zig" cc -target "$target"
wrapper ar "$zig" ar
wrapper ranlib "$zig" ranlib
build_libraries
say "building onnxport for $target"
tests=ON goals=(all)
[[ $target != wasm* ]] || tests=OFF goals=(onnxport) # the tests jump out of functions, which is not possible there
configure_cross . "$build" -DOXP_MINIMAL=ON "-DOXP_TESTS=$tests" "-DOXP_EMULATOR=${emulator[0]}"
build_in "$build" "${goals[@]}"
program=$(find "$build" -maxdepth 1 -name onnxport -o -maxdepth 1 -name onnxport.wasm)
say "comparing it with $native"
python3 "$here/compare.py" --native "$native" --data tests/data/netcl --work "$build/compare" -- "${emulator[@]}" "$program"

if [ $tests = ON ]; then
  say "running the tests"
  quietly ctest --test-dir "$build" --output-on-failure
  ctest --test-dir "$build" -N | sed -n 's/^Total Tests: \(.*\)/\1 test programs passed/p'
fi
