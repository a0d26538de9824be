#!/usr/bin/env python3
"""compare_npy.py EXPECTED ACTUAL RTOL: are two float .npy files equal, NaN and infinities in place, up to RTOL of the scale?"""
import array
import ast
import math
import sys


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    assert data[:6] == b"\x93NUMPY", path
    start = 10 if data[6] == 1 else 12
    length = int.from_bytes(data[8:start], "little")
    header = ast.literal_eval(data[start : start + length].decode("latin-1"))
    assert header["descr"] in ("<f4", "<f8") and not header["fortran_order"], header
    values = array.array(header["descr"][1:].replace("f4", "f").replace("f8", "d"))
    values.frombytes(data[start + length :])
    return header["shape"], values


def same(expected, actual, tolerance):
    if math.isfinite(expected) and math.isfinite(actual):
        return abs(expected - actual) <= tolerance
    return expected == actual or (math.isnan(expected) and math.isnan(actual))


def main():
    (shape, expected), (other_shape, actual) = read(sys.argv[1]), read(sys.argv[2])
    if shape != other_shape:
        print(f"shapes {shape} and {other_shape}")
        return 1
    scale = max((abs(v) for v in expected if math.isfinite(v)), default=0)
    tolerance = float(sys.argv[3]) * max(scale, 1e-30)
    wrong = [i for i, (e, a) in enumerate(zip(expected, actual)) if not same(e, a, tolerance)]
    if wrong or len(expected) != len(actual):
        print(f"{len(wrong)} values differ, the first at {wrong[0]}: {expected[wrong[0]]} and {actual[wrong[0]]}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
