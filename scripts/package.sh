#!/usr/bin/env bash
# package.sh: makes an archive for any Linux and two Debian packages (the command; the library and its header) in build/package, built
# apart so that no path of this checkout is in them, and with the same bytes each time. Then unpacks and tries them.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/common.sh

say "building build-package"
configure build-package -DCMAKE_BUILD_TYPE=Release -DOXP_TESTS=OFF -DOXP_ORT_DEFAULT_LIBRARY= -DOXP_STATIC_COMMAND=ON \
  -DCMAKE_INSTALL_PREFIX=/usr -DCMAKE_INSTALL_LIBDIR=lib
build_in build-package
version=$(build-package/onnxport --version | cut -d' ' -f2)
name=onnxport-$version-linux-$(uname -m)
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
mkdir -p build/package
export SOURCE_DATE_EPOCH=0

install_component() { # COMPONENT FOLDER
  quietly cmake --install build-package --strip --component "$1" --prefix "$2"
}

# The licences of what is linked into the command ask for their texts to go with it.
add_licences() { # FOLDER
  local library
  mkdir -p "$1/share/doc/onnxport/third-party"
  for library in zlib1g-dev libdeflate-dev libjansson-dev libpng-dev libturbojpeg0-dev libstb-dev; do
    cp "/usr/share/doc/$library/copyright" "$1/share/doc/onnxport/third-party/$library"
  done
}

# What a program or library asks of the C library, as a Debian dependency.
libc_dependency() { # FILE
  printf 'libc6 (>= %s)' "$(objdump -T "$1" | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1 | cut -d_ -f2)"
}

make_deb() { # NAME FOLDER SECTION DEPENDS DESCRIPTION
  local architecture target
  architecture=$(dpkg --print-architecture)
  target=build/package/$1_${version}_$architecture.deb
  mkdir -p "$2/DEBIAN"
  sed -e "s|@NAME@|$1|; s|@VERSION@|$version|; s|@ARCHITECTURE@|$architecture|; s|@SECTION@|$3|; s|@DEPENDS@|$4|" \
    -e "s|@DESCRIPTION@|$5|; s|@KILOBYTES@|$(du -sk --exclude DEBIAN "$2" | cut -f1)|" \
    -e "s|@MAINTAINER@|the onnxport developers <onnxport@localhost>|" packaging/control.in >"$2/DEBIAN/control"
  chmod -R u=rwX,go=rX "$2"
  quietly dpkg-deb --root-owner-group --build "$2" "$target"
  say "$target"
}

make_archive() {
  install_component runtime "$stage/$name"
  install_component development "$stage/$name"
  add_licences "$stage/$name"
  cp README.md LICENSE "$stage/$name"
  chmod -R u=rwX,go=rX "$stage/$name"
  tar -C "$stage" --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -cf - "$name" | gzip -n >"build/package/$name.tar.gz"
  say "build/package/$name.tar.gz"
}

make_debs() {
  local library=$stage/library
  if ! command -v dpkg-deb >/dev/null; then
    say "no Debian packages: dpkg-deb is missing"
    return 0
  fi
  install_component runtime "$stage/command/usr"
  add_licences "$stage/command/usr"
  make_deb onnxport "$stage/command" utils "$(libc_dependency "$stage/command/usr/bin/onnxport")" \
    "exact, proven translation of trained networks to ONNX (command)"
  install_component development "$library/usr"
  make_deb libonnxport-dev "$library" libdevel "$(libc_dependency "$library/usr/lib/libonnxport.so"), zlib1g-dev, \
libdeflate-dev, libjansson-dev, libpng-dev, libturbojpeg0-dev, libstb-dev" \
    "exact, proven translation of trained networks to ONNX (library)"
}

# The command of the archive, moved, with an empty environment, on nothing but the C library.
try_archive() {
  local folder=$stage/elsewhere needed
  mkdir "$folder"
  tar -C "$folder" -xzf "build/package/$name.tar.gz"
  needed=$(readelf -d "$folder/$name/bin/onnxport" | grep -o 'NEEDED.*\[.*' | grep -vE '\[(libc|libm|ld-linux[^.]*)\.so' || true)
  [ -z "$needed" ] || die "the packed command needs more than the C library: $needed"
  env -i "$folder/$name/bin/onnxport" export examples/b_cnn.netcl --input-shape 3x32x32 -o "$folder/b_cnn.onnx" --quiet
  build-package/onnxport export examples/b_cnn.netcl --input-shape 3x32x32 -o "$folder/again.onnx" --quiet
  cmp "$folder/b_cnn.onnx" "$folder/again.onnx"
  ! grep -qF "$PWD" "$folder/$name/bin/onnxport" "$folder/$name"/lib/lib* || die "a path of this checkout is in the package"
}

make_archive
make_debs
try_archive
