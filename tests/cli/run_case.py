#!/usr/bin/env python3
"""Runs one case of the command-line tests.

usage: run_case.py ONNXPORT SOURCE WORK CASE [ROW]
       run_case.py --rows TABLE     prints the names of the rows, separated by semicolons

A case is a text file of lines `WORD: VALUE`, obeyed in order; README.md lists the words. In a .table file the lines end at `---`
and rows of columns separated by ` | ` follow: the lines are obeyed for the row whose first column is ROW, with {1}, {2}, ...
replaced. Exit status: 0 passed, 1 failed, 77 skipped because something that the case needs is not here.
"""
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

SKIPPED = 77


class Failure(Exception):
    pass


def expect(condition, text):
    if not condition:
        raise Failure(text)


class Case:
    def __init__(self, command, source, work):
        self.command, self.work = command, work
        self.names = {
            "data": source / "tests/data/netcl",
            "tests": source / "tests",
            "examples": source / "examples",
            "source": source,
            "work": work,
            "command": command,
        }
        self.environment = dict(os.environ, ONNXPORT=str(command))
        self.result = None
        self.checked = True  # was the exit status of the last command looked at?

    def path(self, name):
        return self.work / name

    # --- Commands ---

    def do_run(self, value):
        self.start([str(self.command), *shlex.split(value)])

    def do_sh(self, value):
        self.start(["bash", "-c", value])

    def start(self, words):
        expect(self.checked, "a command before this one has no `exit:` line")
        print("+", shlex.join(words), flush=True)
        self.result = subprocess.run(
            words, cwd=self.work, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=100
        )
        self.checked = False

    def do_env(self, value):
        key, _, text = value.partition("=")
        self.environment[key] = text

    def do_put(self, value):
        name, _, text = value.partition(" ")
        self.path(name).write_text(text)

    def do_copy(self, value):
        source, target = shlex.split(value)
        shutil.copy(source, self.path(target))

    def do_folder(self, value):
        self.path(value).mkdir()

    def do_needs(self, value):
        if value == "ort":
            listed = subprocess.run(
                [self.command, "engines", "--json"], env=self.environment, capture_output=True, check=True
            )
            here = any(e["name"] == "ort" and e["usable"] for e in json.loads(listed.stdout)["engines"])
        else:
            here = shutil.which(value)
        if not here:
            print(f"skipped: {value} is not here")
            sys.exit(SKIPPED)

    # --- Expectations about the last command ---

    def do_exit(self, value):
        expect(self.result.returncode == int(value), f"exit status is {self.result.returncode}, not {value}")
        self.checked = True

    def stream(self, name):
        return getattr(self.result, name).decode()

    def matches(self, name, pattern):
        return re.search(pattern, self.stream(name), re.MULTILINE)

    def do_stdout(self, value):
        expect(self.matches("stdout", value), f"standard output does not match {value!r}")

    def do_stderr(self, value):
        expect(self.matches("stderr", value), f"standard error does not match {value!r}")

    def do_no_stdout(self, value):
        found = self.matches("stdout", value or ".")
        expect(not found, f"standard output has {found and found[0]!r}")

    def do_no_stderr(self, value):
        found = self.matches("stderr", value or ".")
        expect(not found, f"standard error has {found and found[0]!r}")

    def do_lines(self, value):
        count = len(self.stream("stderr").splitlines())
        expect(count == int(value), f"standard error has {count} lines, not {value}")

    def do_json(self, value):
        """A Python expression over the keys of the one object that was printed."""
        printed = json.loads(self.stream("stdout"))
        expect(eval(value, {}, printed), f"not true of the printed object: {value}")  # pylint: disable=eval-used

    # --- Expectations about files ---

    def do_file(self, value):
        expect(self.path(value).is_file() and self.path(value).stat().st_size > 0, f"{value} is not there")

    def do_files(self, value):
        there = sorted(str(p.relative_to(self.work)) for p in self.work.rglob("*") if p.is_file())
        expect(there == sorted(value.split()), f"the files are {there}, not {value.split()}")

    def do_same(self, value):
        first, second = (self.path(name).read_bytes() for name in shlex.split(value))
        if first != second:
            place = next((i for i, (a, b) in enumerate(zip(first, second)) if a != b), min(len(first), len(second)))
            raise Failure(f"{value}: different from byte {place} on ({len(first)} and {len(second)} bytes)")

    def do_text(self, value):
        name, _, text = value.partition(" ")
        expect(self.path(name).read_text() == text, f"{name} does not hold {text!r}")

    # --- ---

    def obey(self, line, row):
        for number, value in enumerate(row, 1):
            line = line.replace("{" + str(number) + "}", value)
        for name, value in self.names.items():
            line = line.replace("{" + name + "}", str(value))
        word, _, value = line.partition(":")
        action = getattr(self, "do_" + word.replace("-", "_"), None)
        expect(action, f"unknown word {word!r}")
        action(value.strip())


def read_case(path, wanted):
    """The lines to obey, and the columns of the row."""
    lines = [line for line in path.read_text().splitlines() if line.strip() and not line.startswith("#")]
    if path.suffix != ".table":
        return lines, []
    end = lines.index("---")
    rows = [[column.strip() for column in re.split(r"\s\|(?=\s|$)", line)] for line in lines[end + 1 :]]
    found = [row for row in rows if row[0] == wanted]
    expect(len(found) == 1, f"{len(found)} rows are called {wanted}")
    return lines[:end], found[0]


def print_rows(path):
    lines = pathlib.Path(path).read_text().splitlines()
    rows = [line for line in lines[lines.index("---") + 1 :] if line.strip() and not line.startswith("#")]
    print(";".join(row.split(" |")[0].strip() for row in rows))
    return 0


def main():
    if sys.argv[1] == "--rows":
        return print_rows(sys.argv[2])
    command, source, work, path = (pathlib.Path(word).resolve() for word in sys.argv[1:5])
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    case = Case(command, source, work)
    line = ""
    try:
        lines, row = read_case(path, sys.argv[5] if len(sys.argv) > 5 else None)
        expect(any(line.startswith("exit:") for line in lines), "a case without `exit:` checks nothing")
        for line in lines:
            case.obey(line, row)
        expect(case.checked, "the last command has no `exit:` line")
    except Failure as failure:
        print(f"FAILED at `{line}`: {failure}")
        if case.result:
            print(f"--- exit status {case.result.returncode}, standard output:\n{case.stream('stdout')}")
            print(f"--- standard error:\n{case.stream('stderr')}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
