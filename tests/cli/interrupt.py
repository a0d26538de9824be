#!/usr/bin/env python3
"""interrupt.py ONNXPORT: exports a 200 MB network in the current folder, and sends a signal as soon as a new file appears."""
import os
import signal
import subprocess
import sys
import time
import zipfile

SIDE = 7000


def array(descr, shape, data):
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + data


def write_network(path):
    config = f'{{"in_features": {SIDE}, "out_features": {SIDE}, "bias": false}}'
    meta = f'{{"type": "Sequential", "config": [{{"type": "Linear", "args": {config}}}], "version": 2}}'
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("0:weight.npy", array("<f4", (SIDE, SIDE), bytes(4 * SIDE * SIDE)))
        archive.writestr("__netcl_meta__.npy", array(f"<U{len(meta)}", "()", meta.encode("utf-32-le")))


def interrupt(command, number):
    """Exit status and the files that are there afterwards."""
    before = set(os.listdir())
    with subprocess.Popen([command, "export", "big.netcl", "-o", "out.onnx"], stderr=subprocess.PIPE) as process:
        while process.poll() is None and set(os.listdir()) == before:
            time.sleep(0.0005)
        process.send_signal(number)
        message = process.communicate(timeout=60)[1].decode()
    return process.returncode, message, set(os.listdir()) - before


def main():
    write_network("big.netcl")
    with open("out.onnx", "w", encoding="ascii") as file:
        file.write("old")
    for number in (signal.SIGINT, signal.SIGTERM):
        status, message, left = interrupt(sys.argv[1], number)
        with open("out.onnx", encoding="ascii", errors="replace") as file:
            text = file.read(3)
        if status != 5 or left or text != "old":
            print(f"{number!r}: exit status {status}, left {left}, the old file begins {text!r}: {message}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
