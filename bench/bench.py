#!/usr/bin/env python3
"""The project's limits on speed and memory, measured: one row each, with its figure, its limit and a verdict.

What is measured is always the whole command, started as a user starts it. docs/benchmarks.md says how to read the figures.
Needs Python 3.9 and nothing else; `./dev bench` builds what is measured. Exit status: 0 all limits kept, 1 one missed, 2 usage.
"""
import argparse
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import machine  # noqa: E402
import networks  # noqa: E402
import onnx_weights  # noqa: E402
from timing import Failed, Task, Timer, ratio  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
MIB = 1 << 20
PEER_RUNS = 3
# What holds whole models in memory is several times faster with this on machines where small pages are dear.
HUGE_PAGES = "GLIBC_TUNABLES=glibc.malloc.hugetlb=1"


class Skipped(Exception):
    """The row cannot be measured here; the text says why."""


class Limit:
    """One figure of a row beside its limit (None: only printed)."""

    def __init__(self, value, limit, unit, aim=None):
        self.value, self.limit, self.unit, self.aim = value, limit, unit, aim

    @property
    def kept(self):
        return self.limit is None or self.value <= self.limit

    @staticmethod
    def spell(value, unit):
        if unit == "ms":
            return f"{value * 1e3:.1f} ms"
        if unit == "MB":
            return f"{value / MIB:.1f} MB"
        return f"{value:.2f} s" if unit == "s" else f"{value:.2f}"

    def __str__(self):
        text = self.spell(self.value, self.unit)
        if self.limit is None:
            return text
        return f"{text} of {self.spell(self.limit, self.unit)}{'' if self.kept else ' MISSED'}"


class Result:
    """What a row found: figures with limits, a sentence with the medians, and everything that was measured."""

    def __init__(self, figures, note, series):
        self.figures, self.note, self.series = figures, note, series

    @property
    def kept(self):
        return all(figure.kept for figure in self.figures)


def file_sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while chunk := file.read(MIB):
            digest.update(chunk)
    return digest.hexdigest()


class Bench:
    """The work folder, the inputs in it, and what all rows do."""

    def __init__(self, options):
        self.command, self.folder, self.runs = options.onnxport, options.folder, options.runs
        self.keep, self.timer = options.keep, Timer(str(options.measure))
        self.networks = {}
        self.model_sha256 = {}  # of the model that each network was exported to, whatever form it came in

    # --- Inputs ---

    def need_room(self, count):
        free = shutil.disk_usage(self.folder).free
        if free < count + (1 << 30):
            raise Skipped(f"needs {count / 1e9:.0f} GB of disk and 1 to spare, {free / 1e9:.0f} are free")

    def network(self, make):
        if make not in self.networks:
            self.networks[make] = make()
        return self.networks[make]

    def input(self, make, form="plain"):
        """The file of a network in some form; made once, kept until `drop` (or for the next time with --keep)."""
        network = self.network(make)
        stem = self.folder / f"{make.__name__ if hasattr(make, '__name__') else make}-{form}"
        path = stem.with_suffix(".npz" if form == "pair" else ".netcl")
        done = stem.with_suffix(".done")
        if done.exists():
            return path
        self.need_room(sum(weight.bytes for weight in network.weights) * 3)
        print(f"making {path.name}", file=sys.stderr)
        if form == "pair":
            networks.write_pair(network, stem)
        else:
            networks.write_netcl(network, path, form)
        os.sync()  # what was just written is not to be written back while something is timed
        done.touch()
        return path

    def drop(self, path):
        if not self.keep:
            for other in path.parent.glob(path.stem + ".*"):
                other.unlink()

    def clear(self, name):
        """An empty folder for what a command writes. Each run starts without other targets and with little to write back."""
        written = sum(path.stat().st_size for other in ("ours", "base") for path in self.folder.glob(f"{other}/*"))
        for other in ("ours", "base"):
            shutil.rmtree(self.folder / other, ignore_errors=True)
        if written > 64 * MIB:
            os.sync()
        if written > 2048 * MIB:
            machine.touch_free_memory()
        folder = self.folder / name
        folder.mkdir()
        return folder

    # --- What is measured ---

    def export(self, source, *options):
        target = self.folder / "ours"
        words = [self.command, "export", source, "-o", target / "model.onnx", "--quiet", *options]
        return Task(words, lambda: self.clear("ours"))

    def copy(self, source, sync=False):
        target = self.folder / "base" / "copy"
        words = ["sh", "-c", 'cp "$1" "$2" && sync "$2"', "sh", source, target] if sync else ["cp", source, target]
        return Task(words, lambda: self.clear("base"))

    # --- What must be right, or no figure counts ---

    def check(self, make):
        """The model that was written last holds the network's weights bit for bit, and is the same from every form."""
        path = str(self.folder / "ours" / "model.onnx")
        wanted = [(list(weight.shape), weight.sha256()) for weight in self.network(make).weights]
        found = [(tensor.dims, tensor.sha256()) for tensor in onnx_weights.initializers(path)]
        if found != wanted:
            raise Failed(f"WRONG: the exported weights are not those of the source ({len(found)} of {len(wanted)} found)")
        digest = file_sha256(path)
        if self.model_sha256.setdefault(make, digest) != digest:
            raise Failed("WRONG: the model differs from what the same network in another form was exported to")

    def against(self, make, source, base_name, base, limit, *options, aim=None):
        """Exports `source` and runs `base` in turn."""
        export = self.export(source, *options)
        ours, theirs = self.timer.series(self.runs, export, base)
        self.timer.run(export)
        self.check(make)
        figures = [Limit(ratio(ours, theirs), limit, "x", aim), Limit(ours.peak_kib * 1024, 8 * MIB, "MB")]
        note = f"{ours.median:.3f} s, {base_name} {theirs.median:.3f} s"
        return Result(figures, note, {"onnxport": ours, base_name: theirs})


# --- Rows ---


def row_netcl(bench):
    source = bench.input(networks.two_large)
    return bench.against(networks.two_large, source, "cp", bench.copy(source), 1.0, aim=0.75)


def row_sync(bench):
    source = bench.input(networks.two_large)
    copy = bench.copy(source, sync=True)
    return bench.against(networks.two_large, source, "cp and sync", copy, 1.1, "--sync", "always")


def row_form(bench, form, base_name, base, limit):
    source = bench.input(networks.two_large, form)
    try:
        return bench.against(networks.two_large, source, base_name, base(source), limit)
    finally:
        bench.drop(source)


def row_pair(bench):
    return row_form(bench, "pair", "cp", bench.copy, 1.1)


def row_fortran(bench):
    return row_form(bench, "fortran", "cp", bench.copy, 3)


def row_big_endian(bench):
    return row_form(bench, "big-endian", "cp", bench.copy, 3)


def need_unzip():
    if not shutil.which("unzip"):
        raise Skipped("needs unzip (./dev setup --peers)")


def row_deflated(bench):
    need_unzip()
    target = bench.folder / "base" / "members"
    return row_form(bench, "deflated", "unzip -p",
                    lambda source: Task(["unzip", "-p", source], lambda: bench.clear("base"), target), 1.2)


def row_small(bench):
    source = bench.input(networks.small)
    export = bench.export(source)
    (ours,) = bench.timer.series(4 * bench.runs, export)
    bench.check(networks.small)
    figures = [Limit(ours.median, 0.005, "ms"), Limit(ours.peak_kib * 1024, 6 * MIB, "MB")]
    return Result(figures, f"{ours.cpu * 1e3:.1f} ms of CPU time", {"onnxport": ours})


def chain_5000():
    return networks.chain(5000)


def chain_20000():
    return networks.chain(20000)


def row_chain(bench):
    need_unzip()
    short, long = bench.input(chain_5000), bench.input(chain_20000)
    test = Task(["unzip", "-tqq", long])
    ours, unzip, base = bench.timer.series(bench.runs, bench.export(long), test, bench.export(short))
    bench.timer.run(bench.export(long))
    bench.check(chain_20000)
    figures = [Limit(ratio(ours, unzip), 4, "x", 2.5), Limit(ratio(ours, base), 5, "x"),
               Limit(ours.peak_kib * 1024, None, "MB")]
    note = (f"{ours.median:.3f} s, {ours.cpu:.3f} s of it CPU time; unzip -tqq {unzip.median:.3f} s; "
            f"5,000 layers {base.median:.3f} s")
    return Result(figures, note, {"onnxport": ours, "unzip -tqq": unzip, "5,000 layers": base})


def row_external(bench):
    options = subprocess.run([bench.command, "export", "--help"], capture_output=True, text=True, check=True).stdout
    if "external-data" not in options:
        raise Skipped("the command has no option --external-data")
    source = bench.input(networks.huge)
    try:
        return bench.against(networks.huge, source, "cp", bench.copy(source), 1.1)
    finally:
        bench.drop(source)


# --- Other exporters: printed beside ours, without a limit ---


def find_python(modules):
    """A Python that has the modules: the one of ./dev setup, the system's, or the one that runs this."""
    for python in (HERE.parent / ".deps/venv/bin/python", "/usr/bin/python3", sys.executable):
        tried = subprocess.run([python, "-c", f"import {modules}"], capture_output=True, check=False) \
            if os.access(python, os.X_OK) else None
        if tried and tried.returncode == 0:
            return python
    raise Skipped(f"no Python here can import {modules} (./dev setup --peers)")


def row_peer(bench, name, script, modules):
    python = find_python(modules)
    source = bench.input(networks.two_large)
    said = bench.folder / "said"
    words = [python, HERE / script, source, bench.folder / "base" / "model.onnx", 8192]
    peer = Task(words, lambda: bench.clear("base"), said)
    helped = Task(["env", HUGE_PAGES, *words], lambda: bench.clear("base"), bench.folder / "said-helped")
    theirs, faster, ours = bench.timer.series(min(bench.runs, PEER_RUNS), peer, helped, bench.export(source))
    call = float(said.read_text(encoding="utf-8").split()[-1])
    note = (f"its call alone {call:.1f} s; with huge pages {faster.median:.2f} s; "
            f"onnxport {ours.median:.3f} s, {ours.peak_kib / 1024:.1f} MB")
    figures = [Limit(theirs.median, None, "s"), Limit(theirs.peak_kib * 1024, None, "MB")]
    return Result(figures, note, {name: theirs, f"{name}, huge pages": faster, "onnxport": ours})


def row_peer_netcl(bench):
    return row_peer(bench, "netcl", "peer_netcl.py", "netcl, onnx")


def row_peer_torch(bench):
    return row_peer(bench, "torch", "peer_torch.py", "torch, onnx, numpy")


ROWS = {
    "netcl": (row_netcl, "537 MB .netcl, over cp"),
    "sync": (row_sync, "the same with --sync always, over cp and sync"),
    "pair": (row_pair, "the same from the older pair of files, over cp"),
    "fortran": (row_fortran, "the same, matrices stored column by column, over cp"),
    "big-endian": (row_big_endian, "the same, big-endian, over cp"),
    "deflated": (row_deflated, "the same, deflated members, over unzip -p to a file"),
    "small": (row_small, "small MLP (0.4 MB), whole process"),
    "chain": (row_chain, "20,000 layers, over unzip -tqq; and over 5,000"),
    "external": (row_external, "6.4 GB, external data, over cp"),
    "peer-netcl": (row_peer_netcl, "netcl's exporter, 537 MB"),
    "peer-torch": (row_peer_torch, "torch.onnx.export, 537 MB"),
}


# --- Running and printing ---


def run_row(bench, name):
    """Prints one line; returns what goes into the JSON object."""
    function, title = ROWS[name]
    record = {"row": name, "title": title, "load": machine.load()}
    try:
        result = function(bench)
    except Skipped as reason:
        record.update(verdict="skipped", note=str(reason))
        print(f"{title:52} skipped: {reason}", flush=True)
        return record
    except Failed as reason:
        record.update(verdict="failed", note=str(reason))
        print(f"{title:52} FAILED: {reason}", flush=True)
        return record
    limited = any(figure.limit is not None for figure in result.figures)
    verdict = "ok" if result.kept else "MISSED"
    record.update(
        verdict=verdict.lower() if limited else "printed",
        note=result.note,
        figures=[vars(figure) | {"kept": figure.kept} for figure in result.figures],
        series={key: series.summary() for key, series in result.series.items()},
    )
    cells = ", ".join(str(figure) for figure in result.figures)
    print(f"{title:52} {verdict if limited else '-':6} {cells}  ({result.note}; load {record['load'].split()[0]})", flush=True)
    return record


def parse_arguments():
    root = HERE.parent
    parser = argparse.ArgumentParser(prog="./dev bench", description="Measure the project's limits on speed and memory.")
    parser.add_argument("--row", action="append", choices=ROWS, help="measure this row only (may be given again)")
    parser.add_argument("--runs", type=int, default=11, help="counted runs of each command (default 11)")
    parser.add_argument("--quick", action="store_true", help="3 runs instead; no figure to quote")
    parser.add_argument("--keep", action="store_true", help="leave the inputs in the folder for the next time")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write everything that was measured")
    parser.add_argument("--folder", type=pathlib.Path, default=root / "build/bench/work", help="where the inputs go")
    parser.add_argument("--onnxport", type=pathlib.Path, default=root / "build/onnxport", help="the command to measure")
    parser.add_argument("--measure", type=pathlib.Path, default=root / "build/bench/measure", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.quick:
        options.runs = 3
    options.folder = options.folder.resolve()
    return options


def print_machine(about):
    print(f"onnxport {about['onnxport']} on {about['processor']}, {about['processors']} processors, "
          f"{about['memory_gib']} GiB; {about['system']}; {about['file_system']}; load {machine.load()}")
    if os.getloadavg()[0] > 0.5:
        print("note: something else is running; what is absolute (not a ratio) comes out too high")


def main():
    options = parse_arguments()
    options.folder.mkdir(parents=True, exist_ok=True)
    about = machine.describe(options.onnxport, options.folder)
    print_machine(about)
    bench = Bench(options)
    try:
        rows = [run_row(bench, name) for name in options.row or ROWS]
    finally:
        for name in ("ours", "base"):
            shutil.rmtree(options.folder / name, ignore_errors=True)
        if not options.keep:
            shutil.rmtree(options.folder, ignore_errors=True)
    if options.json:
        document = {"machine": about, "runs": options.runs, "rows": rows}
        options.json.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    bad = [row["row"] for row in rows if row["verdict"] in ("missed", "failed")]
    print(f"missed: {', '.join(bad)}" if bad else "all limits that were measured are kept")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
