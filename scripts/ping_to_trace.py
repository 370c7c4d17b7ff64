#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ping_to_trace [file] [--interval SECONDS]: makes a link's trace from the output of `ping`.

Reads a file or standard input and writes the trace to standard output:

    ping -D -i 0.5 -c 600 far.example.org | scripts/ping_to_trace.py > near-to-far.trace

With -D, ping prints the time of each reply. The time of sending is then that time less the round
trip. Without -D, the n-th request counts as sent at n times the interval (default 1 s). The trace
has round trips; its word `round_trip` makes PATHS halve them. If a reply is missing, repeated or
late, the value of the previous reply holds on.
"""
import argparse
import math
import os
import re
import sys

ANSWER = re.compile(r"^(?:\[(?P<stamp>\d+(?:\.\d+)?)\] )?\d+ bytes from .*"
                    r"\b(?:icmp_)?seq[= ](?P<number>\d+)\b.*"
                    r"\btime[=<](?P<time>\d+(?:\.\d+)?) ?(?P<unit>us|ms|s)\b(?P<rest>.*)$")
MILLISECONDS = {"us": 1e-3, "ms": 1.0, "s": 1e3}
NUMBERS = 1 << 16  # number of values of icmp_seq: after 65535 it begins again at 0


def answers(lines):
    """Yields (number, time or None, round trip in ms) of the first reply to each request."""
    turns = last = 0
    seen = set()
    for line in lines:
        found = ANSWER.match(line.strip())
        if not found or "DUP!" in found["rest"]:
            continue
        number = int(found["number"]) + turns * NUMBERS
        if number < last - NUMBERS // 2:
            turns += 1
            number += NUMBERS
        if number in seen:
            continue
        seen.add(number)
        last = max(last, number)
        stamp = float(found["stamp"]) if found["stamp"] else None
        yield number, stamp, float(found["time"]) * MILLISECONDS[found["unit"]]


def samples(lines, interval):
    """Returns (seconds from the first, round trip in ms), with increasing times."""
    known = list(answers(lines))
    stamped = all(stamp is not None for _, stamp, _ in known)
    sent = [(stamp - trip / 1e3 if stamped else number * interval, trip)
            for number, stamp, trip in known]
    kept = []
    for time, trip in sent:
        seconds = round(time - sent[0][0], 3)
        if not kept or seconds > kept[-1][0]:
            kept.append((seconds, trip))
    return kept


def trace(kept):
    trips = [trip for _, trip in kept]
    mean = sum(trips) / len(trips)
    deviation = (sum((trip - mean)**2 for trip in trips) / len(trips))**0.5
    lines = ["# seconds from the start, round trip in ms; from ping",
             f"# round trips: average {mean:.3f} ms, standard deviation {deviation:.3f} ms",
             "round_trip"]
    lines += [f"{seconds:g} {trip:g}" if seconds < 1000 else f"{seconds:.3f} {trip:g}"
              for seconds, trip in kept]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0],
                                     epilog=__doc__.split("\n", 1)[1],
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", help="what ping printed (default: standard input)")
    parser.add_argument("--interval", type=float, default=1.0, help="seconds, ping's own -i")
    arguments = parser.parse_args()
    if not 1e-3 <= arguments.interval < math.inf:
        parser.error(f"--interval: expected 0.001 or more, found {arguments.interval}")
    try:
        text = open(arguments.file or 0, encoding="utf-8", errors="replace")
        kept = samples(text, arguments.interval)
    except OSError as error:
        print(f"ping_to_trace: {error}", file=sys.stderr)
        return 1
    if not kept:
        print("ping_to_trace: no answer in it: expected lines like "
              "'64 bytes from 10.0.0.1: icmp_seq=1 ttl=60 time=27.1 ms'", file=sys.stderr)
        return 1
    try:
        print(trace(kept), end="", flush=True)
    except OSError as error:
        print(f"ping_to_trace: standard output: {error}", file=sys.stderr)
        os._exit(1)  # ends without a flush, which would fail and report the error again
    return 0


if __name__ == "__main__":
    sys.exit(main())
