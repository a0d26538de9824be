#!/usr/bin/env bash
# package.sh: a binary archive, built apart so that no path of this checkout is in it, and with the same bytes each time.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/common.sh

say "building build-package"
configure build-package -DCMAKE_BUILD_TYPE=Release -DOXP_TESTS=OFF -DOXP_ORT_DEFAULT_LIBRARY= -DCMAKE_INSTALL_PREFIX=/usr
quietly ninja -C build-package
version=$(build-package/onnxport --version | cut -d' ' -f2)
name=onnxport-$version-linux-$(uname -m)
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
DESTDIR=$stage/$name quietly cmake --install build-package --strip
mkdir -p build/package
tar -C "$stage" --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -cf - "$name" | gzip -n >"build/package/$name.tar.gz"
say "build/package/$name.tar.gz"
