#!/usr/bin/env python3
"""Checks what no compiler checks: include order, function length, opening comments, prose in the public header.

usage: check_source.py [ROOT]   prints every finding as FILE:LINE: TEXT; exit status 1 when there is one.
"""
import pathlib
import re
import sys

FOLDERS = ["core", "onnx", "layers", "net", "profiles", "formats", "engines", "cli"]
LONGEST_FUNCTION = 60


def include_order(path, lines):
    """A file includes only its own folder and folders above it in FOLDERS."""
    folder = path.parts[path.parts.index("src") + 1]
    for number, line in enumerate(lines, 1):
        match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
        if not match:
            continue
        target = match[1].split("/")[0]
        if target not in FOLDERS or "/" not in match[1]:
            yield number, f'"{match[1]}" is not written from src'
        elif FOLDERS.index(target) > FOLDERS.index(folder):
            yield number, f"{folder} includes {target}, which comes after it"


def function_length(path, lines):
    """Functions start with { and end with } in the first column. A longer one says why: `// long: ...` above it."""
    start = None
    for number, line in enumerate(lines, 1):
        if line.rstrip() == "{":
            start = number
        elif line.startswith("}") and start:
            length = number - start - 1
            if length > LONGEST_FUNCTION and not says_why(lines, start):
                yield start, f"the function has {length} lines (more than {LONGEST_FUNCTION}) and no `// long:` reason"
            start = None


def says_why(lines, brace):
    """Looks through the comment and the declaration above the brace."""
    for line in reversed(lines[: brace - 1]):
        if line.startswith("// long:"):
            return True
        if not line.strip() or line.startswith("}"):
            return False
    return False


def opening_comment(path, lines):
    if not lines or not lines[0].startswith(f"// {path.name}: "):
        yield 1, f"the file does not open with `// {path.name}: what it does`"


def opening_comment_of_test(path, lines):
    if not lines or not lines[0].startswith("// "):
        yield 1, "the file does not open with a comment that says what it tests"


def prose(path, lines):
    """At least half of what stands in the public header explains the other half."""
    words = code = 0
    for line in lines:
        before, mark, after = line.partition("//")
        words += len(after.split()) if mark else 0
        code += len(before.split())
    if words < code:
        yield 1, f"{words} words of prose against {code} words of code"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    findings = 0
    checks = [
        ("src", [include_order, function_length, opening_comment]),
        ("tests", [function_length, opening_comment_of_test]),
        ("examples", [function_length, opening_comment]),
        ("bench", [function_length, opening_comment]),
        ("include", [opening_comment, prose]),
    ]
    for folder, functions in checks:
        for path in sorted((root / folder).rglob("*.[ch]")):
            lines = path.read_text(encoding="utf-8").splitlines()
            for check in functions:
                for number, text in check(path, lines):
                    print(f"{path}:{number}: {text}")
                    findings += 1
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
