"""netcl_judge.py ONNXPORT DATA FOLDER: converts golden networks into every form of netcl's files and has the genuine netcl package load
them. Layers, arguments and every bit of the weights must be those of the original. Exit status 77 (skipped) without netcl."""
import os
import shutil
import subprocess
import sys

try:
    import numpy
    from netcl.core.device import manager
    from netcl.io import load_model
    from netcl.io.checkpoint import load_checkpoint
    from netcl.io.interop import load_into_model
    from netcl.io.serialization import layer_to_config
except ImportError as missing:
    print("skipped: netcl cannot be imported (%s); ./dev setup installs it" % missing)
    sys.exit(77)

NETS = [("a_mlp", None), ("b_cnn", "3x32x32"), ("c_conv_groups", None), ("d_bn", None), ("e_dropout_pool", "4x29x22"),
        ("f_allact", None), ("p_pools", "3x23x26"), ("z_empty", "3"), ("act/f_leaky_neg", "16"), ("detector/h_det26", None),
        ("legacy/v014_nobias", "3x9x9"), ("edge/leaky_int_slope", "4"), ("damaged/bigendian", "2x5x6"),
        ("damaged/fortran", "2x5x6"), ("damaged/float64", "2x5x6")]
STATISTICS = ("running_mean", "running_var")


def values(array):
    """A parameter or buffer as a NumPy array."""
    return numpy.asarray(array.to_host() if hasattr(array, "to_host") else array)


def weights(model):
    """Every stored array of a model by layer and name."""
    found = {}
    for index, layer in enumerate(model.layers):
        for key in ("weight", "bias", "gamma", "beta") + STATISTICS:
            if getattr(layer, key, None) is not None:
                found[index, key] = values(getattr(layer, key))
    return found


def parameters(model):
    return [getattr(layer, key) for layer in model.layers for key in ("weight", "bias", "gamma", "beta")
            if getattr(layer, key, None) is not None]


def spoil(model):
    """Overwrites all parameters and statistics, so that only what a file holds can bring them back."""
    for array in parameters(model):
        array.write(numpy.full(array.shape, -77, dtype=numpy.float32))
    for layer in model.layers:
        for key in STATISTICS:
            old = getattr(layer, key, None)
            if old is None:
                continue
            if hasattr(old, "write"):
                old.write(numpy.full(old.shape, -77, dtype=numpy.float32))
            else:
                setattr(layer, key, numpy.full_like(values(old), -77))
    return model


def compare(name, form, wanted, got, but=()):
    if [layer_to_config(layer) for layer in wanted.layers] != [layer_to_config(layer) for layer in got.layers]:
        return ["%s as %s: the layers differ" % (name, form)]
    a, b = weights(wanted), weights(got)
    if a.keys() != b.keys():
        return ["%s as %s: arrays %s instead of %s" % (name, form, sorted(b), sorted(a))]
    return ["%s as %s: %d.%s differs" % (name, form, index, key) for index, key in a
            if key not in but and (a[index, key].shape != b[index, key].shape or
                                   a[index, key].tobytes() != b[index, key].tobytes())]


def judge(command, source, name, shape, folder, queue):
    def convert(form, target):
        path = os.path.join(folder, target)
        subprocess.run([command, "convert", source, "-o", path, "--format", form, "--quiet"] +
                       (["--input-shape", shape] if shape else []), check=True)
        return path

    wanted = load_model(source, queue=queue)
    faults = compare(name, "netcl", wanted, load_model(convert("netcl", "single.netcl"), queue=queue))
    faults += compare(name, "netcl_pair", wanted, load_model(convert("netcl_pair", "pair"), queue=queue))
    model = spoil(load_model(source, queue=queue))
    missing, unexpected = load_into_model(model, convert("netcl_pt", "model.pt"), strict=True)
    faults += ["%s as netcl_pt: missing %s, unexpected %s" % (name, missing, unexpected)] if missing or unexpected else []
    faults += compare(name, "netcl_pt", wanted, model)
    model = spoil(load_model(source, queue=queue))
    stored = load_checkpoint(queue, parameters(model), convert("netcl_checkpoint", "checkpoint"))
    faults += [] if stored == {"optim_state": {}, "config": {}} else ["%s as netcl_checkpoint: its JSON differs" % name]
    return faults + compare(name, "netcl_checkpoint", wanted, model, but=STATISTICS)


def main(command, data, folder):
    queue = manager.default("cpu").queue
    shutil.rmtree(folder, ignore_errors=True)
    faults = []
    for name, shape in NETS:
        place = os.path.join(folder, name.replace("/", "_"))
        os.makedirs(place)
        found = judge(command, os.path.join(data, name + ".netcl"), name, shape, place, queue)
        print("%-24s %s" % (name, "right" if not found else "WRONG"))
        faults += found
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
