# SPDX-License-Identifier: Apache-2.0
# bench/evaluation/runs.py — runner of the programs, which keeps their figures.
"""Every run is a command that a user can type. Its figures are stored as JSON in the build tree, by
command, so that a stopped evaluation can continue."""
import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]


class Runner:
    """`binaries`: folder of the programs. `work`: folder for results."""

    def __init__(self, binaries, work, at_once):
        self.binaries, self.work = Path(binaries), Path(work)
        self.work.mkdir(parents=True, exist_ok=True)
        self.pool = ThreadPoolExecutor(at_once)
        self.lock = threading.Lock()
        self.done, self.kept = 0, 0

    def path_of(self, words, ending):
        digest = hashlib.sha256("\0".join(map(str, words)).encode()).hexdigest()[:16]
        return self.work / f"{digest}.{ending}"

    def config(self, name, text):
        """Writes a config for a run. Configs with the same name but different texts get different
        files, so their figures are not confused."""
        digest = hashlib.sha256(text.encode()).hexdigest()[:8]
        file = self.work / f"{name}_{digest}.yaml"
        if not file.exists():  # never write it again: another run may be reading it
            part = file.with_suffix(f".{threading.get_ident()}.part")
            part.write_text(text)
            part.rename(file)
        return file

    def count(self, words, was_kept):
        """Counts a figure and shows the progress on a terminal."""
        with self.lock:
            self.done += 1
            self.kept += was_kept
            if sys.stderr.isatty():
                line = f"{self.done} runs, {self.kept} of them kept from before: " \
                       f"{' '.join(map(str, words))}"
                columns = shutil.get_terminal_size().columns
                sys.stderr.write(f"\r\033[K{line[:columns - 1]}")
                sys.stderr.flush()

    def stop(self):
        """Cancels the runs that have not begun."""
        self.pool.shutdown(wait=False, cancel_futures=True)
        if sys.stderr.isatty():
            sys.stderr.write("\r\033[K")

    def command(self, words):
        environment = dict(os.environ, PATH=f"{self.binaries}:{os.environ['PATH']}")
        done = subprocess.run([str(word) for word in words], cwd=TOP, env=environment,
                              capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr

    def json_of(self, words):
        """Returns the JSON that the command writes. If an earlier evaluation stored that JSON, does
        not run the command."""
        file = self.path_of(words, "json")
        was_kept = file.exists()
        if not was_kept:
            part = file.with_suffix(".part")
            code, out, error = self.command([*words, "--json", part])
            if code != 0:
                sys.exit(f"evaluation: {' '.join(map(str, words))}\n{out}{error}")
            part.rename(file)
        self.count(words, was_kept)
        return json.loads(file.read_text())

    def all(self, jobs):
        """Runs {key: function} concurrently."""
        futures = {key: self.pool.submit(job) for key, job in jobs.items()}
        return {key: future.result() for key, future in futures.items()}


class Noise:
    """Runs of noise_allreduce with a config on the virtual clock."""

    def __init__(self, runner, config, iterations):
        self.runner, self.config, self.iterations = runner, config, iterations

    def words(self, algorithm, values, *more):
        return ["paths", "run", self.config, "--clock", "virtual", "--", "noise_allreduce",
                "--algorithm", algorithm, "--iterations", self.iterations, "--values", values,
                *more]

    def figures(self, algorithm, values, *more):
        return self.runner.json_of(self.words(algorithm, values, *more))

    def decisions(self, algorithm, values):
        """Returns how each cluster decided each round.

        The program noise_allreduce writes them to the file of its option --decisions, one per row.
        """
        words = self.words(algorithm, values)
        file = self.runner.path_of(words, "csv")
        if not file.exists():
            part = file.with_suffix(".part")
            code, out, error = self.runner.command([*words, "--decisions", part])
            if code != 0:
                sys.exit(f"evaluation: {' '.join(map(str, words))}\n{out}{error}")
            part.rename(file)
        rows = [line.split(",") for line in file.read_text().splitlines()[1:]]
        return [(cluster, int(round_), int(about), origin, source, int(nanos))
                for cluster, round_, about, origin, source, nanos in rows]

    def analysis(self, algorithm, iterations, config=None):
        """Returns the report of a traced run."""
        words = ["paths", "run", config or self.config, "--clock", "virtual", "--",
                 "noise_allreduce", "--algorithm", algorithm, "--iterations", iterations,
                 "--values", "worst"]
        trace = self.runner.path_of(words, "trace")
        report = self.runner.path_of(words, "report")
        if not report.exists():
            words[5:5] = ["--trace", trace]
            self.runner.command(["rm", "-rf", trace])
            for command in (words, ["paths", "analyze", trace, "--json", report]):
                code, out, error = self.runner.command(command)
                if code != 0:
                    sys.exit(f"evaluation: {' '.join(map(str, command))}\n{out}{error}")
            self.runner.command(["rm", "-rf", trace])
        return json.loads(report.read_text())


def make_values(runner, data, size, blocks):
    """Runs SOR. Returns the name of a file with the contributions of every iteration, and the
    solver's report."""
    words = ["sor_alone", "--data", data, "--size", size, "--blocks", blocks]
    values = runner.path_of(words, "values")
    report = runner.json_of([*words, "--values", values])
    return values, report
