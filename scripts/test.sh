#!/usr/bin/env bash
# test.sh: runs the tests of build-asan and ends with what was skipped, and why, and one line that counts. Further arguments go to ctest.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
. scripts/common.sh

folder=build-asan
status=0
ctest --test-dir $folder --output-on-failure --test-output-size-passed 1000000 --output-junit "$PWD/$folder/junit.xml" \
  -j "$(cores)" "$@" || status=$?
if command -v python3 >/dev/null; then
  python3 scripts/test_report.py $folder/junit.xml
else
  say "python3 is missing: why tests were skipped is in $folder/Testing/Temporary/LastTest.log"
fi
exit "$status"
