#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# bench/evaluation/predictions.py — errors of predicted times of collectives on this machine.
"""Compares predicted and measured times of real processes on this machine. For each network it
first runs `paths measure --costs`, and then `collective` with a config that takes the measured
links and costs. The error of a cell is the difference of both times, divided by the measured time.
The measured time is the median of all iterations. The table has the median and the 95th percentile
of the errors of all collectives and sizes, with all measured costs and without `cores` and
`wake_up`.

A busy machine spoils the figures. `paths measure` then refuses to write them. The script repeats a
refused measurement up to three times.
"""
import argparse
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
COLLECTIVES = "broadcast,allreduce,reduce,allgather,alltoall"
EMULATED = ("clusters: {a: {hosts: 2}, b: {hosts: 2}}\n"
            "links: {all: {latency: 5ms, bandwidth: 100Mbit}}\nlanes: {}\nshared_memory: false\n")


def networks(hosts):
    """Returns the name and the config of each network."""
    yield "4 processes, emulated link of 5 ms", EMULATED
    for count in hosts:
        cluster = f"clusters: {{a: {{hosts: {count}}}}}\nlanes: {{}}\n"
        yield f"{count} processes, shared memory", cluster
        yield f"{count} processes, TCP", cluster + "shared_memory: false\n"


def run(options, words):
    environment = dict(os.environ, PATH=f"{options.build.resolve() / 'bin'}:{os.environ['PATH']}")
    return subprocess.run([str(word) for word in words], cwd=TOP, env=environment, text=True,
                          capture_output=True, check=False)


def measured(options, config, network):
    for _ in range(3):
        done = run(options, ["paths", "measure", config, "--costs", "-o", network])
        if done.returncode == 0 and "\ncosts:" in network.read_text():
            return True
    lines = done.stderr.strip().splitlines() or ["no costs"]
    print(f"{config.stem}: not measured: {lines[-1]}", file=sys.stderr)
    return False


def errors(options, config, folder):
    """Returns the errors of all cells, in percent."""
    results = folder / f"{config.stem}.json"
    done = run(options, ["paths", "run", config, "--", "collective", COLLECTIVES,
                         "-m", options.sizes, "-i", options.iterations, "-x", 2,
                         "--json", results])
    if done.returncode != 0:
        sys.exit(f"{config}: {done.stderr}")
    rows = json.loads(results.read_text())["results"]
    return sorted(100 * abs(row["price_ms"] / row["p50"] - 1) for row in rows)


def figures(values):
    return f"{statistics.median(values):.0f}% | {values[math.ceil(0.95 * len(values)) - 1]:.0f}%"


def compare(options, folder):
    print("| network | cells | median | 95th percentile | without `cores`, `wake_up`: median "
          "| 95th percentile |\n| --- | ---: | ---: | ---: | ---: | ---: |")
    for number, (name, text) in enumerate(networks(options.hosts)):
        config, network = folder / f"network{number}.yaml", folder / f"network{number}.measured"
        config.write_text(text)
        if not measured(options, config, network):
            continue
        links = "" if "links:" in text else f"links: {{from: {network}}}\n"
        columns = []
        for ending, pattern in ("full", None), ("part", r"(?m)^  (cores|wake_up):.*\n"):
            costs = folder / f"network{number}_{ending}.measured"
            costs.write_text(re.sub(pattern, "", network.read_text()) if pattern
                             else network.read_text())
            part = folder / f"network{number}_{ending}.yaml"
            part.write_text(text + links + f"costs: {{from: {costs}}}\n")
            columns.append(errors(options, part, folder))
        print(f"| {name} | {len(columns[0])} | {' | '.join(map(figures, columns))} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=TOP / "build/release",
                        help="folder of the programs (default: build/release)")
    parser.add_argument("--hosts", type=lambda text: [int(word) for word in text.split(",")],
                        default=[4, 8],
                        help="numbers of processes inside one cluster (default: 4,8)")
    parser.add_argument("--sizes", default="8B:1MiB", help="sizes (default: 8B:1MiB)")
    parser.add_argument("--iterations", type=int, default=15,
                        help="iterations of each cell (default: 15)")
    parser.add_argument("--keep", type=Path,
                        help="folder that keeps configs, measured networks and results")
    options = parser.parse_args()
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
        compare(options, options.keep.resolve())
    else:
        with tempfile.TemporaryDirectory() as folder:
            compare(options, Path(folder))


if __name__ == "__main__":
    main()
