#!/usr/bin/env python3
"""Input that wants to do harm, and places where nothing can be written: usage: hostile.py ONNXPORT [NAME...]

Each case makes its files in an empty folder and says what the command must answer. Whatever the case: one line of error, nothing on
stdout, no file made or changed, no more memory than the limit below, and an end within seconds.
"""
import io
import json
import os
import pathlib
import re
import resource
import shutil
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import time
import zipfile
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOOD = ROOT / "tests/data/netcl/a_mlp.netcl"
PT = ROOT / "tests/data/netcl/pt/b_cnn.torch_state.pt"
SECONDS = 20
EXTRA_MEMORY = 48 << 20  # above what the program needs to print a table,
PER_BYTE = 256  # and for every byte of text and tables of contents (four times what it is without the sanitizers)
NOBODY = 65534
CASES = {}


class Skip(Exception):
    pass


def case(arguments, code, message="", **keys):
    """Registers a case: its function makes the files, the command gets `arguments` and must answer with `code` and `message`."""

    def register(make):
        CASES[make.__name__] = (make, arguments.split(), code, message, keys)
        return make

    return register


# --- Making files ---


def write(name, data):
    pathlib.Path(name).write_bytes(data if isinstance(data, bytes) else data.encode())


def npy(descr, shape, data, header=None):
    text = header or f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"
    text = text.encode()
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + data


def meta(layers):
    text = json.dumps({"type": "Sequential", "version": 2, "config": layers}) if not isinstance(layers, bytes) else layers
    text = text if isinstance(text, bytes) else text.encode()
    return npy("|u1", f"({len(text)},)", text)


def linear(inputs, outputs, bias=False):
    return {"type": "Linear", "args": {"in_features": inputs, "out_features": outputs, "bias": bias}}


def conv(**arguments):
    given = {"in_channels": 1, "out_channels": 1, "kernel_size": 1, "stride": 1, "pad": 0, "bias": False, "dilation": 1, "groups": 1}
    return {"type": "Conv2d", "args": {**given, **arguments}}


def archive(name, members, method=zipfile.ZIP_STORED):
    with zipfile.ZipFile(name, "w", method) as out:
        for member, data in members.items():
            out.writestr(zipfile.ZipInfo(member), data, method)


def netcl(name, layers, members=(), **more):
    archive(name, {**dict(members), "__netcl_meta__.npy": meta(layers)}, **more)


def entry(name, crc, stored, plain, offset, method=0, extra=b""):
    """A record of the central directory, with whatever sizes."""
    return struct.pack("<IHHHHHHIIIHHHHHII", 0x02014B50, 45, 45, 0, method, 0, 0x21, crc, stored, plain, len(name), len(extra),
                       0, 0, 0, 0, offset) + name + extra


def local(name, crc, stored, plain, method=0, extra=b""):
    return struct.pack("<IHHHHHIIIHH", 0x04034B50, 45, 0, method, 0, 0x21, crc, stored, plain, len(name), len(extra)) + name + extra


def end(count, size, offset):
    return struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, count, count, size, offset, 0)


def lying(name, data, stored, plain, offset=0, method=0, extra=b""):
    """An archive of one member whose directory says what it likes."""
    member, crc = b"__netcl_meta__.npy", zlib.crc32(data)
    body = local(member, crc, stored, plain, method, extra[: 4 + 16]) + data
    directory = entry(member, crc, stored, plain, offset, method, extra)
    write(name, body + directory + end(1, len(directory), len(body)))


def wide(*numbers):
    """A ZIP64 field."""
    return struct.pack(f"<HH{len(numbers)}Q", 1, 8 * len(numbers), *numbers)


def deflated_zeros(gigabytes, head=b""):
    """A deflate stream of that many zeros after `head`: a thousandth of it in size. And the length of what it holds."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    megabyte = bytes(1 << 20)
    unit = packer.compress(head) + packer.flush(zlib.Z_FULL_FLUSH)
    repeated = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = repeated.compress(megabyte * 64) + repeated.flush(zlib.Z_FULL_FLUSH)
    return unit + block * (gigabytes * 16) + b"\x03\x00", len(head) + (gigabytes << 30)


def bomb(name, members, big, gigabytes, head=b""):
    """An archive with one deflated member of many gigabytes after some small ones."""
    data, plain = deflated_zeros(gigabytes, head)
    crc = 0  # nobody gets as far as comparing it
    body, directory = b"", b""
    for member, content in members.items():
        check = zlib.crc32(content)
        directory += entry(member.encode(), check, len(content), len(content), len(body))
        body += local(member.encode(), check, len(content), len(content)) + content
    extra = wide(plain, len(data))
    directory += entry(big.encode(), crc, 0xFFFFFFFF, 0xFFFFFFFF, len(body), 8, extra)
    body += local(big.encode(), crc, 0xFFFFFFFF, 0xFFFFFFFF, 8, extra) + data
    write(name, body + directory + end(len(members) + 1, len(directory), len(body)))


EXPORT = "export m.netcl -o out.onnx"

# --- Archives ---


@case(EXPORT, 4, "zip|cannot be|outside")
def zip64_size_near_2_63():
    lying("m.netcl", bytes(64), 0xFFFFFFFF, 0xFFFFFFFF, extra=wide(2**63 - 1, 2**63 - 1))


@case(EXPORT, 4, "zip|cannot be|outside")
def zip64_size_full_of_ones():
    lying("m.netcl", bytes(64), 0xFFFFFFFF, 0xFFFFFFFF, extra=wide(2**64 - 1, 2**64 - 1))


@case(EXPORT, 4, "zip")
def zip64_offset_wraps():
    lying("m.netcl", bytes(64), 64, 64, offset=0xFFFFFFFF, extra=wide(2**64 - 30))


@case(EXPORT, 4, "ZIP64")
def zip64_field_missing():
    lying("m.netcl", bytes(64), 0xFFFFFFFF, 0xFFFFFFFF)


@case(EXPORT, 4, "zip")
def zip64_directory_of_2_63_members():
    record = struct.pack("<IQHHIIQQQQ", 0x06064B50, 44, 45, 45, 0, 0, 2**63, 2**63, 46, 0)
    locator = struct.pack("<IIQI", 0x07064B50, 0, 46, 1)
    write("m.netcl", bytes(46) + record + locator + struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, 0xFFFF, 0xFFFF, 46, 0, 0))


@case(EXPORT, 4, "zip")
def zip64_directory_wraps():
    record = struct.pack("<IQHHIIQQQQ", 0x06064B50, 44, 45, 45, 0, 0, 1, 1, 2**64 - 46, 92)
    locator = struct.pack("<IIQI", 0x07064B50, 0, 46, 1)
    write("m.netcl", bytes(46) + record + locator + end(0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF))


@case(EXPORT, 4, "name|overlaps")
def two_entries_for_one_header():
    data = bytes(16)
    body = local(b"a", zlib.crc32(data), 16, 16) + data
    directory = entry(b"a", zlib.crc32(data), 16, 16, 0) + entry(b"b", zlib.crc32(data), 16, 16, 0)
    write("m.netcl", body + directory + end(2, len(directory), len(body)))


@case(EXPORT, 4, "4194304|at most")
def description_of_ten_gigabytes():
    bomb("m.netcl", {}, "__netcl_meta__.npy", 10, npy("|u1", f"({10 << 30},)", b""))


@case("export m.pt --description d.netcl -o out.onnx", 4, "at most")
def pickle_of_ten_gigabytes():
    shutil.copy(GOOD, "d.netcl")
    bomb("m.pt", {}, "a/data.pkl", 10)


@case(EXPORT, 4, "0:weight")
def weight_of_ten_gigabytes_where_a_small_one_belongs():
    bomb("m.netcl", {"__netcl_meta__.npy": meta([linear(4, 4)])}, "0:weight.npy", 10, npy("<f4", f"({10 << 28},)", b""))


@case(EXPORT, 4, "deflated|bytes")
def weight_that_inflates_to_more_than_it_says():
    # the header says 64 bytes, the stream holds a gigabyte
    data, _ = deflated_zeros(1, npy("<f4", "(4, 4)", b""))
    plain, name, description = 128 + 64, b"0:weight.npy", meta([linear(4, 4)])
    body = local(b"__netcl_meta__.npy", zlib.crc32(description), len(description), len(description)) + description
    directory = entry(b"__netcl_meta__.npy", zlib.crc32(description), len(description), len(description), 0)
    directory += entry(name, 0, len(data), plain, len(body), 8)
    body += local(name, 0, len(data), plain, 8) + data
    write("m.netcl", body + directory + end(2, len(directory), len(body)))


@case("export m.netcl -o small/out.onnx", 5, "No space left")
def right_network_of_four_gigabytes_in_four_megabytes():
    small_disk("small")
    # Everything fits: 32768 x 32768 floats. What ends it is the disk, not the memory.
    bomb("m.netcl", {"__netcl_meta__.npy": meta([linear(32768, 32768)])}, "0:weight.npy", 4, npy("<f4", "(32768, 32768)", b""))


@case(EXPORT, 4, "0:weight")
def names_that_climb_out():
    names = ["../../0:weight.npy", "/etc/passwd", "..\\..\\x", "C:\\x.npy", "a/../../b", "\x1b[2J\x07.npy", "line\nbreak.npy"]
    netcl("m.netcl", [linear(4, 4)], {name: npy("<f4", "(4, 4)", bytes(64)) for name in names})


@case(EXPORT, 4, "0:weight")
def a_hundred_thousand_members():
    with zipfile.ZipFile("m.netcl", "w") as out:
        for number in range(100000):
            out.writestr(f"{number}:x.npy", b"")
        out.writestr("__netcl_meta__.npy", meta([linear(4, 4)]))


# --- Arrays ---


def weight(array):
    netcl("m.netcl", [linear(4, 4)], {"0:weight.npy": array})


for number, (descr, shape) in enumerate([("<f3", "(4, 4)"), ("|V8", "(4, 4)"), ("<M8[ns]", "(4, 4)"), ("|O", "(4, 4)"), ("<f16", "(4, 4)"),
                                         ("", "(4, 4)"), ("<c8", "(4, 4)"), ("<U4", "(4, 4)"), ("<f4", "(4611686018427387904, 4)"),
                                         ("<f4", "(9223372036854775807,)"), ("<f4", "(9223372036854775808,)"), ("<f4", "(-4, -4)"),
                                         ("<f4", "(0, 4)"), ("<f4", "()"), ("<f4", "(1,)" * 1), ("<f4", "(" + "1, " * 33 + ")"),
                                         ("<f4", "(4.0, 4)"), ("<f4", "(4, 4"), ("<f4", "(True, 4)"), ("<f4", "None")]):
    def make(descr=descr, shape=shape):
        weight(npy(descr, shape, bytes(64)))

    make.__name__ = f"array_{number}_of_{descr}_{shape}"[:48]
    case(EXPORT, 4, "0:weight")(make)


@case(EXPORT, 4, "0:weight")
def array_header_of_four_gigabytes():
    weight(b"\x93NUMPY\x02\x00\xff\xff\xff\xff{'descr'")


@case(EXPORT, 4, "0:weight")
def array_header_with_code():
    weight(npy("", "", bytes(64), "{'descr': __import__('os').system('touch pwned'), 'fortran_order': False, 'shape': (4, 4), }"))


# --- Descriptions ---

TEXTS = {
    "lists": (b"[" * 100000 + b"]" * 100000, 4, "100000 levels"),
    "objects": (b'{"a":' * 100000 + b"1" + b"}" * 100000, 4, "100000 levels"),
    "open_lists": (b"[" * 100000, 4, "100000 levels"),
    "nan": (b'[{"type": "BatchNorm2d", "num_features": 1, "eps": NaN}]', 4, "layer 0 .*eps"),
    "infinity": (b'[{"type": "BatchNorm2d", "num_features": 1, "eps": Infinity}]', 4, "layer 0 .*eps"),
    "minus_infinity": (b'[{"type": "BatchNorm2d", "num_features": 1, "eps": -Infinity}]', 4, "layer 0 .*eps"),
    "huge_real": (b'[{"type": "BatchNorm2d", "num_features": 1, "eps": 1e999}]', 4, "layer 0 .*eps"),
    "double_beyond_float": (b'[{"type": "LeakyReLU", "negative_slope": 1e300}]', 4, "negative_slope"),
    "huge_integer": (b'[{"type": "Linear", "in_features": 9223372036854775808, "out_features": 1}]', 4, "in_features.*2147483647"),
    "not_utf8": (b'[{"type": "Re\xffLU"}]', 4, "JSON"),
    "overlong_utf8": (b'[{"type": "Re\xc0\xafLU"}]', 4, "JSON"),
    "lone_surrogate": (b'[{"type": "\\ud800"}]', 3, "layer 0"),
    "zero_byte": (b'[{"type": "ReLU\\u0000"}]', 4, "JSON"),
    "zero_byte_key": (b'[{"type": "ReLU", "a\\u0000b": 1}]', 4, "JSON"),
    "raw_zero": (b'[{"type": "ReLU"}]\x00[', 4, "JSON"),
    "twice": (b'[{"type": "ReLU", "type": "Tanh"}]', 4, "JSON"),
    "rest": (b'[{"type": "ReLU"}] 1', 4, "JSON"),
    "number": (b"[1]", 4, ""),
    "empty_list": (b"[]", 3, "input-shape"),
    "control": (b'[{"type": "\\u001b[2J\\u0007\\u009b"}]', 3, ""),
    "long_name": (b'[{"type": "' + b"x" * 1000000 + b'"}]', 3, ""),
    "many_unknown": (b"[" + b",".join(b'{"type": "x%d"}' % i for i in range(50000)) + b"]", 3, ""),
    "five_megabytes": (b"[" + b" " * 5000000 + b"]", 4, "at most"),
}
for key, (text, code, message) in TEXTS.items():
    def make(text=text):
        write("m.json", text)

    make.__name__ = f"json_{key}"
    case("export m.json -o out.onnx", code, message)(make)

SIZES = [linear(0, 4), linear(4, 0), linear(-4, 4), linear(2**31, 4), linear(2**63 - 1, 2**63 - 1), linear(None, 4), linear("4", 4),
         linear(4.5, 4), linear([4, 4], 4), linear(True, 4), conv(kernel_size=0), conv(kernel_size=-1), conv(stride=0), conv(pad=-1),
         conv(dilation=0), conv(groups=0), conv(kernel_size=[1, 2, 3]), conv(kernel_size=[]), conv(kernel_size=2**31),
         conv(groups=-1), {"type": "BatchNorm2d", "args": {"num_features": 0}}, {"type": "Dropout", "args": {"p": 2}},
         {"type": "MaxPool2d", "args": {"kernel_size": 0}}, {"type": "LayerNorm", "args": {"normalized_shape": [0]}}]
for number, layer in enumerate(SIZES):
    def make(layer=layer):
        netcl("m.netcl", [layer], {"0:weight.npy": npy("<f4", "(4, 4)", bytes(64))})

    make.__name__ = f"size_{number}"
    case(EXPORT, (3, 4))(make)


@case(EXPORT, (3, 4))
def window_products_overflow():
    netcl("m.netcl", [conv(kernel_size=[2**31 - 1, 2**31 - 1], in_channels=2**31 - 1, out_channels=2**31 - 1)])


@case(EXPORT, (3, 4))
def batch_of_outputs_overflows():
    layers = [{"type": "Upsample2d", "args": {"scale_factor": 2**31 - 1}}] * 4
    netcl("m.netcl", [conv(), *layers], {"0:weight.npy": npy("<f4", "(1, 1, 1, 1)", bytes(4))})


# --- Pickles ---


def pickled(program):
    shutil.copy(ROOT / "examples/b_cnn.netcl", "d.netcl")
    archive("m.pt", {"a/data.pkl": program, "a/version": b"3\n"})


PICKLES = {
    "system": b"cposix\nsystem\n(S'touch pwned'\ntR.",
    "system_by_stack": b"\x80\x04\x8c\x05posix\x8c\x06system\x93\x8c\x0btouch pwned\x85R.",
    "eval": b"c__builtin__\neval\n(S'open(\"pwned\",\"w\")'\ntR.",
    "inst": b"(S'touch pwned'\niposix\nsystem\n.",
    "object": b"(cposix\nsystem\nS'touch pwned'\no.",
    "newobj": b"\x80\x02cposix\nsystem\nU\x0btouch pwned\x85\x81.",
    "extension": b"\x80\x02\x82\x01.",
    "build": b"\x80\x02ccollections\nOrderedDict\n)R}U\x01xcposix\nsystem\nsb.",
    "load": b"\x80\x02ctorch\nload\nU\x05pwned\x85R.",
    "rebuild_of_self": b"\x80\x02]q\x00h\x00a.",
    "counts": b"\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\x7fabc.",
    "frame": b"\x80\x04\x95\xff\xff\xff\xff\xff\xff\xff\xff}.",
    "deep": b"\x80\x02" + b"]" * 100000 + b"a" * 99999 + b".",
    "memo": b"\x80\x02}r\xff\xff\xff\xff.",
    "no_end": b"\x80\x02" + b"(" * 100000,
    "empty": b"",
}
for key, program in PICKLES.items():
    def make(program=program):
        pickled(program)

    make.__name__ = f"pickle_{key}"
    case("export m.pt --description d.netcl --input-shape 3x32x32 -o out.onnx", 4)(make)

# Files of torch, spelled out: what a state dict may say about its tensors.
EXPORT_PT = "export m.pt --description d.json -o out.onnx"
WEIGHTS = struct.pack("<6f", *range(6))


def text(words):
    return b"X" + struct.pack("<I", len(words)) + words.encode()


def number(value):
    return b"\x8a\x08" + struct.pack("<q", value)


def tensor(key, count, shape, strides, offset=0, rest=b""):
    storage = b"(" + text("storage") + b"ctorch\nFloatStorage\n" + text(key) + text("cpu") + number(count) + b"tQ"
    numbers = b"(" + b"".join(map(number, shape)) + b"t(" + b"".join(map(number, strides)) + b"t"
    return b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage + number(offset) + numbers + b"\x89}" + rest + b"tR"


def state(entries):
    return b"}(" + b"".join(text(key) + value for key, value in entries) + b"u"


def torch(program, storages, layers=None, method=zipfile.ZIP_STORED):
    write("d.json", json.dumps(layers or [linear(3, 2)]))
    members = {f"a/data/{key}": data for key, data in storages.items()}
    archive("m.pt", {"a/data.pkl": b"\x80\x02" + program + b".", **members}, method)


@case(EXPORT_PT, 3, "0.weight|\"neg\"")
def torch_negated():
    torch(state([("0.weight", tensor("0", 6, (2, 3), (3, 1), rest=b"}" + text("neg") + b"\x88s"))]), {"0": WEIGHTS})


@case(EXPORT_PT, 4, "0.weight: .*twice")
def torch_key_twice():
    one, other = tensor("0", 6, (2, 3), (3, 1)), tensor("1", 6, (2, 3), (3, 1))
    torch(state([("0.weight", one), ("0.weight", other)]), {"0": WEIGHTS, "1": WEIGHTS[::-1]})


@case(EXPORT_PT, 4, "2 times.*--variable: \"/\", \"state_dict\"")
def torch_two_levels():
    inner = state([("0.weight", tensor("1", 6, (2, 3), (3, 1)))])
    torch(state([("0.weight", tensor("0", 6, (2, 3), (3, 1))), ("state_dict", inner)]), {"0": WEIGHTS, "1": WEIGHTS[::-1]})


@case(EXPORT_PT, 4, "missing")
def torch_key_of_bytes():
    key = b"c_codecs\nencode\n" + text("0.weight") + text("latin1") + b"\x86R"
    torch(b"}" + key + tensor("0", 6, (2, 3), (3, 1)) + b"s", {"0": WEIGHTS})


@case(EXPORT_PT, 4, "a/data/0: .*checksum")
def torch_part_of_a_damaged_storage():
    torch(state([("0.weight", tensor("0", 1000, (2, 3), (3, 1), 5))]), {"0": bytes(4000 - 32) + b"right" + bytes(27)})
    write("m.pt", pathlib.Path("m.pt").read_bytes().replace(b"right", b"wrong"))


@case(EXPORT_PT, 3, "0.weight: .*compressed")
def torch_many_parts_of_a_deflated_storage():
    count = 300
    entries = [(f"{i}.weight", tensor("0", 10**8, (1, 1), (1, 1), 10**8 - 1)) for i in range(count)]
    torch(state(entries), {"0": bytes(4 * 10**8)}, [linear(1, 1)] * count, zipfile.ZIP_DEFLATED)


for key, (shape, strides, offset) in {"offset": ((0, 3), (3, 1), 2**62), "stride": ((1, 3), (2**62, 1), 0),
                                      "stride_of_nothing": ((0, 3), (2**62, 1), 0)}.items():
    def make(shape=shape, strides=strides, offset=offset):
        torch(state([("0.weight", tensor("0", 6, shape, strides, offset))]), {"0": WEIGHTS}, [linear(3, 1, True)])

    make.__name__ = f"torch_huge_{key}"
    case(EXPORT_PT, 4, "0.bias|shape")(make)


@case(EXPORT_PT, 4, "copied more often")
def torch_list_copied_again_and_again():
    pickles = b"c__builtin__\nlist\nq\x00(" + b"N" * 200000 + b"lq\x01" + b"h\x00h\x01\x85R0" * 2000 + b"}"
    torch(pickles, {})


@case(EXPORT_PT, 4, "longer than 512")
def torch_long_name_again_and_again():
    torch(text("x" * 200000) + b"q\x000" + b"h\x00h\x00\x930" * 20000 + b"}", {})


@case(EXPORT_PT, 4, "missing")
def torch_many_keys_and_many_layers():
    keys = (str(i).encode() for i in range(100000))
    torch(b"}(" + b"".join(b"\x8c" + bytes([len(key)]) + key + b"N" for key in keys) + b"u", {})
    write("d.json", "[" + ",".join(['{"type":"BatchNorm2d","num_features":1}'] * 20000) + "]")


# --- ONNX files ---


def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def varint(value):
    out = b""
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def model(graph):
    return b"\x08\x08" + field(7, graph) + field(8, b"\x10\x11")


def nested(depth):
    """Graphs in attributes of nodes of graphs."""
    graph = b""
    for _ in range(depth):
        graph = field(1, field(4, b"If") + field(5, field(1, b"a") + b"\xa0\x01\x05" + field(6, graph)))
    return model(graph)


ONNX = {
    "deep_graphs": nested(3000),
    "varint_without_end": b"\x08" + b"\xff" * 100,
    "length_of_2_63": b"\x3a\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
    "length_of_2_64": b"\x3a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
    "group": b"\x3b" * 100000,
    "field_zero": b"\x02\x00",
    "text": b"not a model at all",
    "dims_overflow": model(field(5, b"\x08" + varint(2**62) + b"\x08" + varint(4) + b"\x10\x01" + field(8, b"w") + field(9, b"1234"))),
    "dims_negative": model(field(5, b"\x08" + varint(2**64 - 4) + b"\x10\x01" + field(8, b"w") + field(9, b"1234"))),
    "short_data": model(field(5, b"\x08\x64\x10\x01" + field(8, b"w") + field(9, b"1234"))),
    # A type that is a tensor and a sequence in turn, among many fields that nobody knows; the field zero at the end is refused.
    "types_in_turn": model(field(11, field(2, b"\xa0\x06\x00\xa8\x06\x00" * 80000 + b"\x0a\x00\x22\x00" * 80000))) + b"\x02\x00",
}
for key, data in ONNX.items():
    def make(data=data):
        write("m.onnx", data)

    make.__name__ = f"onnx_{key}"
    case("verify net.netcl m.onnx", (4, 6), extra=["net.netcl"])(make)


# Long findings fill the message first; after that none may cost a search through all nodes.
@case("inspect m.onnx", (0, 4))
def onnx_with_many_missing_inputs():
    inputs = b"".join(field(1, name) for name in [b"x" * 350] * 20 + [b"y"] * 120000)
    write("m.onnx", model(field(1, inputs + field(2, b"o") * 120000 + field(4, b"Relu"))))


# Every node asks for the opset of its domain.
@case("inspect m.onnx", (0, 4))
def onnx_with_many_imports():
    node = field(1, field(4, b"R") + field(7, b"zz"))
    imports = b"".join(field(8, field(1, b"d%d" % i) + b"\x10\x01") for i in range(60000))
    write("m.onnx", b"\x08\x08" + field(7, node * 60000) + imports)


# --- What is no file ---


def source(make):
    return case("export source -o out.onnx", 5, "^error: source: ")(make)


@source
def source_is_missing():
    pass


@source
def source_is_a_folder():
    os.mkdir("source")


@source
def source_is_a_socket():
    socket.socket(socket.AF_UNIX).bind("source")


@source
def source_is_a_link_to_nothing():
    os.symlink("nowhere", "source")


@source
def source_is_a_link_to_itself():
    os.symlink("source", "source")


@source
def source_is_a_link_to_a_device():
    os.symlink("/dev/zero", "source")


@source
def source_is_below_a_file():
    os.symlink("file/inside", "source")
    write("file", "x")


@case("export source -o out.onnx", 5, "^error: source: .*Permission denied", user=NOBODY)
def source_may_not_be_read():
    shutil.copy(GOOD, "source")
    os.chmod("source", 0)


@case("export " + "x" * 5000 + " -o out.onnx", 5, "File name too long")
def source_name_is_too_long():
    pass


@case("export source -o out.onnx", 4, "^error: source: .*empty|0 bytes")
def source_is_empty():
    write("source", "")


# --- Archives that are right ---


def commented(name, members):
    """An archive whose comment looks like the end of another one."""
    archive(name, members)
    data = pathlib.Path(name).read_bytes()
    comment = end(1, 46, 5)[:-2] + struct.pack("<H", 3) + b"abc"
    write(name, data[:-2] + struct.pack("<H", len(comment)) + comment)


@case("inspect m.npz --description m.npz", 0)
def comment_that_looks_like_an_end():
    write("m.json", json.dumps([linear(3, 2)]))
    commented("m.npz", {"0:weight.npy": npy("<f4", "(3, 2)", bytes(24))})


@case("inspect x.zip", 4, "no known format")
def comment_that_looks_like_an_end_of_something_else():
    commented("x.zip", {"note.txt": b"hello"})


# --- Checkpoints ---


def checkpoint(*names):
    """Two parameters of a batch normalization under these names, in their order, and its description."""
    layer = {"type": "BatchNorm2d", "args": {"num_features": 2}}
    roles = ("gamma", "beta", "running_mean", "running_var")
    netcl("d.netcl", [layer], {f"0:{role}.npy": npy("<f4", "(2,)", struct.pack("<2f", 1, 2)) for role in roles})
    archive("c.npz", {name: npy("<f4", "(2,)", struct.pack("<2f", 3, 4)) for name in names})


def by_order(name, code, message, *names):
    case("export c.npz --description d.netcl -o out.onnx", code, message)(lambda: checkpoint(*names))
    CASES[f"checkpoint_{name}"] = CASES.pop("<lambda>")


by_order("with_swapped_names", 4, r"bn\.beta\.npy.*gamma.*beta", "bn.beta.npy", "bn.gamma.npy")
by_order("with_swapped_words", 4, r"bias\.npy.*gamma.*bias", "bias.npy", "weight.npy")
by_order("with_statistics", 4, r"a_running_var\.npy.*beta.*running_var", "a_gamma.npy", "a_running_var.npy")
by_order("lacks_an_array", 4, "parameter 1", "bn1.gamma.npy")
by_order("has_more_arrays", 4, "2 parameters.*3 arrays", "x.npy", "y.npy", "z.npy")


# --- Targets ---


@case("export m.netcl -o m.netcl", 2)
def target_is_the_source():
    shutil.copy(GOOD, "m.netcl")


@case("export m.netcl -o ./folder/../m.netcl", 2)
def target_is_the_source_by_another_path():
    shutil.copy(GOOD, "m.netcl")
    os.mkdir("folder")


@case("export m.netcl -o hard.onnx", 2)
def target_is_a_hard_link_to_the_source():
    shutil.copy(GOOD, "m.netcl")
    os.link("m.netcl", "hard.onnx")


@case("export m.netcl -o soft.onnx", 2)
def target_is_a_symbolic_link_to_the_source():
    shutil.copy(GOOD, "m.netcl")
    os.symlink("m.netcl", "soft.onnx")


@case("export m -o m.npz", 2)
def target_is_the_second_file_of_the_source():
    pair("m")


@case("export m.pt --description d.netcl --input-shape 3x32x32 -o d.netcl", 2)
def target_is_the_description():
    shutil.copy(PT, "m.pt")
    shutil.copy(ROOT / "examples/b_cnn.netcl", "d.netcl")


@case("convert m -o m.json --format netcl_pair", 2)
def conversion_onto_a_source():
    pair("m")


@case("convert m -o m.npz --format netcl_checkpoint", 2)
def conversion_onto_a_source_in_another_format():
    pair("m")


@case("convert m -o m --format netcl_checkpoint", 2, r"^error: m\.npz: ")
def conversion_onto_the_stem_of_a_source():
    pair("m")


@case("convert m.json -o folder/../m --format netcl_pair", 2)
def conversion_onto_the_stem_by_another_path():
    pair("m")
    os.mkdir("folder")


@case("convert m.json -o soft --format netcl_pair", 2, r"^error: soft\.json: ")
def conversion_onto_a_stem_that_leads_to_a_source():
    pair("m")
    os.symlink("m.json", "soft.json")


@case("convert m.json -o hard --format netcl_pair", 2, r"^error: hard\.npz: ")
def conversion_onto_a_stem_with_a_hard_link_to_a_source():
    pair("m")
    os.link("m.npz", "hard.npz")


@case("convert m.npz --description d.json -o d --format netcl_pair", 2, r"^error: d\.json: ")
def conversion_onto_the_stem_of_the_description():
    pair("m")
    os.rename("m.json", "d.json")


@case("convert m.netcl -o m.netcl", 2)
def conversion_onto_the_source():
    shutil.copy(GOOD, "m.netcl")


def pair(stem):
    for suffix in (".json", ".npz"):
        shutil.copy(ROOT / f"tests/data/netcl/legacy/v013_mlp{suffix}", stem + suffix)


def target(name, message, **keys):
    return case(f"export {GOOD} -o {name}", 5, message, **keys)


@target("out", "folder")
def target_is_a_folder():
    os.mkdir("out")


@target("out", "device, pipe or socket")
def target_is_a_pipe():
    os.mkfifo("out")


@target("/dev/full", "device")
def target_is_a_device():
    pass


@target("out", "device")
def target_is_a_link_to_a_device():
    os.symlink("/dev/null", "out")


@target("none/out.onnx", "No such file")
def target_folder_is_missing():
    pass


@target("file/out.onnx", "Not a directory")
def target_folder_is_a_file():
    write("file", "x")


@target("folder/out.onnx", "Permission denied", user=NOBODY)
def target_folder_is_read_only():
    os.mkdir("folder")
    os.chmod("folder", 0o555)


@target("x" * 300, "File name too long")
def target_name_is_too_long():
    pass


@target("small/out.onnx", "No space left")
def target_disk_is_full():
    small_disk("small", "8k")


@target("small/out.onnx", "No space left")
def target_disk_is_full_and_an_older_model_is_there():
    small_disk("small", "16k")
    write("small/out.onnx", b"older" * 1000)


@case(f"export {GOOD} -o small/out.onnx --external-data always", 5, "No space left")
def target_disk_is_full_for_the_data_file():
    small_disk("small", "12k")


@case(f"convert {GOOD} -o small/out.json --format netcl_pair", 5, "No space left")
def target_disk_is_full_for_a_pair():
    small_disk("small", "12k")


def small_disk(folder, size="4m"):
    os.mkdir(folder)
    if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "oxp-test", folder], stderr=subprocess.DEVNULL).returncode:
        raise Skip("no small file system can be mounted here")


# --- Running ---


def snapshot():
    found = {}
    for path in sorted(pathlib.Path(".").rglob("*")):
        mode = path.lstat().st_mode
        found[str(path)] = path.read_bytes() if stat.S_ISREG(mode) and path.lstat().st_size < 1 << 20 else (mode, path.lstat().st_size)
    return found


def metadata():
    """An upper bound of the bytes that describe things, in files that are no bombs."""
    return sum(path.stat().st_size for path in pathlib.Path(".").iterdir() if path.is_file() and path.stat().st_size < 1 << 20)


def run(program, arguments, user=None):
    """Exit status, stdout, stderr, peak memory in bytes, seconds."""
    start = time.monotonic()
    # A CPU limit, because a process that hangs and one that spins are both ended then.
    def limits():
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        if user:
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)

    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = subprocess.Popen([program, *arguments], stdin=subprocess.DEVNULL, stdout=out, stderr=err, preexec_fn=limits)
        for _ in range(SECONDS * 100):
            done, code, usage = os.wait4(child.pid, os.WNOHANG)
            if done:
                break
            time.sleep(0.01)
        else:
            child.kill()
            _, code, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(code)
        out.seek(0)
        err.seek(0)
        return child.returncode, out.read(), err.read(), usage.ru_maxrss * 1024, time.monotonic() - start


def judge(name, before, answer, code, message, memory_limit):
    status, out, err, memory, seconds = answer
    codes = code if isinstance(code, tuple) else (code,)
    text = err.decode("utf-8", "strict")
    after = snapshot()
    problems = []
    if status not in codes:
        problems.append(f"exit status {status} instead of {code}")
    if status != 0 and (out or not re.fullmatch(r"error: [^\n]*\n", "".join(text.splitlines(True)[-1:]))):
        problems.append(f"not one line of error: {out[:200]!r} {text[:200]!r}")
    if any(ord(c) < 32 and c != "\n" or 127 <= ord(c) < 160 for c in text):
        problems.append(f"control characters in the message: {text[:300]!r}")
    if status != 0 and not re.search(message, text, re.M):
        problems.append(f"the message does not say {message!r}")
    if after != before:
        problems.append(f"files changed: {sorted({name for name, _ in set(after.items()) ^ set(before.items())})[:5]}")
    if memory > memory_limit:
        problems.append(f"{memory >> 20} MB of memory, {memory_limit >> 20} allowed")
    if seconds > SECONDS:
        problems.append(f"{seconds:.1f} seconds")
    return problems, text


def public_copy(program):
    """The program where every user can reach it, which a checkout below /root is not."""
    folder = tempfile.mkdtemp(prefix="oxp-public-")
    os.chmod(folder, 0o755)
    return shutil.copy(program, folder)


def main():
    program = os.path.abspath(sys.argv[1])
    wanted = sys.argv[2:] or list(CASES)
    baseline = run(program, ["formats"])[3]
    failed = skipped = 0
    public = None
    home = os.getcwd()
    for name in wanted:
        make, arguments, code, message, keys = CASES[name]
        folder = tempfile.mkdtemp(prefix="oxp-hostile-")
        os.chdir(folder)
        os.chmod(folder, 0o755)
        try:
            if keys.get("user") and os.geteuid() != 0:
                raise Skip("needs another user")
            for extra in keys.get("extra", []):
                shutil.copy(GOOD, extra)
            make()
            before = snapshot()
            if keys.get("user"):
                public = public or public_copy(program)
            answer = run(public if keys.get("user") else program, arguments, keys.get("user"))
            problems, text = judge(name, before, answer, code, message, baseline + EXTRA_MEMORY + PER_BYTE * metadata())
            if os.environ.get("SHOW"):
                print(f"{name}: {answer[0]}, {answer[3] >> 20} MB, {answer[4]:.2f} s: {text.strip()[:230]}")
            for problem in problems:
                print(f"FAILED {name}: {problem}\n    {text.strip()[:300]}")
            failed += bool(problems)
        except Skip as reason:
            print(f"skipped {name}: {reason}")
            skipped += 1
        finally:
            subprocess.run(["umount", "small"], stderr=subprocess.DEVNULL)
            os.chdir(home)
            subprocess.run(["chmod", "-R", "u+rwX", folder], stderr=subprocess.DEVNULL)
            shutil.rmtree(folder)
    if public:
        shutil.rmtree(os.path.dirname(public))
    print(f"{len(wanted)} cases, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
