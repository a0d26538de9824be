#!/usr/bin/env bash
# lint.sh: format, structure, warnings of clang (gcc's were errors in the build before), cppcheck, shellcheck, printed pages.
# All checks run; the exit status says whether one failed.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
. scripts/common.sh

failed=()
check() { # NAME COMMAND...
  local name=$1
  shift
  say "$name"
  "$@" || failed+=("$name")
}

format() { list_sources | xargs -0 clang-format --dry-run -Werror; }

clang_warnings() {
  configure build-clang -DOXP_WERROR=ON -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=Debug && build_in build-clang -k0
}

# arrayIndexThenCheck takes any comparison of a loop's other variable for a late check of bounds.
cppcheck_sources() {
  quietly cppcheck -q --std=c11 --language=c --enable=warning,portability,performance --inline-suppr --error-exitcode=1 \
    --suppress=missingIncludeSystem --suppress=arrayIndexThenCheck -j "$(cores)" -I include -I src \
    -DOXP_ORT_DEFAULT_LIBRARY='""' src examples/*.c
}

shell_scripts() { git ls-files -z dev .ci/run '*.sh' | xargs -0 shellcheck -x; }

check format format
check structure python3 scripts/check_source.py
check "warnings of clang" clang_warnings
check cppcheck cppcheck_sources
check "shell scripts" shell_scripts
check "printed pages" bash scripts/docs.sh --check

[ ${#failed[@]} -eq 0 ] || die "failed: ${failed[*]}"
say "lint: nothing found"
