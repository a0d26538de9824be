#!/usr/bin/env python3
"""Keeps the pages true: every link leads somewhere, every session shown in README.md happens as it is shown, and docs/from-netcl.md
is followed from its first line to its last.

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


def check_session(page, command, lines, folder, onnxport):
    """Runs one command as a page shows it; what it prints is what stands below it."""
    around = {**os.environ, "PATH": f"{pathlib.Path(onnxport).parent}:{os.environ['PATH']}"}
    done = subprocess.run(["sh", "-c", command], cwd=folder, env=around, capture_output=True, text=True)
    if done.returncode == NOT_HERE:
        print(f"skipped: {command}: {done.stderr.strip()}")
        return
    out = done.stderr + done.stdout if done.stderr.startswith("warning: ") else done.stdout + done.stderr
    same = normal(out) == normal("\n".join(lines))
    expect(same, f"{page}: `{command}` prints\n{out}")
    if same:
        print(f"as shown: {command}")


def check_sessions(source, onnxport, work):
    folder = work / "session"
    shutil.rmtree(folder, ignore_errors=True)
    for read in ("examples", "tests/data/netcl/damaged"):
        shutil.copytree(source / read, folder / read)
    shown = sessions((source / "README.md").read_text(encoding="utf-8"))
    expect(len(shown) >= 4, "README.md shows no session")
    for command, lines in shown:
        check_session("README.md", command, lines, folder, onnxport)


def can_import(python, package):
    return python.exists() and subprocess.run([python, "-c", f"import {package}"], capture_output=True).returncode == 0


def follow_block(page, language, text, name, folder, python, compile_words):
    """Runs a block of Python, builds a C program, or makes the file that the line before the block names."""
    if language == "python":
        package = re.match(r"import (\w+)", text)[1]
        if not can_import(python, package):
            print(f"skipped: a block of Python, which needs {package}")
            return
        done = subprocess.run([python, "-c", text], cwd=folder, capture_output=True, text=True)
        expect(done.returncode == 0, f"{page}: Python fails: {done.stderr}")
        return
    expect(name, f"{page}: a block of {language} has no name")
    (folder / name).write_text(text, encoding="utf-8")
    if language == "c":
        build(folder, name, compile_words)


def follow_page(source, page, onnxport, work, compile_words):
    """Follows a page from its first line to its last, in an empty folder."""
    folder, python = work / "followed", source / ".deps/venv/bin/python"
    if not can_import(python, "netcl"):
        print(f"skipped: {page}: netcl is not in .deps/venv")
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    text = (source / page).read_text(encoding="utf-8")
    followed = 0
    for step in re.finditer(r"(?ms)(?:`([\w.]+)`:\n\n)?^```(\w+)\n(.*?)^```$|^    \$ .*?(?=^\S|\Z)", text):
        followed += 1
        if step[2]:
            follow_block(page, step[2], step[3], step[1], folder, python, compile_words)
        else:
            for command, lines in sessions(step[0]):
                check_session(page, command, lines, folder, onnxport)
    expect(followed > 10, f"{page}: {followed} steps were found")


def build(folder, name, compile_words):
    """Builds a C program NAME.c that a page shows, as NAME."""
    compiler, include, libraries = compile_words[0].split(), compile_words[1], compile_words[2:]
    subprocess.run([*compiler, "-Wall", "-Wextra", "-Werror", f"-I{include}", name, "-o", name.removesuffix(".c"), *libraries],
                   cwd=folder, check=True)


def check_program(source, work, compile_words):
    blocks = re.findall(r"(?ms)^```c\n(.*?)^```$", (source / "README.md").read_text(encoding="utf-8"))
    expect(len(blocks) == 1, "README.md should show one C program")
    program = work / "readme.c"
    program.write_text(blocks[0], encoding="utf-8")
    build(work, "readme.c", compile_words)
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
    follow_page(source, "docs/from-netcl.md", onnxport, work, compile_words)
    print("passed" if not failures else f"{len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    if len(sys.argv) < 7:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
