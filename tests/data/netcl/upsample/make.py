"""make.py: writes nearest.npy and bilinear.npy beside it, from what netcl's own Upsample layer gives on its CPU backend."""
import os

import numpy
from netcl.core.device import manager
from netcl.core.tensor import Tensor
from netcl.nn import Upsample

HERE = os.path.dirname(os.path.abspath(__file__))
queue = manager.default("cpu").queue


def column(values, size, **arguments):
    """The values as one column of a map, resized to `size` rows."""
    x = Tensor.from_host(queue, numpy.asarray(values, dtype=numpy.float32).reshape(1, 1, -1, 1), backend="cpu")
    return numpy.asarray(Upsample(size=(size, 1), **arguments).forward(x).array).ravel()


def nearest():
    """Rows (in, out, place, shown): all places of maps of 1 to 128 rows where netcl shows another row than
    floor(place * in / out)."""
    rows = []
    for before in range(1, 129):
        for after in range(1, 129):
            for place, shown in enumerate(column(range(before), after).astype(int)):
                if shown != place * before // after:
                    rows.append((before, after, place, shown))
    return numpy.array(rows, dtype=numpy.int16)


def bilinear():
    """The columns (37 i mod 101 - 50) / 100 of 1 to 10 rows, resized to 1 to 16, half-pixel and aligned, one after another."""
    parts = [column((numpy.arange(before) * 37 % 101 - 50) / 100, after, mode="bilinear", align_corners=aligned)
             for before in range(1, 11) for after in range(1, 17) for aligned in (False, True)]
    return numpy.concatenate(parts).astype(numpy.float32)


numpy.save(os.path.join(HERE, "nearest.npy"), nearest())
numpy.save(os.path.join(HERE, "bilinear.npy"), bilinear())
