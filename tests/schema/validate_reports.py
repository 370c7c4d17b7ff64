#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tests/schema/validate_reports.py — compares the report schema with what `paths analyze` writes.
#
# usage: validate_reports.py PATHS_PROGRAM
import copy
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import jsonschema
from json_names import names_in

TOP = Path(__file__).resolve().parents[2]
# Together these runs have a value in every section and in every optional field.
RUNS = {
    "sequential": ["--noise", "b1/0=2ms/100ms", "alpha-0/1=1ms/5ms"],
    "magpie": ["--noise", "alpha-0/1=2ms/91ms"],  # another period fits as well
    "conditional": ["--noise", "b1/0=4ms/97ms", "b1/0=9ms/530ms"],
}
# Fields that the reports on RUNS may lack. Reports on other runs may have them.
SELDOM = {"header_damaged", "records_dropped", "records_missing", "rests_on_damage",
          "damaged_places", "chunks_cut_off", "chunks_unknown", "chunks_repeated", "bytes_unused",
          "from_share", "to_share"}


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def properties_of(schema):
    """Returns all names of fields anywhere in the schema."""
    names = set()
    if isinstance(schema, dict):
        if isinstance(schema.get("properties"), dict):
            names |= schema["properties"].keys()
        for value in schema.values():
            names |= properties_of(value)
    elif isinstance(schema, list):
        for value in schema:
            names |= properties_of(value)
    return names


def objects_in(value):
    if isinstance(value, dict):
        yield value
    for one in value.values() if isinstance(value, dict) else value:
        if isinstance(one, (dict, list)):
            yield from objects_in(one)


def written(program, directory):
    """Returns the reports of the runs, and of one compared with another."""
    for algorithm, options in RUNS.items():
        run(program, "run", TOP / "configs/two-clusters.yaml", "--clock", "virtual",
            "--algorithm", algorithm, "--trace", directory / algorithm, "--",
            "noise_allreduce", "--iterations", "400", *options)
        yield algorithm, run(program, "analyze", directory / algorithm, "--json", "-")
    run(program, "run", TOP / "configs/two-by-four.yaml", "--clock", "virtual",
        "--trace", directory / "groups", "--", "collective", "allreduce", "-m", "64KiB:64KiB")
    yield "groups", run(program, "analyze", directory / "groups", "--json", "-")
    run(program, "run", TOP / "configs/three-sites.yaml", "--clock", "virtual",
        "--trace", directory / "streams", "--", "collective", "allgather", "-m", "1KiB:1KiB")
    yield "streams", run(program, "analyze", directory / "streams", "--json", "-")
    run(program, "run", TOP / "configs/sor-two-clusters.yaml", "--clock", "virtual",
        "--trace", directory / "solver", "--", "sor", "--size", "40")
    yield "predicted", run(program, "analyze", directory / "solver", "--json", "-", "--sensitivity",
                           "--what-if", "link:*.latency=1ms")
    yield "compared", run(program, "analyze", directory / "sequential", "--compare",
                          directory / "magpie", "--json", "-")


def main():
    schema = json.loads((TOP / "configs/schema/report.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    failures, seen = [], set()
    with tempfile.TemporaryDirectory() as directory:
        for name, text in written(sys.argv[1], Path(directory)):
            report = json.loads(text)
            error = jsonschema.exceptions.best_match(validator.iter_errors(report))
            if error is not None:
                failures.append(f"{name}: {error.json_path}: {error.message}")
            seen |= names_in(report)
            # The schema permits no additional fields, so any unknown field is an error.
            small = {key: value[:1] if isinstance(value, list) else value
                     for key, value in copy.deepcopy(report).items()}
            for one in objects_in(small):
                one["unknown_field"] = 1
                if validator.is_valid(small):
                    failures.append(f"{name}: an unknown field is not found in {sorted(one)}")
                del one["unknown_field"]
    for field in sorted(properties_of(schema) - seen - SELDOM):
        failures.append(f"the schema has {field}, which no report had")

    for failure in failures:
        print(failure, file=sys.stderr)
    print(f"{len(RUNS) + 4} reports, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
