#!/usr/bin/env python3
"""Keeps the pages true: every link leads somewhere, and every session shown in README.md happens as it is shown.

usage: test_pages.py SOURCE ONNXPORT WORK CC INCLUDE LIBRARY...

A session is a run of indented lines; `$ command` is run in a copy of the checkout that holds what sessions read, and what follows must
come out, but for numbers and for where lines are wrapped. The C program in README.md is built with CC (words separated by spaces) and run.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

NOT_HERE = 6  # the exit status for "ONNX Runtime is not here"
failures = []


def expect(truth, what):
    if not truth:
        failures.append(what)
        print("FAILED: " + what)


def check_links(source):
    pages = [source / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")] + sorted(source.glob("docs/**/*.md"))
    count = 0
    for page in pages:
        text = page.read_text(encoding="utf-8")
        anchors = {re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-") for title in re.findall(r"(?m)^#+ (.+)$", text)}
        for link in re.findall(r"\]\(([^)\s]+)\)", text):
            path, _, anchor = link.partition("#")
            count += 1
            if path:
                expect((page.parent / path).exists(), f"{page.relative_to(source)}: {link} leads nowhere")
            elif anchor not in anchors:
                expect(False, f"{page.relative_to(source)}: there is no heading for {link}")
    print(f"{count} links in {len(pages)} pages")


def normal(text):
    """Words with numbers taken out: differences between processors show in the last digits."""
    text = re.sub(r"(?<![\w.])-?\d+(\.\d+)?(e[+-]\d+)?", "#", text)
    return text.split()


def sessions(readme):
    """Pairs of a command and the lines that should come out; a line that is not indented ends a session."""
    found, inside = [], False
    for line in readme.splitlines():
        if line.startswith("    $ "):
            found.append((line[6:], []))
            inside = True
        elif line and not line.startswith("    "):
            inside = False
        elif inside:
            found[-1][1].append(line[4:])
    return found


def check_sessions(source, onnxport, work):
    folder = work / "session"
    shutil.rmtree(folder, ignore_errors=True)
    for read in ("examples", "tests/data/netcl/damaged"):
        shutil.copytree(source / read, folder / read)
    around = {**os.environ, "PATH": f"{pathlib.Path(onnxport).parent}:{os.environ['PATH']}"}
    shown = sessions((source / "README.md").read_text(encoding="utf-8"))
    expect(len(shown) >= 4, "README.md shows no session")
    for command, lines in shown:
        done = subprocess.run(["sh", "-c", command], cwd=folder, env=around, capture_output=True, text=True)
        if done.returncode == NOT_HERE:
            print(f"skipped: {command}: {done.stderr.strip()}")
            continue
        out = done.stdout + done.stderr
        expect(normal(out) == normal("\n".join(lines)), f"README.md: `{command}` prints\n{out}")
        print(f"as shown: {command}")


def check_program(source, work, compile_words):
    blocks = re.findall(r"(?ms)^```c\n(.*?)^```$", (source / "README.md").read_text(encoding="utf-8"))
    expect(len(blocks) == 1, "README.md should show one C program")
    program = work / "readme.c"
    program.write_text(blocks[0], encoding="utf-8")
    compiler, include, libraries = compile_words[0].split(), compile_words[1], compile_words[2:]
    subprocess.run([*compiler, "-Wall", "-Wextra", "-Werror", f"-I{include}", str(program), "-o", "readme", *libraries],
                   cwd=work, check=True)
    done = subprocess.run([work / "readme", source / "examples/h_det26.netcl", "readme.onnx"], cwd=work)
    expect(done.returncode == 0 and (work / "readme.onnx").stat().st_size > 2_000_000, "README.md: the C program fails")
    done = subprocess.run([work / "readme", "missing.netcl", "none.onnx"], cwd=work, capture_output=True, text=True)
    expect(done.returncode == 5 and "missing.netcl" in done.stderr, "README.md: the C program does not report errors")


def main(source, onnxport, work, *compile_words):
    source, work = pathlib.Path(source), pathlib.Path(work)
    work.mkdir(parents=True, exist_ok=True)
    check_links(source)
    check_sessions(source, onnxport, work)
    check_program(source, work, compile_words)
    print("passed" if not failures else f"{len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    if len(sys.argv) < 7:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
