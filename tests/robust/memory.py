#!/usr/bin/env python3
"""Memory for input that is nothing but structure: usage: memory.py ONNXPORT MEASURE

Files that make the most of every byte: the peak stays below a fixed part and so many bytes per byte of structure. What sanitizers
add is not measured: exit status 77 with a program that has them.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

import hostile

FIXED = 12 << 20
PER_BYTE = 256
SIZE = 512 * 1024


def onnx_graphs():
    """Yields name and graph."""
    field, many = hostile.field, SIZE // 2
    for name, tag in (("nodes", 1), ("initializers", 5), ("values", 13), ("inputs", 11), ("sparse", 15)):
        yield name, field(tag, b"") * many
    for name, tag, kind in (("texts", 9, 8), ("tensors", 10, 9), ("graphs", 11, 10), ("types", 15, 14), ("sparse tensors", 23, 12)):
        yield f"list of {name}", field(1, field(5, field(1, b"a") + b"\xa0\x01" + bytes([kind]) + field(tag, b"") * many))
    for name, tag in (("attributes", 5), ("edges", 1)):
        yield name, field(1, field(tag, b"") * many)
    yield "numbers", field(1, field(5, field(1, b"a") + b"\xa0\x01\x07" + field(8, b"\1" * SIZE)))
    # One long text among many short rows: none may become as long as it is.
    long, rows = b"n" * many, field(1, b"") * (many // 2)
    for name, node in (("name", field(3, long)), ("operator", field(4, long)), ("input", field(1, long)), ("output", field(2, long)),
                       ("attribute", field(5, field(1, b"a") + b"\xa0\x01\x03" + field(4, long)))):
        yield f"long {name}", field(1, node) + rows
    yield "long initializer", field(5, field(8, long)) + field(5, b"") * (many // 2)
    yield "long value", field(11, field(1, long)) + field(11, b"") * (many // 2)


def files():
    """Yields name, bytes, arguments of the command."""
    for name, unit in (("lists", b"[],"), ("objects", b"{},"), ("layers", b'{"type":"ReLU"},'), ("numbers", b"1,"), ("texts", b'"",')):
        yield f"{name}.json", b"[" + unit * (SIZE // len(unit)) + b"0]", ["export", f"{name}.json", "-o", "out.onnx"]
    described = ["--description", str(hostile.ROOT / "examples/b_cnn.netcl"), "--input-shape", "3x32x32", "-o", "out.onnx"]
    for name, unit in (("lists", b"]"), ("dicts", b"}"), ("tuples", b")"), ("texts", b"U\0"), ("marks", b"("), ("memo", b"]\x94")):
        hostile.archive(f"{name}.pt", {"a/data.pkl": b"\x80\x04" + unit * (SIZE // len(unit)) + b"."})
        yield f"{name}.pt", None, ["export", f"{name}.pt", *described]
    keys = b"".join(b"\x8c\5%05xN" % number for number in range(SIZE // 8))
    hostile.archive("keys.pt", {"a/data.pkl": b"\x80\x04}(" + keys + b"u."})
    yield "keys.pt", None, ["export", "keys.pt", *described]
    for name, graph in onnx_graphs():
        for style in ([], ["--json"]):
            yield f"{name}.onnx", hostile.model(graph), ["inspect", f"{name}.onnx", *style]
    hostile.archive("layers.npz", {})
    for style in ([], ["--json"]):
        yield "functions.onnx", hostile.model(b"") + hostile.field(25, b"") * (SIZE // 2), ["inspect", "functions.onnx", *style]
        yield "layers.json", b"[" + b'{"type":"ReLU"},' * (SIZE // 16) + b'{"type":"ReLU"}]', ["inspect", "layers.json", "--input-shape", "1", *style]
    body = directory = b""
    for number in range(SIZE // 80):
        name = b"%x:a.npy" % number
        directory += hostile.entry(name, 0, 0, 0, len(body))
        body += hostile.local(name, 0, 0, 0)
    yield "members.npz", body + directory + hostile.end(SIZE // 80, len(directory), len(body)), ["export", "members.npz", "-o", "out.onnx"]


def main():
    program, measure = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    if b"__asan_" in pathlib.Path(program).read_bytes():
        print("skipped: a program with sanitizers needs other memory; the table of docs/robustness.md is of one without")
        sys.exit(77)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, data, arguments in files():
            if data is not None:
                hostile.write(name, data)
            size = os.path.getsize(name)
            answer = subprocess.run([measure, "/dev/null", program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            peak, status = int(answer.stdout.split()[3]) * 1024, int(answer.stdout.split()[4])
            failed += peak > FIXED + PER_BYTE * size or (arguments[0] == "inspect" and status != 0)  # it is not refused
            print(f"{name}, {' '.join(arguments[:1] + arguments[-1:])}: {size} bytes, {peak >> 10} kB, {max(0, peak - FIXED // 2) / size:.0f} per byte")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
