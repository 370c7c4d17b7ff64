#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_link_traces [folder]: writes the traces of configs/multicluster-traces.yaml.

Each trace is what `ping` from one cluster to another could have shown: a round trip every second
for five minutes. Round trips are mostly near a minimum and sometimes well above it. After a slow
one, the next ones are slow too. The table below has the averages and standard deviations.
docs/explanation/links.md names their sources.
The same table and seed give the same bytes.
"""
import argparse
import math
import pathlib
import random
import sys

SEED = 2004
SAMPLES = 300
PERSISTENCE = 0.6  # share of an excess over the minimum that remains one second later
SKEW = 0.8         # skewness of the log-normal excess

# Key: two clusters. Value: average and standard deviation of the round-trip time in ms. Each entry
# gives two traces, one for each direction.
LINKS = {
    ("dominic", "4w"): (36.0, 0.9),
    ("roadrunner", "4w"): (32.0, 0.8),
    ("2w", "4w"): (27.0, 0.6),
    ("blade", "4w"): (20.0, 0.5),
    ("dominic", "2w"): (60.0, 1.2),
    ("roadrunner", "2w"): (56.0, 1.1),
    ("dominic", "blade"): (56.0, 1.1),
    ("roadrunner", "blade"): (52.0, 1.0),
    ("blade", "2w"): (40.0, 0.8),
    ("dominic", "roadrunner"): (6.0, 0.2),
}


def excesses(chance):
    """Returns positive, skewed values, each correlated with the previous one."""
    state, found = 0.0, []
    for _ in range(SAMPLES):
        # The formula of Box and Muller replaces a library function: random() is the only generator
        # that Python guarantees not to change.
        normal = math.sqrt(-2 * math.log(1 - chance.random())) * math.cos(
            2 * math.pi * chance.random())
        state = PERSISTENCE * state + math.sqrt(1 - PERSISTENCE**2) * normal
        found.append(math.exp(SKEW * state))
    return found


def round_trips(chance, average, deviation):
    """Returns round trips with exactly this average and standard deviation."""
    values = excesses(chance)
    mean = sum(values) / SAMPLES
    spread = math.sqrt(sum((value - mean)**2 for value in values) / SAMPLES)
    return [average + (value - mean) * deviation / spread for value in values]


def trace(start, end, average, deviation):
    chance = random.Random(f"{SEED} {start} {end}")
    lines = [f"# {start} to {end}: made by scripts/make_link_traces.py, seed {SEED}; no recording.",
             f"# round trips: average {average} ms, standard deviation {deviation} ms",
             "round_trip"]
    values = round_trips(chance, average, deviation)
    lines += [f"{second} {value:.3f}" for second, value in enumerate(values)]
    return "\n".join(lines) + "\n"


def main():
    top = pathlib.Path(__file__).resolve().parents[1]
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0],
                                     epilog=__doc__.split("\n", 1)[1],
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=top / "configs/traces",
                        help="where to (default: configs/traces)")
    folder = parser.parse_args().folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for (start, end), (average, deviation) in LINKS.items():
            for a, b in ((start, end), (end, start)):
                text = trace(a, b, average, deviation)
                (folder / f"{a}-to-{b}.trace").write_text(text, "utf-8")
    except OSError as error:
        print(f"make_link_traces: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
