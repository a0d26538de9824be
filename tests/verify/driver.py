#!/usr/bin/env python3
"""Can `onnxport verify` be fooled? Plants faults in models that are right, shows each to the command, and compares its verdict with
an independent judge's; then shows it models that are right. Prints a table in Markdown.

usage: driver.py ONNXPORT DATA FOLDER [--quick] [--page PAGE]

ONNXPORT is the command, DATA is tests/data, FOLDER is made and holds what failed afterwards. --quick takes a sample. --page writes the table
into a page, between its two marks. Exit status 0: all that is to be seen was found, the right layer was named, nothing right was
called wrong. 1: not so. 77: a module is missing."""
import argparse
import collections
import concurrent.futures
import dataclasses
import itertools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import zlib

try:
    import numpy
    import onnx
    from onnx import numpy_helper
except ImportError as missing:
    print(f"skipped: {missing}; ./dev setup installs it")
    sys.exit(77)

import judge
import networks
import plant

MATCH, DIFFER, NOT_AVAILABLE = 0, 1, 6  # exit statuses
RANDOM_NETWORKS, QUICK_NETWORKS = 40, 6
RIGHT_FORMS = 9  # of each network
# Faults planted in each network's model, drawn from all that fit: under the default profile, under the other one, in the quick part.
MOST_FAULTS = {"onnx": 12, "netcl": 3, "quick": 2}
OPSETS = range(13, 27)
MARKS = "<!-- driver: begin -->\n", "<!-- driver: end -->\n"


@dataclasses.dataclass
class Outcome:
    """One planted fault and what was said of it."""
    kind: str
    same: bool  # computes the same function
    powerful: bool  # --power says that it would be noticed
    visible: bool  # to be seen: the judge or --power says so
    found: bool
    named: bool  # the right layer
    complaint: str = ""  # what went wrong


class Command:
    """Runs the command; its files lie in a folder."""

    def __init__(self, path, folder):
        self.path, self.folder = path, folder

    def run(self, *words):
        return subprocess.run([str(word) for word in (self.path, *words)], capture_output=True, text=True, check=False)

    def export(self, network, name, *options):
        """The path of a right model; None when this form of it is refused."""
        target = self.folder / f"{name}.onnx"
        done = self.run("export", *network.words(), "-o", target, "--quiet", *options)
        if done.returncode not in (0, 3):
            raise ValueError(f"export of {network.name} {options}: {done.returncode} {done.stderr}")
        return target if done.returncode == 0 else None

    def verify(self, network, model, *options):
        """(exit status, report) of a comparison."""
        done = self.run("verify", *network.words(), model, "--json", *options)
        if done.returncode == NOT_AVAILABLE and not pathlib.Path(os.environ.get("ONNXPORT_ORT_LIBRARY", "")).is_file():
            print("skipped: ONNX Runtime is missing; ./dev setup installs it")
            sys.exit(77)
        return done.returncode, json.loads(done.stdout) if done.stdout else {}


def number(*words):
    """A seed from names, the same in every run."""
    return zlib.crc32(" ".join(map(str, words)).encode())


def drawn_from(model, report):
    """Centre and spread, per channel, of the values that `verify` said it drew."""
    scale = report["input"]["scale"]
    first = model.graph.node[0]
    if first.op_type != "BatchNormalization":
        return 0.0, scale
    arrays = {t.name: numpy_helper.to_array(t).astype(float) for t in model.graph.initializer}
    return arrays[first.input[3]], 3 * scale * numpy.sqrt(arrays[first.input[4]] + first.attribute[0].f)


# --- Planted faults ---

def outcome_of(command, network, fault, seen, powers, path):
    same, matters, visible = seen
    onnx.save(fault.model, path)
    status, report = command.verify(network, path)
    # An error in a layer's weights at least as large as the smallest that --power says would be noticed; but a normalization behind the
    # layer may take a common factor out again.
    powerful = not same and matters and fault.error > 0 and fault.error >= powers.get(fault.layer, float("inf"))
    found, named = status != MATCH, report.get("first_departure") == fault.layer
    refused = status not in (MATCH, DIFFER)
    outcome = Outcome(fault.kind, same, powerful, visible or powerful, found, named or refused)
    if outcome.visible and not found:
        outcome.complaint = "missed" + ("" if visible else " (by --power)")
    elif same and found:
        outcome.complaint = "the same function called different"
    elif found and not outcome.named:
        outcome.complaint = f"named {report.get('first_departure')}, not {fault.layer}"
    return outcome


def plant_in(command, network, profile, quick):
    """Plants faults into one network's model; returns the outcomes."""
    name = f"{network.name}-{profile}"
    path = command.export(network, name, "--profile", profile)
    if not path:
        return []
    model = onnx.load(path)
    status, report = command.verify(network, path, "--layers", "--power")
    if report.get("verdict") == "nothing shown":
        return []
    if status != MATCH:
        raise ValueError(f"{name}: the right model is not called right: {report}")
    powers = {row["name"]: row["power"] for row in report["layers"] if row.get("power") is not None}
    faults = plant.Planter(model, [row["name"] for row in report["layers"]], number(name)).all()
    most = MOST_FAULTS["quick" if quick else profile]
    faults = [faults[i] for i in sorted(numpy.random.default_rng(number(name)).permutation(len(faults))[:most])]
    seer = judge.Judge(model, network.shape, number(name), *drawn_from(model, report))
    outcomes = []
    for index, fault in enumerate(faults):
        wrong = command.folder / f"{name}-{index}.onnx"
        outcome = outcome_of(command, network, fault, seer.look(fault.model), powers, wrong)
        outcomes.append(outcome)
        if outcome.complaint:
            print(f"{outcome.complaint}: {fault.kind} in {fault.layer} (error {fault.error:.2g}, power "
                  f"{powers.get(fault.layer)}): onnxport verify {' '.join(map(str, network.words()))} {wrong}", flush=True)
        else:
            wrong.unlink()
    return outcomes


# --- Right models ---

def right_forms(network):
    """Ways to export and to verify one network, no two alike."""
    forms = list(itertools.product(OPSETS, ("onnx", "netcl"), ("dynamic", "1", "3"), ("literal", "expanded")))
    order = numpy.random.default_rng(number(network.name, "forms")).permutation(len(forms))
    return [forms[i] for i in order]


def right_in(command, network, quick):
    """Shows right models of one network; returns how many, how many of them showed nothing, and the false alarms."""
    count, nothing, alarms = 0, 0, []
    for opset, profile, batch, batchnorm in right_forms(network):
        if count == (1 if quick else RIGHT_FORMS):
            break
        options = ["--opset", opset, "--profile", profile, "--batch", batch, "--batchnorm", batchnorm]
        path = command.export(network, f"{network.name}-right", *options)
        if not path:
            continue
        count += 1
        status, report = command.verify(network, path, "--seed", number(network.name, opset))
        path.unlink()
        nothing += report.get("verdict") == "nothing shown"
        if status != MATCH and report.get("verdict") != "nothing shown":
            alarms.append(f"false alarm ({status}): {network.name} {' '.join(map(str, options))}: {report.get('finding', report)}")
    return count, nothing, alarms


# --- All ---

def table_of(outcomes, right, nothing, alarms):
    rows = collections.defaultdict(lambda: [0] * 7)
    for outcome in outcomes:
        wanted = outcome.visible and not outcome.same
        counted = [1, outcome.same, not outcome.same and not wanted, outcome.powerful, wanted, wanted and outcome.found,
                   wanted and outcome.found and outcome.named]
        for key in (outcome.kind, "**all**"):
            rows[key] = [a + b for a, b in zip(rows[key], counted)]
    rows["**all**"] = rows.pop("**all**")
    lines = ["| fault | planted | same function | below the limits | noticed by `--power` | to be seen | found | layer named |",
             "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"]
    lines += [f"| {kind} | " + " | ".join(map(str, row)) + " |" for kind, row in rows.items()]
    return "\n".join([*lines, "", f"Right models: {right}. False alarms: {alarms}. Nothing shown, because the outputs hardly move on "
                      f"random input: {nothing}.", ""])


def write_page(page, table):
    text = page.read_text(encoding="utf-8")
    begin, rest = text.split(MARKS[0])
    _, end = rest.split(MARKS[1])
    page.write_text(begin + MARKS[0] + table + MARKS[1] + end, encoding="utf-8")


def chosen(data, folder, quick):
    golden = networks.golden(data, folder)
    drawn = [networks.drawn(seed, folder) for seed in range(QUICK_NETWORKS if quick else RANDOM_NETWORKS)]
    return [network for network in golden + drawn if not quick or network.name != "h_det26"]


def main(arguments):
    shutil.rmtree(arguments.folder, ignore_errors=True)
    arguments.folder.mkdir(parents=True)
    command = Command(arguments.onnxport, arguments.folder)
    found = chosen(arguments.data, arguments.folder, arguments.quick)
    with concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
        planted = [pool.submit(plant_in, command, network, profile, arguments.quick)
                   for network in found for profile in ("onnx", "netcl")]
        shown = [pool.submit(right_in, command, network, arguments.quick) for network in found]
        outcomes = [outcome for task in planted for outcome in task.result()]
        counts, nothing, alarms = zip(*(task.result() for task in shown))
    alarms = [alarm for several in alarms for alarm in several]
    print("\n".join(alarms))
    table = table_of(outcomes, sum(counts), sum(nothing), len(alarms))
    print(table)
    if arguments.page:
        write_page(arguments.page, table)
    return 1 if alarms or any(outcome.complaint for outcome in outcomes) else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("onnxport", type=pathlib.Path)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--page", type=pathlib.Path)
    sys.exit(main(parser.parse_args()))
