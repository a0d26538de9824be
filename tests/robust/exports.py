"""What kills.py and twice.py share: exporting into a folder and looking at what lies there."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SMALL = ROOT / "tests/data/netcl/a_mlp.netcl"
LARGE = ROOT / "examples/h_det26.netcl"
TEMPORARY = re.compile(r"\.model\.onnx\.oxp-[0-9a-f]{8}")
DATA = re.compile(r"model\.onnx\.[0-9a-f]{16}\.data")


def command(program, source, target, *options):
    return [program, "export", str(source), "-o", str(target), "--quiet", *options]


def export(program, source, target, *options):
    subprocess.run(command(program, source, target, *options), check=True, stdout=subprocess.DEVNULL)


def contents(folder):
    """Name to bytes of everything in the folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def fail(text):
    print(text, file=sys.stderr)
    sys.exit(1)


def check(folder, complete, leftovers_allowed):
    """The model is one of the complete ones, with its data; beside it only what nobody takes for a model."""
    found = contents(folder)
    model = found.pop("model.onnx", None)
    if model is None:
        fail("the model is gone")
    match = next((wanted for wanted in complete if wanted["model.onnx"] == model), None)
    if match is None:
        fail(f"the model, {len(model)} bytes, is neither the old nor the new one")
    for name, data in match.items():
        if name != "model.onnx" and found.pop(name, None) != data:
            fail(f"{name}, to which the model refers, is missing or damaged")
    strays = [name for name in found if not (TEMPORARY.fullmatch(name) or DATA.fullmatch(name))]
    if strays:
        fail(f"stray files: {strays}")
    if found and not leftovers_allowed:
        fail(f"left behind: {sorted(found)}")
    return complete.index(match), len(found)
