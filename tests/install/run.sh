#!/usr/bin/env bash
# run.sh BUILD SOURCE SANITIZE: installs BUILD into a folder below the current one and builds and runs three programs against it:
# C with the shared and the static library (found by CMake and by pkg-config), and C++17. Exit status 77: no C++ compiler.
set -euo pipefail
build=$1 source=$2 sanitize=$3
command -v c++ >/dev/null || {
  echo "skipped: a C++ compiler is missing"
  exit 77
}

prefix=$PWD/installed work=$PWD/consumer-build
rm -rf "$prefix" "$work"
cmake --install "$build" --prefix "$prefix" >/dev/null
for file in bin/onnxport include/onnxport.h share/man/man1/onnxport.1 \
  share/bash-completion/completions/onnxport share/zsh/site-functions/_onnxport share/fish/vendor_completions.d/onnxport.fish; do
  test -s "$prefix/$file"
done

cmake -S "$source/tests/install/consumer" -B "$work" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DEXAMPLES="$source/examples" \
  -DCMAKE_C_FLAGS="$sanitize" -DCMAKE_CXX_FLAGS="$sanitize" >/dev/null
ninja -C "$work" >/dev/null

# Without a runtime the programs say that it is not available (6) after they have written the model.
prove() { # PROGRAM MODEL
  local status=0
  rm -f "$2"
  "$1" "$2" || status=$?
  test -s "$2"
  [ "$status" -eq 0 ] || { [ "$status" -eq 6 ] && [ -z "${ONNXPORT_ORT_LIBRARY:-}" ]; }
}
prove "$work/mlp" mlp.onnx
prove "$work/mlp_static" mlp-static.onnx
cmp mlp.onnx mlp-static.onnx
"$work/use" "$source/tests/data/netcl/a_mlp.netcl"

pc=$(find "$prefix" -name onnxport.pc)
export PKG_CONFIG_PATH=${pc%/*}
# shellcheck disable=SC2046,SC2086  # lists of options
cc $sanitize "$source/examples/mlp.c" -o mlp-pc $(pkg-config --cflags --libs onnxport)
LD_LIBRARY_PATH=$(pkg-config --variable=libdir onnxport)
export LD_LIBRARY_PATH
prove ./mlp-pc mlp-pc.onnx
readelf -d mlp-pc | grep -q 'NEEDED.*libonnxport\.so\.0\]'

# Nothing but the public names leaves the shared library.
if nm -D --defined-only "$LD_LIBRARY_PATH/libonnxport.so" | awk '$2 ~ /[A-Z]/ { print $3 }' | grep -v '^oxp_[a-z]'; then
  exit 1
fi

# What was installed can be removed, as the README says.
xargs rm -f <"$build/install_manifest.txt"
[ -z "$(find "$prefix" ! -type d)" ]
