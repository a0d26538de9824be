#!/usr/bin/env python3
"""interrupt.py ONNXPORT: signals while onnxport writes a 200 MB model in the current folder, or waits for a lock on it."""
import fcntl
import os
import signal
import subprocess
import sys
import time
import zipfile

SIDE = 7000
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def array(descr, shape, data):
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + data


def write_network(path, side):
    config = f'{{"in_features": {side}, "out_features": {side}, "bias": false}}'
    meta = f'{{"type": "Sequential", "config": [{{"type": "Linear", "args": {config}}}], "version": 2}}'
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("0:weight.npy", array("<f4", (side, side), bytes(4 * side * side)))
        archive.writestr("__netcl_meta__.npy", array(f"<U{len(meta)}", "()", meta.encode("utf-32-le")))


def interrupt(words, number, ignored=()):
    """Sends a signal as soon as there is a new file; `ignored` are, from the start. Exit status, message and what is new afterwards."""

    def ignore():
        for one in ignored:
            signal.signal(one, signal.SIG_IGN)

    before = set(os.listdir())
    with subprocess.Popen(
        words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, preexec_fn=ignore  # pylint: disable=subprocess-popen-preexec-fn
    ) as process:
        while process.poll() is None and set(os.listdir()) == before:
            time.sleep(0.0005)
        process.send_signal(number)
        message = process.communicate(timeout=50)[1].decode()  # locks are waited for longer
    return process.returncode, message, set(os.listdir()) - before


def check(condition, what, found):
    if not condition:
        sys.exit(f"{what}: {found}")


def begins(path):
    with open(path, encoding="ascii", errors="replace") as file:
        return file.read(3)


def main():
    export = [sys.argv[1], "export", "big.netcl", "-o", "out.onnx"]
    convert = [sys.argv[1], "convert", "small.netcl", "-o", "pair.json", "--format", "netcl_pair"]
    write_network("big.netcl", SIDE)
    write_network("small.netcl", 10)
    for name in "out.onnx", "pair.json", "pair.npz":
        with open(name, "w", encoding="ascii") as file:
            file.write("old")
    for number in SIGNALS:
        found = interrupt(export, number)
        check(found[0] == 5 and not found[2] and begins("out.onnx") == "old", f"export, {number!r}", found)
        found = interrupt([sys.argv[1], "convert", "big.netcl", "-o", "out.onnx", "--format", "netcl"], number)
        check(found[0] == 5 and not found[2] and begins("out.onnx") == "old", f"convert, {number!r}", found)
    lock = os.open(".", os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    for number in SIGNALS:
        found = interrupt(convert, number)
        check(found[0] == 5 and not found[2] and begins("pair.json") == "old", f"waiting, {number!r}", found)
    os.close(lock)
    for number in signal.SIGHUP, signal.SIGINT:
        found = interrupt(export, number, ignored=(number,))
        check(found[0] == 0 and not found[2] and begins("out.onnx") != "old", f"ignoring {number!r}", found)
        with open("out.onnx", "w", encoding="ascii") as file:
            file.write("old")
    return 0


if __name__ == "__main__":
    sys.exit(main())
