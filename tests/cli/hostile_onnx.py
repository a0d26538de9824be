#!/usr/bin/env python3
"""hostile_onnx.py FILE: writes a small ONNX model whose names hold terminal escape sequences and bytes that are not UTF-8."""
import sys

ESCAPE = b"\x1b[31mred"


def field(number, data):
    return bytes([number << 3 | 2, len(data)]) + data


def value(name):
    shape = field(1, b"\x08\x01")  # one dimension of length 1
    return field(1, name) + field(2, field(1, b"\x08\x01" + field(2, shape)))  # a float32 tensor


def main():
    node = field(1, b"x") + field(2, b"y\x07") + field(3, ESCAPE) + field(4, b"Relu")
    graph = field(1, node) + field(2, b"g\xff\x1b]0;title\x07") + field(11, value(b"x")) + field(12, value(b"y\x07"))
    model = b"\x08\x08" + field(2, b"maker\x1b[2J") + field(7, graph) + field(8, b"\x10\x11")
    with open(sys.argv[1], "wb") as file:
        file.write(model)


if __name__ == "__main__":
    main()
