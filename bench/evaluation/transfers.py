# SPDX-License-Identifier: Apache-2.0
"""transfers.py FILE.svg NAME=TRACE...: draws how many transfers between clusters are under way at
each moment of an allgather, as figure 9 of Gupta and Vadhiyar 2007 does. The picture FILE.svg has
one line per trace. The line shows the number of transfers during the first allgather of the trace.
The program also prints for each trace the maximum and the mean of this number, and the time at
which the first transfer began. The environment variable PATHS contains the file name of the
program `paths`.
"""
import csv
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass

import plots

# Least size in bytes of a message that is counted. Smaller messages are not part of the measured
# operation: hosts send them before and after it, to agree on times.
LEAST_BYTES = 1024


@dataclass
class AtOnce:
    """Number of concurrent transfers from 0 to `end`. Times are in seconds."""
    steps: list  # [(time, number of transfers under way from that time on)]
    end: float
    peak: float = 0
    mean: float = 0
    first: float = None  # time of the first transfer

    def __post_init__(self):
        self.peak = max((level for _, level in self.steps), default=0)
        ends = [when for when, _ in self.steps[1:]] + [self.end]
        used = sum(level * (end - when) for (when, level), end in zip(self.steps, ends))
        self.mean = used / self.end if self.end > 0 else 0
        self.first = next((when for when, level in self.steps if level > 0), None)


def steps_of_transfers(file):
    """Returns the number of concurrent transfers over time: [(nanoseconds, number from then on)].
    Reads the output of `paths analyze --csv`. Counts transfers of at least LEAST_BYTES; a transfer
    lasts until its last byte has arrived."""
    changes = {}
    with open(file, encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            if row["kind"] != "transfer" or int(row["bytes"]) < LEAST_BYTES:
                continue
            begin = int(row["down_nanos"])
            for moment, change in ((begin, 1), (begin + int(row["sequence"]), -1)):
                changes[moment] = changes.get(moment, 0) + change
    steps, level = [], 0
    for moment in sorted(changes):
        level += changes[moment]
        steps.append((moment, level))
    return steps


def at_once_during(report, collective, steps):
    """Returns the part of `steps` (see steps_of_transfers) during the first operation of this
    collective of a group."""
    spans = [one["first_begin_end_nanos"] for one in report.get("groups", {}).get("operations", [])
             if one["collective"] == collective and "first_begin_end_nanos" in one]
    if not spans:
        raise ValueError(f"no {collective} of a group of which all records are there, on one clock")
    begin, end = min(spans)
    within = [(0.0, 0)]
    for nanos, level in steps:
        if nanos <= begin:
            within[0] = (0.0, level)
        elif nanos < end:
            within.append(((nanos - begin) / 1e9, level))
    return AtOnce(within, (end - begin) / 1e9)


def of_trace(trace):
    """Returns the simultaneous transfers (AtOnce) during the first allgather of a trace.

    The trace was made on the virtual clock."""
    paths = os.environ.get("PATHS", "paths")
    with tempfile.TemporaryDirectory() as folder:
        report, records = os.path.join(folder, "report.json"), os.path.join(folder, "records.csv")
        for option, file in (("--json", report), ("--csv", records)):
            subprocess.run([paths, "analyze", trace, option, file], check=True,
                           stdout=subprocess.DEVNULL)
        with open(report, encoding="utf-8") as file:
            found = json.load(file)
        return at_once_during(found, "allgather", steps_of_transfers(records))


def draw(courses, file):
    """Draws the number of simultaneous transfers over time. `courses`: {name: AtOnce}."""
    figure, axis = plots.plt.subplots(figsize=(7, 3))
    for name, course in courses.items():
        axis.step([*(when for when, _ in course.steps), course.end],
                  [*(level for _, level in course.steps), 0], where="post", linewidth=0.9,
                  label=name)
    axis.set_xlabel("s")
    axis.set_ylabel("wide-area transfers at once")
    axis.set_xlim(left=0)
    axis.set_ylim(bottom=0)
    axis.legend(frameon=False)
    plots.save(figure, file)


def main():
    if len(sys.argv) < 3 or not all("=" in word for word in sys.argv[2:]):
        sys.exit(__doc__)
    courses = {}
    for word in sys.argv[2:]:
        name, _, trace = word.rpartition("=")
        one = courses[name] = of_trace(trace)
        first = "never" if one.first is None else f"{one.first * 1e3:.3f} ms"
        print(f"{name}: at most {one.peak:g} at once, {one.mean:.2f} in the mean of "
              f"{one.end * 1e3:.3f} ms, the first from {first}")
    draw(courses, sys.argv[1])


if __name__ == "__main__":
    main()
