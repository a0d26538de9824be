# shellcheck shell=bash
# common.sh: what the scripts of ./dev share: messages, the list of packages, configuring. Sourced, from the project's root.

say() { printf '== %s\n' "$*" >&2; }
die() {
  printf 'dev: %s\n' "$*" >&2
  exit 1
}

# One line per package: name in Debian, what it is for (demo: beside building; test includes demo), how to see that it is here (a command, or pc:MODULE).
packages() {
  cat <<'TABLE'
gcc              build     cc
cmake            build     cmake
ninja-build      build     ninja
pkg-config       build     pkg-config
libc6-dev        build     /usr/include/stdlib.h
zlib1g-dev       build     pc:zlib
libdeflate-dev   build     pc:libdeflate
libjansson-dev   build     pc:jansson
libpng-dev       build     pc:libpng
libturbojpeg0-dev build    pc:libturbojpeg
libstb-dev       build     pc:stb
libcmocka-dev    test      pc:cmocka
g++              test      c++
python3          demo      python3
python3-venv     demo      py:ensurepip
graphviz         test      dot
libclang-rt-14-dev fuzz    rt:fuzzer
clang            fuzz      clang
git              lint      git
clang            lint      clang
clang-format     lint      clang-format
cppcheck         lint      cppcheck
shellcheck       lint      shellcheck
qemu-user        cross     qemu-s390x
unzip            peers     unzip
python3-torch    peers     /usr/lib/python3/dist-packages/torch
python3-onnx     peers     /usr/lib/python3/dist-packages/onnx
TABLE
}

is_here() { # PROBE
  case $1 in
    pc:*) command -v pkg-config >/dev/null && pkg-config --exists "${1#pc:}" ;;
    py:*) command -v python3 >/dev/null && python3 -c "import ${1#py:}" 2>/dev/null ;;
    rt:*) clang -fsanitize="${1#rt:}" -x c -o /dev/null - <<<'int LLVMFuzzerTestOneInput(void) { return 0; }' 2>/dev/null ;;
    /*) [ -e "$1" ] ;;
    *) command -v "$1" >/dev/null ;;
  esac
}

# The packages of some purposes that are not here, one a line.
missing_packages() { # PURPOSE...
  local package purpose probe
  packages | while read -r package purpose probe; do
    case " $* " in
      *" $purpose "*) is_here "$probe" || printf '%s\n' "$package" ;;
    esac
  done
}

# Stops with the exact names when something is missing.
need_tools() { # PURPOSE...
  local missing
  missing=$(missing_packages "$@" | tr '\n' ' ')
  [ -z "$missing" ] || die "these packages are missing: ${missing% } (./dev setup installs them)"
}

# How many processors there are for us: a container may be given less than the machine has.
cores() {
  local quota period
  if read -r quota period 2>/dev/null </sys/fs/cgroup/cpu.max && [ "$quota" != max ] &&
    [ $((quota / period)) -lt "$(nproc)" ]; then
    printf '%d\n' $((quota > period ? quota / period : 1))
  else
    nproc
  fi
}

# Runs a command and shows its output only when it fails.
quietly() {
  local log status=0
  log=$(mktemp)
  "$@" >"$log" 2>&1 || status=$?
  [ "$status" -eq 0 ] || cat "$log" >&2
  rm -f "$log"
  return "$status"
}

build_in() { # FOLDER TARGET...
  local folder=$1
  shift
  quietly ninja -C "$folder" -j "$(cores)" "$@"
}

configure() { # FOLDER OPTION...
  local folder=$1
  shift
  quietly cmake -S . -B "$folder" -G Ninja "$@"
}

# All C and C++ files of the project, ended by zero bytes.
list_sources() {
  find include src tests examples bench -type f \( -name '*.c' -o -name '*.h' -o -name '*.cc' \) -print0
}
