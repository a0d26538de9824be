#!/usr/bin/env python3
"""Looks into every file of the fuzz corpora with the command: usage: corpora.py ONNXPORT [FOLDER...]

Whatever the file: a known exit status, and nothing in what is printed that a terminal would obey.
"""
import pathlib
import subprocess
import sys

CORPUS = pathlib.Path(__file__).resolve().parents[1] / "fuzz/corpus"


def problem(program, arguments):
    answer = subprocess.run([program, *arguments], capture_output=True, timeout=60)
    if answer.returncode not in range(7):
        return f"exit status {answer.returncode}: {answer.stderr[-300:]!r}"
    for printed in (answer.stdout, answer.stderr):
        try:
            text = printed.decode()
        except UnicodeDecodeError:
            return f"not UTF-8: {printed[:200]!r}"
        if any((ord(c) < 32 and c != "\n") or 127 <= ord(c) < 160 for c in text):
            return f"control characters: {text[:200]!r}"
    return None


def main():
    program, folders = sys.argv[1], sys.argv[2:] or [CORPUS]
    files = sorted(path for folder in folders for path in pathlib.Path(folder).rglob("*") if path.is_file())
    failed = 0
    for path in files:
        for arguments in (["inspect", path], ["inspect", path, "--json"], ["export", path, "-o", "out.onnx"]):
            found = problem(program, arguments)
            if found:
                print(f"FAILED {' '.join(map(str, arguments))}: {found}")
                failed += 1
    print(f"{len(files)} files, {failed} failed")
    sys.exit(1 if failed or not files else 0)


if __name__ == "__main__":
    main()
