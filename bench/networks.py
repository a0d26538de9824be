"""Networks for the benchmark, in netcl's forms. Weights are made and written block by block and are never held as a whole, except
where an array is transposed. The same seed gives the same weights in every form, so all forms must export to the same bytes.

Place: bench; used by bench.py and by the scripts that run other exporters.
"""
import array
import hashlib
import json
import random
import struct
import zipfile

BLOCK_BYTES = 8 << 20


class Weight:
    """One array: its member name, its shape, and its elements as little-endian float32, made on demand."""

    def __init__(self, name, shape, seed):
        self.name, self.shape, self.seed = name, shape, seed
        self.bytes = 4
        for size in shape:
            self.bytes *= size

    def blocks(self):
        """Values from 1/128 to 1/8 of either sign: random bits with the exponent held in range, so that none is NaN."""
        source = random.Random(self.seed)
        for start in range(0, self.bytes, BLOCK_BYTES):
            count = min(BLOCK_BYTES, self.bytes - start) // 4
            bits = source.getrandbits(32 * count)
            mask = int.from_bytes(struct.pack("<I", 0x81FFFFFF) * count, "little")
            exponent = int.from_bytes(struct.pack("<I", 0x3C000000) * count, "little")
            yield (bits & mask | exponent).to_bytes(4 * count, "little")

    def sha256(self):
        digest = hashlib.sha256()
        for block in self.blocks():
            digest.update(block)
        return digest.hexdigest()


class Network:
    """netcl's layers with their weights, in order."""

    def __init__(self):
        self.layers, self.weights = [], []

    def linear(self, inputs, outputs):
        index = len(self.layers)
        self.layers.append(("Linear", {"in_features": inputs, "out_features": outputs, "bias": True}))
        self.weights.append(Weight(f"{index}:weight", (inputs, outputs), 2 * index))
        self.weights.append(Weight(f"{index}:bias", (outputs,), 2 * index + 1))

    def relu(self):
        self.layers.append(("ReLU", {}))


def two_large():
    """537 MB of weights: two Linear 8192x8192 with bias."""
    network = Network()
    network.linear(8192, 8192)
    network.linear(8192, 8192)
    return network


def small():
    """An MLP 784-128-10."""
    network = Network()
    network.linear(784, 128)
    network.relu()
    network.linear(128, 10)
    return network


def chain(layers):
    network = Network()
    for _ in range(layers // 2):
        network.linear(4, 4)
        network.relu()
    return network


def huge():
    """6.4 GB of weights: six Linear 16384x16384 with bias."""
    network = Network()
    for _ in range(6):
        network.linear(16384, 16384)
    return network


# --- Writing ---


def npy_header(descr, fortran, shape):
    text = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {tuple(shape)!r}, }}"
    text += " " * (63 - (len(text) + 10) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


def column_major(weight):
    """The elements of a matrix, column after column."""
    elements = array.array("I", b"".join(weight.blocks()))
    columns = weight.shape[1]
    for column in range(columns):
        yield elements[column::columns].tobytes()


def big_endian(weight):
    for block in weight.blocks():
        elements = array.array("I", block)
        elements.byteswap()
        yield elements.tobytes()


def write_member(archive, weight, form):
    fortran = form == "fortran" and len(weight.shape) > 1
    blocks = column_major(weight) if fortran else big_endian(weight) if form == "big-endian" else weight.blocks()
    with archive.open(weight.name + ".npy", "w", force_zip64=True) as member:
        member.write(npy_header(">f4" if form == "big-endian" else "<f4", fortran, weight.shape))
        for block in blocks:
            member.write(block)


def description(network, **more):
    layers = [{"type": kind, "args": arguments} for kind, arguments in network.layers]
    return json.dumps({"type": "Sequential", "config": layers, **more})


def write_meta(archive, network):
    text = description(network, version=2, format="netcl.single-file")
    with archive.open("__netcl_meta__.npy", "w", force_zip64=True) as member:
        member.write(npy_header(f"<U{len(text)}", False, ()) + text.encode("utf-32-le"))


def write_netcl(network, path, form="plain"):
    """netcl's single file. Forms: plain, fortran (matrices column by column), big-endian, deflated."""
    method = zipfile.ZIP_DEFLATED if form == "deflated" else zipfile.ZIP_STORED
    with zipfile.ZipFile(path, "w", method, compresslevel=1 if form == "deflated" else None) as archive:
        for weight in network.weights:
            write_member(archive, weight, form)
        write_meta(archive, network)


def write_pair(network, stem):
    """netcl's older form: STEM.json and STEM.npz."""
    with open(f"{stem}.json", "w", encoding="utf-8") as file:
        file.write(description(network, version=1))
    with zipfile.ZipFile(f"{stem}.npz", "w", zipfile.ZIP_STORED) as archive:
        for weight in network.weights:
            write_member(archive, weight, "plain")
