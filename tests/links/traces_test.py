#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares configs/traces/ with the figures in its files, and tests the scripts for traces."""
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
TRACES = sorted((TOP / "configs/traces").glob("*.trace"))
CONFIG = TOP / "configs/multicluster-traces.yaml"

PING = """\
PING far.example.org (192.0.2.7) 56(84) bytes of data.
64 bytes from far.example.org (192.0.2.7): icmp_seq=1 ttl=57 time=27.4 ms
64 bytes from far.example.org (192.0.2.7): icmp_seq=2 ttl=57 time=26.9 ms
64 bytes from far.example.org (192.0.2.7): icmp_seq=2 ttl=57 time=27.0 ms (DUP!)
From 192.0.2.1 icmp_seq=3 Destination Host Unreachable
64 bytes from far.example.org (192.0.2.7): icmp_seq=5 ttl=57 time=800 us
64 bytes from far.example.org (192.0.2.7): icmp_seq=4 ttl=57 time=1002 ms

--- far.example.org ping statistics ---
5 packets transmitted, 4 received, +1 duplicates, 20% packet loss, time 4006ms
rtt min/avg/max/mdev = 0.800/264.275/1002.000/425.987 ms
"""
STAMPED = """\
[1700000000.027000] 64 bytes from 192.0.2.7: icmp_seq=1 ttl=57 time=27.0 ms
[1700000000.530000] 64 bytes from 192.0.2.7: icmp_seq=2 ttl=57 time=30.0 ms
[1700000001.626000] 64 bytes from 192.0.2.7: icmp_seq=3 ttl=57 time=26.0 ms
"""


def numbers_of(text):
    """Returns the lines of a trace without comments and without the leading word."""
    return [tuple(map(float, line.split())) for line in text.splitlines()
            if line[:1].isdigit()]


def said_of(text):
    found = re.search(r"average ([\d.]+) ms, standard deviation ([\d.]+) ms", text)
    return float(found[1]), float(found[2])


class ShippedTraces(unittest.TestCase):
    def test_averages_and_deviations_are_what_the_header_says(self):
        self.assertEqual(len(TRACES), 20)
        for path in TRACES:
            with self.subTest(path.name):
                text = path.read_text("utf-8")
                self.assertIn("\nround_trip\n", text)
                trips = [trip for _, trip in numbers_of(text)]
                mean = sum(trips) / len(trips)
                deviation = math.sqrt(sum((trip - mean)**2 for trip in trips) / len(trips))
                average, expected = said_of(text)
                self.assertAlmostEqual(mean, average, delta=1e-3)
                self.assertAlmostEqual(deviation, expected, delta=1e-3)
                self.assertGreater(min(trips), 0.9 * average)
                self.assertLess(path.stat().st_size, 40 * 1024)

    def test_both_directions_of_a_link_agree_but_are_not_the_same(self):
        for path in TRACES:
            start, end = path.stem.split("-to-")
            back = path.with_name(f"{end}-to-{start}.trace").read_text("utf-8")
            self.assertEqual(said_of(path.read_text("utf-8")), said_of(back))
            self.assertNotEqual(numbers_of(path.read_text("utf-8")), numbers_of(back))

    def test_generator_makes_them_again_byte_for_byte(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, TOP / "scripts/make_link_traces.py", folder],
                           check=True)
            made = sorted(pathlib.Path(folder).iterdir())
            self.assertEqual([path.name for path in made], [path.name for path in TRACES])
            for path, shipped in zip(made, TRACES):
                self.assertEqual(path.read_bytes(), shipped.read_bytes(), path.name)

    def test_config_uses_each_of_them(self):
        text = CONFIG.read_text("utf-8")
        for path in TRACES:
            self.assertEqual(text.count(f"trace: traces/{path.name},"), 1, path.name)

    @unittest.skipUnless("NOISE_ALLREDUCE" in os.environ, "no bench programs in this build")
    def test_config_runs_twice_alike_on_the_virtual_clock(self):
        for algorithm in ("sequential", "magpie", "conditional"):
            command = [os.environ["NOISE_ALLREDUCE"], "--config", CONFIG, "--clock", "virtual",
                       "--iterations", "200", "--algorithm", algorithm]
            runs = [subprocess.run(command, check=True, capture_output=True, text=True).stdout
                    for _ in range(2)]
            unlike = [line for line in zip(*(run.splitlines() for run in runs))
                      if line[0] != line[1] and "wall" not in line[0]]
            self.assertEqual(unlike, [])
            figures = re.search(r"ms per iteration +([\d.]+) mean.* ([\d.]+) max", runs[0])
            self.assertGreater(float(figures[2]), float(figures[1]))  # latencies vary


class PingToTrace(unittest.TestCase):
    def convert(self, text, *options, fails=False):
        done = subprocess.run([sys.executable, TOP / "scripts/ping_to_trace.py", *options],
                              input=text, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1 if fails else 0, done.stderr)
        return done.stderr if fails else done.stdout

    def test_requests_count_by_the_interval_and_lost_ones_leave_a_gap(self):
        trace = self.convert(PING)
        self.assertIn("\nround_trip\n", trace)
        self.assertEqual(numbers_of(trace), [(0, 27.4), (1, 26.9), (4, 0.8)])
        self.assertEqual(numbers_of(self.convert(PING, "--interval", "0.5")),
                         [(0, 27.4), (0.5, 26.9), (2, 0.8)])

    def test_stamps_less_the_round_trips_are_when_requests_left(self):
        self.assertEqual(numbers_of(self.convert(STAMPED)), [(0, 27), (0.5, 30), (1.6, 26)])

    def test_numbers_that_begin_again_go_on(self):
        lines = "".join(f"64 bytes from a: icmp_seq={number} ttl=1 time=2 ms\n"
                        for number in (65534, 65535, 0, 1))
        self.assertEqual(numbers_of(self.convert(lines)), [(0, 2), (1, 2), (2, 2), (3, 2)])

    def test_header_has_average_and_deviation(self):
        self.assertEqual(said_of(self.convert(STAMPED)), (27.667, 1.7))

    def test_nothing_in_it_is_an_error_that_shows_what_was_expected(self):
        self.assertIn("expected lines like", self.convert("no answer\n", fails=True))

    def test_an_interval_that_is_no_time_is_refused(self):
        for interval in ("0", "-1", "nan", "inf", "0.0001"):
            with self.subTest(interval):
                done = subprocess.run([sys.executable, TOP / "scripts/ping_to_trace.py",
                                       "--interval", interval], input=PING, capture_output=True,
                                      text=True, check=False)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn("--interval: expected 0.001 or more", done.stderr)

    def test_bytes_that_are_no_text_and_a_full_output_leave_no_traceback(self):
        script = [sys.executable, TOP / "scripts/ping_to_trace.py"]
        done = subprocess.run(script, input=b"\xff\n" + PING.encode(), capture_output=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run(script, input=PING.encode(), stdout=full,
                                  stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr.decode(), r"^ping_to_trace: standard output: .*\n$")


class MakeLinkTraces(unittest.TestCase):
    def test_help_and_wrong_usage_write_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            for words, code in ((["--help"], 0), (["a", "b"], 2), (["/dev/null"], 1)):
                done = subprocess.run([sys.executable, TOP / "scripts/make_link_traces.py", *words],
                                      cwd=folder, capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertNotIn("Traceback", done.stderr)
                self.assertEqual(os.listdir(folder), [])


if __name__ == "__main__":
    unittest.main()
