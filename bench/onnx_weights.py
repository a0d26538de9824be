"""Finds the weights in an ONNX file without loading it: just enough of the wire format to skip everything else.

Written apart from the library on purpose: it is the benchmark's judge of what the library wrote. Place: bench.
"""
import hashlib
import os

MODEL_GRAPH, GRAPH_INITIALIZER = 7, 5
TENSOR_DIMS, TENSOR_TYPE, TENSOR_NAME, TENSOR_RAW, TENSOR_EXTERNAL = 1, 2, 8, 9, 13
PAIR_KEY, PAIR_VALUE = 1, 2
CHUNK_BYTES = 1 << 20


class Initializer:
    def __init__(self):
        self.name, self.dims, self.type = "", [], 0
        self.path, self.offset, self.bytes = None, 0, 0

    def sha256(self):
        digest = hashlib.sha256()
        with open(self.path, "rb") as file:
            file.seek(self.offset)
            left = self.bytes
            while left > 0:
                chunk = file.read(min(left, CHUNK_BYTES))
                if not chunk:
                    raise ValueError(f"{self.path} ends inside the data of {self.name}")
                digest.update(chunk)
                left -= len(chunk)
        return digest.hexdigest()


def read_varint(file):
    number = shift = 0
    while True:
        byte = file.read(1)
        if not byte:
            raise ValueError("the file ends inside a number")
        number |= (byte[0] & 0x7F) << shift
        shift += 7
        if byte[0] < 0x80:
            return number


def fields(file, end):
    """Yields (number, value) up to `end`: a number, or for bytes their (start, length). The caller may move in the file."""
    while file.tell() < end:
        tag = read_varint(file)
        kind = tag & 7
        if kind == 0:
            yield tag >> 3, read_varint(file)
            continue
        length = read_varint(file) if kind == 2 else {1: 8, 5: 4}[kind]
        start = file.tell()
        if start + length > end:
            raise ValueError(f"a field of {length} bytes at byte {start} does not fit")
        yield tag >> 3, (start, length)
        file.seek(start + length)


def text_at(file, span):
    file.seek(span[0])
    return file.read(span[1]).decode()


def read_pair(file, span):
    file.seek(span[0])
    pair = {number: text_at(file, value) for number, value in fields(file, sum(span))}
    return pair.get(PAIR_KEY), pair.get(PAIR_VALUE)


def read_dims(file, value):
    if isinstance(value, int):
        return [value]
    file.seek(value[0])
    dims = []
    while file.tell() < sum(value):
        dims.append(read_varint(file))
    return dims


def read_tensor(file, path, span):
    tensor, external = Initializer(), {}
    file.seek(span[0])
    for number, value in fields(file, sum(span)):
        if number == TENSOR_DIMS:
            tensor.dims += read_dims(file, value)
        elif number == TENSOR_TYPE:
            tensor.type = value
        elif number == TENSOR_NAME:
            tensor.name = text_at(file, value)
        elif number == TENSOR_RAW:
            tensor.path, (tensor.offset, tensor.bytes) = path, value
        elif number == TENSOR_EXTERNAL:
            external.update([read_pair(file, value)])
    if external:
        tensor.path = os.path.join(os.path.dirname(path), external["location"])
        tensor.offset, tensor.bytes = int(external.get("offset", 0)), int(external["length"])
    return tensor


def initializers(path):
    """All initializers of the model at `path`, in the file's order."""
    found = []
    with open(path, "rb") as file:
        for number, span in fields(file, os.path.getsize(path)):
            if number != MODEL_GRAPH:
                continue
            file.seek(span[0])
            for inner, value in fields(file, sum(span)):
                if inner == GRAPH_INITIALIZER:
                    found.append(read_tensor(file, path, value))
    return found
