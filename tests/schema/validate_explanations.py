#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tests/schema/validate_explanations.py — compares the explanation schema with what `paths explain`
# writes.
#
# usage: validate_explanations.py PATHS_PROGRAM
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import jsonschema
from json_names import names_in

TOP = Path(__file__).resolve().parents[2]
TABLE = """decisions: 1
allreduce:
  - shape: {hosts: 8}
    rows:
      - {up_to: 4KiB, use: recursive_doubling, pinned: true, note: by hand}
      - {up_to: inf, use: rabenseifner, why: {time: 5ms, runs: 3, candidates: trees, under: sor}}
"""
FAR = """network: {security: run}
clusters: {a: {hosts: 1, address: 10.0.0.1}, b: {hosts: 1, address: 10.0.0.2}}
links: {all: {latency: 1ms, bandwidth: 10Gbit}}
lanes: {}
"""
# Together with a table, these commands write every optional field.
COMMANDS = [
    ["configs/two-by-four.yaml", "--collective", "reduce", "--size", "256KiB", "--element", "8B"],
    ["configs/two-by-four.yaml", "--collective", "barrier", "--all"],
    ["configs/examples/costs.yaml", "--collective", "allreduce", "--size", "64KiB", "--all"],
    ["configs/multicluster.yaml", "--collective", "sum"],
]


def explain(paths, *words):
    done = subprocess.run([paths, "explain", *words], cwd=TOP, check=True, capture_output=True,
                          text=True)
    return done.stdout


def main():
    paths = sys.argv[1]
    schema = json.loads((TOP / "configs/schema/explanation.schema.json").read_text())
    validator = jsonschema.Draft202012Validator(schema)
    names = set()
    for command in COMMANDS:
        explanation = json.loads(explain(paths, *command, "--json", "-"))
        validator.validate(explanation)
        names |= names_in(explanation)
        text = explain(paths, *command)
        for word in (explanation["taken"]["schedule"],
                     f"{explanation['taken']['predicted_nanos'] / 1e6:.3f} ms",
                     f"{explanation['bound_nanos'] / 1e6:.3f} ms"):
            assert word in text, f"{' '.join(command)}: {word} is in the JSON only:\n{text}"
        parts = sum(part["nanos"] for part in explanation["parts"])
        assert abs(parts - explanation["taken"]["predicted_nanos"]) < 10, explanation
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "table.yaml"
        file.write_text(TABLE)
        far = Path(folder) / "far.yaml"
        far.write_text(FAR)
        words = [far, "--collective", "allreduce", "--size", "1MiB"]
        explanation = json.loads(explain(paths, *words, "--json", "-"))
        validator.validate(explanation)
        assert explanation["encryption"] in explain(paths, *words), explanation
        assert "less than the link a to b (10Gbit)" in explanation["encryption"], explanation
        names |= names_in(explanation)
        for size in ("1KiB", "1MiB"):
            words = ["configs/two-by-four.yaml", "--collective", "allreduce", "--size", size]
            explanation = json.loads(explain(paths, *words, "--decisions", file, "--grouping",
                                             "any", "--json", "-"))
            validator.validate(explanation)
            assert explanation["row"]["file"] == str(file), explanation
            assert explanation["reason"] == ("pinned" if size == "1KiB" else "tuned"), explanation
            names |= names_in(explanation)
    expected = {name for one in schema["$defs"].values() for name in one["properties"]}
    assert expected - names == {"costs_file"}, f"no explanation has {expected - names}"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "answer.json"
        text = explain(paths, *COMMANDS[0], "--json", file)
        assert text == explain(paths, *COMMANDS[0]), "the text changes with --json FILE"
        validator.validate(json.loads(file.read_text()))


if __name__ == "__main__":
    main()
