#!/usr/bin/env python3
"""hostile_onnx.py FILE: writes a small ONNX model whose names hold terminal escape sequences, marks that are not seen and bytes that are
not UTF-8."""
import sys

ESCAPE = b"\x1b[31mred"
UNSEEN = "\u202egpj\u200b\u2066\u061c\ufeff\U000e0041".encode()  # turns the order of writing; takes no room


def field(number, data):
    length = bytes([len(data)]) if len(data) < 128 else bytes([len(data) & 127 | 128, len(data) >> 7])
    return bytes([number << 3 | 2]) + length + data


def value(name):
    shape = field(1, b"\x08\x01")  # one dimension of length 1
    return field(1, name) + field(2, field(1, b"\x08\x01" + field(2, shape)))  # a float32 tensor


def main():
    node = field(1, b"x") + field(2, b"y\x07") + field(3, ESCAPE) + field(4, b"Relu") + field(6, UNSEEN)
    node += field(5, field(1, b"a" + UNSEEN) + b"\xa0\x01\x03" + field(4, UNSEEN))
    graph = field(1, node) + field(2, b"g\xff\x1b]0;title\x07") + field(11, value(b"x")) + field(12, value(b"y\x07")) + field(11, value(UNSEEN))
    model = b"\x08\x08" + field(2, b"maker\x1b[2J") + field(7, graph) + field(8, b"\x10\x11")
    with open(sys.argv[1], "wb") as file:
        file.write(model)


if __name__ == "__main__":
    main()
