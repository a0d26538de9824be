#!/usr/bin/env bash
# setup.sh: brings a fresh machine to where everything can be built and tested. Safe to repeat: what is here is left alone, and
# a second run does nothing and needs no network. Everything that is not a system package goes to .deps/.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/common.sh

quiet=false
wanted=(demo test lint) # beside what is needed to build
for word in "$@"; do
  case $word in
    --quiet) quiet=true ;;
    --demo) wanted=(demo) ;;
    --test) wanted=(demo test) ;;
    --cross | --fuzz | --peers) wanted+=("${word#--}") ;;
    *) die "setup.sh does not know \"$word\"" ;;
  esac
done

is_wanted() { # PURPOSE
  case " ${wanted[*]} " in *" $1 "*) ;; *) return 1 ;; esac
}

deps=$PWD/.deps
python=$deps/venv/bin/python

ort_version=1.32.0
case $(uname -m) in
  x86_64)
    machine=x86_64
    wheel_sha256=5a34fc4dfeb5a7b4a74c95dcba1e773d722abda720b474edf1b0c419dc6d163d
    library_sha256=6c1585d1bbf45b0712ea4a21b705c5fcb4ba04ff2e30f1fbf81a49faf658638f
    npm_machine=x64
    npm_library_sha256=ffb75a925ba05e47b235bb66e3e3911714a80b328a9c9425539feb204aa32a23
    ;;
  aarch64 | arm64)
    machine=aarch64
    wheel_sha256=2303372a85299b6757b0e11e1cbf13e410ddf7e10c37f4b37e99d1c90e7daf7c
    library_sha256=49852228a93995158b2a813d4df487d47a1b76b0eaa894507ef49e91b6d7954a
    npm_machine=arm64
    npm_library_sha256=1f549d46250b005580b597f4164984aaf75b3bcb9f3aeb07c7f8a8fe60b23c76
    ;;
  *) machine= ;;
esac

# --- System packages ---

can_install() {
  command -v apt-get >/dev/null || return 1
  [ "$(id -u)" -eq 0 ] && return 0
  command -v sudo >/dev/null || return 1
  sudo -n true 2>/dev/null || [ -t 0 ]
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

install_packages() {
  local missing
  missing=$(missing_packages build "${wanted[@]}" | tr '\n' ' ')
  [ -n "$missing" ] || return 0
  if can_install; then
    say "installing packages: ${missing% }"
    # shellcheck disable=SC2086  # a list of words
    quietly as_root env DEBIAN_FRONTEND=noninteractive sh -c \
      'apt-get update -q && apt-get install -y -q --no-install-recommends "$@"' sh $missing ||
      say "the packages could not be installed"
  else
    say "not allowed to install packages here (no root, no sudo); whoever may has to run this line:"
    printf 'apt-get install -y --no-install-recommends %s\n' "${missing% }" >&2
  fi
  missing=$(missing_packages build | tr '\n' ' ')
  [ -z "$missing" ] || die "cannot build without these packages: ${missing% }"
  missing=$(missing_packages "${wanted[@]}" | tr '\n' ' ')
  [ -z "$missing" ] || say "going on without ${missing% }: what needs them is skipped and says so"
}

# --- What comes from the network ---

offline=false

# Runs a command that fetches something and shows its output only when it fails. Where there is no network the first command finds
# out, and the others of this run are not tried; the next run tries again.
fetch() {
  local log status=0
  $offline && return 1
  log=$(mktemp)
  "$@" >"$log" 2>&1 || status=$?
  if [ "$status" -ne 0 ] && grep -qE 'NewConnectionError|NameResolutionError|ConnectTimeout|ENOTFOUND|EAI_AGAIN|ENETUNREACH|ETIMEDOUT' "$log"; then
    offline=true
    say "the network cannot be reached; what is missing is fetched by the next run that can"
  elif [ "$status" -ne 0 ]; then
    cat "$log" >&2
  fi
  rm -f "$log"
  return "$status"
}

# pip of .deps/venv, or the system's where that could not be made.
run_pip() {
  local with=python3
  [ -x "$python" ] && with=$python
  "$with" -m pip "$@" -q --disable-pip-version-check --retries 2 --timeout 60
}

# --- ONNX Runtime: one library of an official wheel, or of the Node package ---

has_sha256() { # FILE SUM
  [ -f "$1" ] && [ "$(sha256sum <"$1")" = "$2  -" ]
}

# Puts a library in place under its full name and the name that everything looks for.
place_runtime() { # FILE VERSION
  mkdir -p "$deps/onnxruntime"
  mv "$1" "$deps/onnxruntime/libonnxruntime.so.$2"
  ln -sf "libonnxruntime.so.$2" "$deps/onnxruntime/libonnxruntime.so.1"
}

fetch_wheel() { # FOLDER
  printf 'onnxruntime==%s --hash=sha256:%s\n' "$ort_version" "$wheel_sha256" >"$1/requirements.txt"
  fetch run_pip download --no-deps --require-hashes --only-binary=:all: --python-version 3.11 \
    --platform "manylinux_2_28_$machine" -d "$1" -r "$1/requirements.txt" || return 1
  python3 -m zipfile -e "$1"/onnxruntime-*.whl "$1/wheel" || return 1
  has_sha256 "$1/wheel/onnxruntime/capi/libonnxruntime.so.$ort_version" "$library_sha256" || {
    say "the ONNX Runtime library in the wheel is not the expected one (sha256)"
    return 1
  }
  place_runtime "$1/wheel/onnxruntime/capi/libonnxruntime.so.$ort_version" "$ort_version"
  cp "$1/wheel/onnxruntime/LICENSE" "$1/wheel/onnxruntime/ThirdPartyNotices.txt" "$deps/onnxruntime/"
}

fetch_npm() { # FOLDER
  command -v npm >/dev/null || return 1
  local inner=package/bin/napi-v6/linux/$npm_machine/libonnxruntime.so.1
  fetch npm pack onnxruntime-node@1.30.0 --silent --pack-destination "$1" || return 1
  tar xzf "$1/onnxruntime-node-1.30.0.tgz" -C "$1" "$inner" || return 1
  has_sha256 "$1/$inner" "$npm_library_sha256" || {
    say "the ONNX Runtime library in the Node package is not the expected one (sha256)"
    return 1
  }
  place_runtime "$1/$inner" 1.30.0
}

install_runtime() {
  [ -f "$deps/onnxruntime/libonnxruntime.so.1" ] && return 0
  if [ -z "$machine" ]; then
    say "there is no ONNX Runtime for $(uname -m) here; what needs it says so"
    return 0
  fi
  say "fetching ONNX Runtime"
  local folder
  folder=$(mktemp -d "$deps/fetch.XXXXXX")
  fetch_wheel "$folder" || fetch_npm "$folder" ||
    say "ONNX Runtime could not be fetched (neither with pip nor with npm); everything builds and exports without it"
  rm -rf "$folder"
}

# --- Python packages that judge the results of the tests ---

make_venv() {
  [ -x "$python" ] && "$python" -m pip --version >/dev/null 2>&1 && return 0
  is_here py:ensurepip || return 0
  say "making .deps/venv"
  rm -rf "$deps/venv"
  quietly python3 -m venv "$deps/venv" || say "python3 -m venv failed; tests that need Python packages are skipped"
}

# Installs one requirements file once.
install_judges() { # NAME
  local list=tests/judges/$1.txt mark
  mark=$deps/venv/judges-$1-$(sha256sum <"$list" | cut -c1-16).done
  [ -x "$python" ] && [ ! -e "$mark" ] && ! $offline || return 0
  say "installing the Python packages of tests/judges/$1.txt into .deps/venv"
  if fetch run_pip install --only-binary=:all: -r "$list"; then
    touch "$mark"
  else
    say "without them the tests that need them are skipped"
  fi
}

# --- Weights of a real network, for a test ---

fetch_doritex() {
  local target=$deps/doritex/doritex-v1.npz folder
  [ ! -f "$target" ] && ! $offline || return 0
  say "fetching the weights of doritex"
  mkdir -p "$deps/doritex"
  folder=$(mktemp -d "$deps/fetch.XXXXXX")
  printf 'doritex==0.1.0 --hash=sha256:%s\n' 3ee043d251986d7f2b7fb2f210df09b4246e9ebdf8e83d416b23be884706520d >"$folder/list"
  if fetch run_pip download --no-deps --require-hashes -d "$folder" -r "$folder/list" &&
    python3 -m zipfile -e "$folder"/doritex-*.whl "$folder/wheel" &&
    has_sha256 "$folder/wheel/doritex/weights/doritex-v1.npz" a7d252904272b35022d9f25a00571243a8d601ed47460604b2d04c756c99ea62; then
    mv "$folder/wheel/doritex/weights/doritex-v1.npz" "$target"
  else
    say "without them the tests of a real network are skipped"
  fi
  rm -rf "$folder"
}

install_packages
mkdir -p "$deps"
make_venv
install_runtime
if is_wanted test; then
  install_judges onnx
  install_judges netcl
  fetch_doritex
fi
$quiet || say "ready: ./dev demo, ./dev test"
