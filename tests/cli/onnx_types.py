#!/usr/bin/env python3
"""onnx_types.py FILE: writes an ONNX model whose inputs have every type of the format: arrays of all element types, then nested types."""
import sys

LAST_ELEMENT_TYPE = 28  # FLOAT6E3M2


def field(number, data):
    length = bytes([len(data)]) if len(data) < 128 else bytes([len(data) & 127 | 128, len(data) >> 7])
    return bytes([number << 3 | 2]) + length + data


def array(element):
    """A tensor type with the dims (4, N)."""
    return b"\x08" + bytes([element]) + field(2, field(1, b"\x08\x04") + field(1, field(2, b"N")))


def types():
    for element in range(1, LAST_ELEMENT_TYPE + 1):
        yield field(1, array(element))
    sequence = field(4, field(1, field(1, array(7))))
    yield sequence
    yield field(9, field(1, sequence))  # optional
    yield field(9, field(1, field(1, array(1))))
    yield field(5, b"\x08\x07" + field(2, sequence))  # map from int64
    yield field(8, array(11))  # sparse
    yield field(7, field(1, b"com.example") + field(2, b"Thing"))  # opaque
    yield field(1, b"\x08\x63" + field(2, b""))  # an element type that is none


def varint(value):
    return bytes([value & 127 | 128, value >> 7])  # of 14 bits


def main():
    inputs = b"".join(field(11, field(1, b"x%d" % number) + field(2, data)) for number, data in enumerate(types()))
    with open(sys.argv[1], "wb") as file:
        file.write(b"\x08\x08" + field(8, b"\x10\x11") + b"\x3a" + varint(len(inputs) + 3) + field(2, b"g") + inputs)


if __name__ == "__main__":
    main()
