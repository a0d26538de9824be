#!/usr/bin/env bash
# get.sh: fetches what run.sh needs into .deps/cross/: the compiler, and the sources of the libraries as Debian has them. Touches
# nothing of the system: the package lists are copies of its own. Safe to repeat.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/../.."
. scripts/common.sh

cross=$PWD/.deps/cross
# As the release had them: security archives drop an older version the day a newer one comes, before lists everywhere know it.
release=$(. /etc/os-release && echo "$VERSION_CODENAME")
libraries=("zlib/$release" "libdeflate/$release" "jansson/$release" "cmocka/$release")

get_compiler() {
  [ -z "$(find "$cross/venv/lib" -path '*/site-packages/ziglang/zig' 2>/dev/null)" ] || return 0
  say "installing the compiler for other machines into .deps/cross/venv (440 MB)"
  python3 -m venv "$cross/venv"
  quietly "$cross/venv/bin/python" -m pip install -q --disable-pip-version-check --require-hashes --only-binary=:all: \
    -r tests/cross/requirements.txt
}

# The system's own lists of sources, with source packages in place of binary ones.
list_sources_of_packages() {
  find /etc/apt -name '*.sources' -exec sed 's/^Types:.*/Types: deb-src/' {} + >"$1/etc/list.sources"
  find /etc/apt -name '*.list' -exec sed -n 's/^deb /deb-src /p' {} + >"$1/etc/list.list"
}

get_sources() {
  [ ! -e "$cross/sources/complete" ] || return 0
  say "fetching the sources of ${libraries[*]}"
  local apt=$cross/apt
  rm -rf "$apt" "$cross/sources"
  mkdir -p "$apt/lists/partial" "$apt/etc" "$apt/archives" "$cross/sources"
  list_sources_of_packages "$apt"
  local options=(-q -o "Dir::Etc::SourceList=/dev/null" -o "Dir::Etc::SourceParts=$apt/etc" -o "Dir::State::Lists=$apt/lists"
    -o Dir::Cache::srcpkgcache= -o Dir::Cache::pkgcache=)
  # A list of some vendor without source packages must not stop this; whether all is well shows in the next step.
  apt-get "${options[@]}" update >/dev/null 2>&1 || true
  (cd "$apt/archives" && quietly apt-get "${options[@]}" source --download-only "${libraries[@]}")
  for archive in "$apt"/archives/*.orig.tar.?z*; do
    [[ $archive != *.asc ]] || continue
    tar xf "$archive" -C "$cross/sources"
  done
  rm -rf "$apt"
  touch "$cross/sources/complete"
}

mkdir -p "$cross"
get_compiler
get_sources
