"""Whole processes, timed. Two commands are run in turn, so that a machine whose speed drifts drifts for both. Place: bench."""
import statistics
import subprocess


class Failed(Exception):
    """A measured command failed, or did not do what it was measured for."""


class Sample:
    """One run: seconds, and the peak resident memory that the kernel counted (pages mapped from files are in it)."""

    def __init__(self, text):
        wall, user, system, self.peak_kib, self.exit_status = (int(word) for word in text.split())
        self.wall, self.cpu = wall / 1e9, (user + system) / 1e9


class Series:
    """The runs of one command."""

    def __init__(self):
        self.samples = []

    @property
    def median(self):
        return statistics.median(sample.wall for sample in self.samples)

    @property
    def cpu(self):
        return statistics.median(sample.cpu for sample in self.samples)

    @property
    def peak_kib(self):
        return max(sample.peak_kib for sample in self.samples)

    def summary(self):
        walls = sorted(sample.wall for sample in self.samples)
        return {
            "median_s": self.median, "min_s": walls[0], "max_s": walls[-1], "cpu_s": self.cpu,
            "peak_kib": self.peak_kib, "walls_s": [sample.wall for sample in self.samples],
        }


class Task:
    """A command to measure: its words, what makes room before each run, and the file that takes its output."""

    def __init__(self, words, before=lambda: None, output="/dev/null"):
        self.words, self.before, self.output = [str(word) for word in words], before, str(output)


class Timer:
    def __init__(self, measure):
        self.measure = measure

    def run(self, task):
        task.before()
        done = subprocess.run([self.measure, task.output, *task.words], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, check=False)
        if done.returncode != 0:
            raise Failed(done.stderr.strip())
        sample = Sample(done.stdout)
        if sample.exit_status != 0:
            raise Failed(f"{' '.join(task.words)}: exit status {sample.exit_status}: {done.stderr.strip()[-500:]}")
        return sample

    def series(self, runs, *tasks):
        """One series per task. A first round warms the page cache and is not counted; the order alternates."""
        found = [Series() for _ in tasks]
        order = list(range(len(tasks)))
        for round_ in range(runs + 1):
            for i in order if round_ % 2 else reversed(order):
                sample = self.run(tasks[i])
                if round_ > 0:
                    found[i].samples.append(sample)
        return found


def ratio(ours, base):
    """The median of the ratios of neighbouring runs."""
    return statistics.median(a.wall / b.wall for a, b in zip(ours.samples, base.samples))
