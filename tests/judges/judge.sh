#!/bin/sh
# judge.sh PYTHON SCRIPT ARGUMENTS: runs a script of this folder; exit status 77 (skipped) where that Python is missing.
python=$1
script=$(dirname "$0")/$2
shift 2
if [ ! -x "$python" ]; then
  echo "skipped: $python is missing; ./dev setup makes it"
  exit 77
fi
exec "$python" "$script" "$@"
