#!/usr/bin/env bash
# test.sh: runs the tests of build-asan and ends with one line that counts them. Further arguments go to ctest.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
. scripts/common.sh

folder=build-asan
status=0
ctest --test-dir $folder --output-on-failure --output-junit "$PWD/$folder/junit.xml" -j "$(nproc)" "$@" || status=$?

count() { # ATTRIBUTE of the test suite in the report
  grep -m1 -o "$1=\"[0-9]*\"" $folder/junit.xml | tr -dc 0-9
}
total=$(count tests) failed=$(count failures) skipped=$(count skipped)
# Unit tests may skip single cases (a package or a library that is not here).
inside=$(grep -c '^\[  SKIPPED \]' $folder/Testing/Temporary/LastTest.log || true)
say "$((total - failed - skipped)) passed, $failed failed, $skipped skipped; single cases skipped inside unit tests: $inside"
exit "$status"
