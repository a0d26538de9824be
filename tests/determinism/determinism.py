#!/usr/bin/env python3
"""Does an export give the same bytes wherever and however it runs?

usage: determinism.py ONNXPORT HOST CPUS SOURCE WORK

ONNXPORT is the command, HOST a program that uses the library in the locale of its environment (host.c), CPUS a library to preload
that makes up a number of processors (cpus.c), SOURCE the source tree. Every network is exported in RUNS different surroundings,
each of which differs from the others in several ways at once. Closes with `N passed, N failed`.
"""
import hashlib
import os
import pathlib
import random
import shutil
import subprocess
import sys

RUNS = 20

# Each a file of tests/data/netcl and the size of its input, and one way for each path through the writer.
NETWORKS = {
    "a_mlp.netcl": ("20", []),
    "b_cnn.netcl": ("3x32x32", ["--profile", "netcl"]),
    "d_bn.netcl": ("5x9x7", ["--batchnorm", "expanded", "--dtype", "float64", "--opset", "18"]),
    "damaged/compressed.netcl": ("2x5x6", []),
    "damaged/fortran.netcl": ("2x5x6", ["--external-data", "always"]),
    "damaged/float16.netcl": ("2x5x6", []),
    "f_allact.netcl": ("12", ["--opset", "13", "--batch", "3"]),
    "detector/h_det26.netcl": ("3x256x256", []),
}
# The same weights in each of these forms of one network, which is large enough to be copied by several threads in many pieces.
LARGE_FORMS = ["plain", "fortran", "big-endian", "deflated"]
LARGE_SIZES = (1900, 1300)

LOCALES = ["C", "C.UTF-8", "de_DE.UTF-8", "tr_TR.UTF-8", "POSIX", "xx_YY.UTF-8"]
ZONES = ["UTC", "Pacific/Chatham", "America/St_Johns", ":/nowhere", "XXX-14", ""]
FOLDERS = ["here", "a folder/with spaces", "Ünïcödé", "deep/" + "/".join("d%d" % i for i in range(12)), "-o"]
UMASKS = [0o022, 0o077, 0o000, 0o027]


def make_locales(folder):
    """Compiles the locales that have a comma, where their sources are here; returns the names of those."""
    made = []
    for name in ("de_DE.UTF-8", "tr_TR.UTF-8"):
        folder.mkdir(parents=True, exist_ok=True)
        words = ["localedef", "-c", "-i", name.split(".")[0], "-f", "UTF-8", str(folder / name)]
        if shutil.which("localedef") and subprocess.run(words, capture_output=True).returncode in (0, 1):
            if (folder / name / "LC_NUMERIC").is_file():
                made.append(name)
    return made


def make_large(source, folder):
    sys.path.insert(0, str(source / "bench"))
    import networks

    network = networks.Network()
    network.linear(*LARGE_SIZES)
    network.relu()
    network.linear(LARGE_SIZES[1], 3)
    for form in LARGE_FORMS:
        networks.write_netcl(network, folder / f"large_{form}.netcl", form)


class Surroundings:
    """What is different in run number `number`; run 0 is an ordinary one."""

    def __init__(self, number, tools):
        pick = random.Random(number).choice
        self.number = number
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith(("LC_", "LANG"))}
        self.prefix, self.umask, self.folder, self.relative = [], 0o022, "here", False
        if number:
            self.vary(pick, tools)

    def vary(self, pick, tools):
        # Every value of a short list comes up: the lists are walked through, not drawn from.
        n = self.number
        self.environment.update(
            LC_ALL=LOCALES[n % len(LOCALES)], LANG=pick(LOCALES), LANGUAGE="de:tr", TZ=ZONES[n % len(ZONES)],
            LOCPATH=str(tools["locales"]), OXP_TEST_CPUS=str(1 + n % 5), LD_PRELOAD=str(tools["cpus"]),
            MALLOC_PERTURB_=str(1 + 13 * n % 255), MALLOC_ARENA_MAX=str(1 + n % 3), MALLOC_MMAP_THRESHOLD_=str(4096 << n % 9),
            OMP_NUM_THREADS=str(n), COLUMNS=str(20 + n), TERM=pick(["dumb", "xterm", ""]), FILLER="x" * (n * n * 251),
        )
        # The same for a build with AddressSanitizer: other bytes in fresh memory. The preloaded library comes before its own.
        more = f"verify_asan_link_order=0:max_malloc_fill_size=1048576:malloc_fill_byte={n * 12 % 256}:max_free_fill_size=4096"
        self.environment["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":" + more
        self.umask = UMASKS[n % len(UMASKS)]
        self.folder = FOLDERS[n % len(FOLDERS)]
        self.relative = n % 2 == 1
        if n % 4 == 1 and tools["setarch"]:
            self.prefix += ["setarch", "-R"]
        if n % 3 == 1 and tools["taskset"]:
            self.prefix += ["taskset", "-c", str(min(os.sched_getaffinity(0)))]


class Test:
    def __init__(self, command, host, cpus, source, work):
        shutil.rmtree(work, ignore_errors=True)
        self.command, self.host, self.source, self.work = command, host, source, work
        self.expected, self.passed, self.failed = {}, 0, 0
        self.tools = {"cpus": cpus, "locales": work / "locales", "setarch": works("setarch", "-R"), "taskset": works("taskset", "-c", "0")}
        self.locales = make_locales(self.tools["locales"])

    def check(self, right, text):
        self.passed += bool(right)
        self.failed += not right
        if not right:
            print("FAILED:", text, flush=True)

    def start(self, words, around, folder):
        return subprocess.run(
            around.prefix + [str(w) for w in words], cwd=folder, env=around.environment, umask=around.umask,
            stdin=subprocess.DEVNULL, capture_output=True, timeout=100,
        )

    def same(self, key, paths, about):
        digest = [(hashlib.sha256(p.read_bytes()).hexdigest() if p.is_file() else "missing") for p in paths]
        self.check("missing" not in digest and digest == self.expected.setdefault(key, digest), f"other bytes: {about}")

    def folder(self, around):
        """A folder of the run's own, with a copy of the sources, so that their names and places differ too."""
        folder = self.work / f"run{around.number}" / around.folder
        shutil.copytree(self.work / "sources", folder / "sources")
        return folder

    def export(self, name, size, options, around, folder, key=None):
        source = folder / "sources" / name
        target = folder / f"{pathlib.Path(name).stem}.onnx"
        if around.relative:
            source, target = os.path.relpath(source, folder), os.path.relpath(target, folder)
        words = [self.command, "export", "--quiet", "--input-shape", size, *options, "-o", target, "--", source]
        done = self.start(words, around, folder)
        about = f"{name} in run {around.number}"
        self.check(done.returncode == 0, f"exit status {done.returncode}: {about}: {done.stderr.decode()}")
        made = sorted(folder.glob(f"{pathlib.Path(name).stem}.onnx*"), key=lambda p: (len(p.name), p.name))
        self.same(key or name, made or [folder / target], about)
        self.check(all(p.stat().st_mode & 0o777 == 0o666 & ~around.umask for p in made), f"permissions: {about}")

    def host_export(self, around, folder):
        """Through the library, in a program that has set its locale."""
        target = folder / "host.onnx"
        done = self.start([self.host, folder / "sources" / "detector/h_det26.netcl", 3, 256, 256, target], around, folder)
        name = around.environment.get("LC_ALL", "C")
        if done.returncode == 99 and name not in self.locales:
            return  # the system does not have this locale
        self.check(done.returncode == 0, f"exit status {done.returncode}: a program in the locale {name}: {done.stderr.decode()}")
        self.check((done.stdout == b",\n") == (name in self.locales), f"decimal point in the locale {name}: {done.stdout}")
        self.same("detector/h_det26.netcl", [target], f"from a program in the locale {name}")
        self.same("netcl", [folder / "host.onnx.netcl"], f"netcl's format from a program in the locale {name}")

    def prepare(self):
        data = self.work / "sources"
        for name in NETWORKS:
            (data / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self.source / "tests/data/netcl" / name, data / name)
        make_large(self.source, data)

    def run(self):
        self.prepare()
        for number in range(RUNS):
            around = Surroundings(number, self.tools)
            folder = self.folder(around)
            for name, (size, options) in NETWORKS.items():
                self.export(name, size, options, around, folder)
            for form in LARGE_FORMS:
                self.export(f"large_{form}.netcl", str(LARGE_SIZES[0]), [], around, folder, key="large")
            self.host_export(around, folder)
            shutil.rmtree(self.work / f"run{number}")
        self.check(len(set(map(str, self.expected.values()))) == len(self.expected), "different networks give the same bytes")


def works(*words):
    return shutil.which(words[0]) and subprocess.run([*words, "true"], capture_output=True).returncode == 0


def main():
    command, host, cpus, source, work = (pathlib.Path(w).resolve() for w in sys.argv[1:])
    test = Test(command, host, cpus, source, work)
    test.run()
    left_out = [name for name in ("setarch", "taskset") if not test.tools[name]]
    left_out += [name for name in ("de_DE.UTF-8", "tr_TR.UTF-8") if name not in test.locales]
    if left_out:
        print("not varied, because it is not here:", ", ".join(left_out))
    print(f"{test.passed} passed, {test.failed} failed")
    return test.failed > 0


if __name__ == "__main__":
    sys.exit(main())
