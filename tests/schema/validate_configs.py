#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tests/schema/validate_configs.py — compares the config schema with what `paths` reads.
#
# usage: validate_configs.py PATHS_PROGRAM
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import yaml

TOP = Path(__file__).resolve().parents[2]
ALGORITHMS = ["sequential", "magpie", "exact", "conditional", "conditional:push",
              "conditional:demand", "conditional:subscribe:8", "periodic:50", "lagged:2",
              "budget:32,16"]
# Configs with misspelt words. The schema alone must find the mistakes, because an editor checks a
# config only against the schema.
MISSPELT = [
    "unknown_key", "misspelt_section", "misspelt_cluster_key", "misspelt_wrapper_key",
    "unknown_kind", "unknown_kind_in_place", "unknown_role", "algorithm_misspelt",
    "relaxation_misspelt", "transfer_misspelt", "misspelt_exchange_key",
    "condition_misspelt", "contributions_misspelt", "values_misspelt", "transport_misspelt",
    "both_levels", "shared_misspelt",
]


class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """Loads numbers and flags as YAML 1.2: `on` and `1:30` stay words."""


Loader.yaml_implicit_resolvers = {}
for tag, pattern, first in [
        ("bool", r"^(?:true|false)$", "tf"),
        ("null", r"^(?:~|null|)$", ["~", "n", ""]),
        ("int", r"^-?[0-9]+$", "-0123456789"),
        ("float", r"^-?[0-9]+\.[0-9]*(?:[eE][-+]?[0-9]+)?$|^-?[0-9]+[eE][-+]?[0-9]+$",
         "-0123456789")]:
    Loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(pattern), list(first))


def keys_as_words(value):
    """Returns the value with keys as words, as in JSON. In YAML a host may be called 4."""
    if isinstance(value, dict):
        return {str(key): keys_as_words(entry) for key, entry in value.items()}
    return [keys_as_words(item) for item in value] if isinstance(value, list) else value


def load(text):
    return keys_as_words(yaml.load(text, Loader))


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main():
    program = sys.argv[1]
    schema = json.loads((TOP / "configs/schema/config.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    failures = []

    def expect(valid, what, text):
        error = jsonschema.exceptions.best_match(validator.iter_errors(load(text)))
        if valid and error is not None:
            failures.append(f"{what}: {error.json_path}: {error.message}")
        if not valid and error is None:
            failures.append(f"{what}: the schema finds nothing wrong")

    configs = sorted([*(TOP / "configs").glob("*.yaml"), TOP / "configs/examples/rod.yaml"])
    for config in configs:
        expect(True, config.name, config.read_text())
        if "collectives" not in load(config.read_text()):
            expect(True, f"{config.name} expanded", run(program, "expand", config))
            continue
        for algorithm in ALGORITHMS:
            for instrument in ([], ["--instrument"]):
                expanded = run(program, "expand", config, "--algorithm", algorithm, *instrument)
                expect(True, f"{config.name} expanded, {algorithm}", expanded)
    for name in MISSPELT:
        expect(False, f"broken/{name}.yaml", (TOP / f"configs/broken/{name}.yaml").read_text())

    # The descriptions of kinds and words in the schema must match those of the program.
    writes = os.environ.get("PATHS_APPROVE")
    made = subprocess.run([TOP / "scripts/schema.py", *([] if writes else ["--check"]), program],
                          capture_output=True, text=True)
    if made.returncode != 0:
        failures.append(made.stderr.strip())

    for failure in failures:
        print(failure, file=sys.stderr)
    print(f"{len(configs)} configs, {len(failures)} failures")
    return 1 if failures or not configs else 0


if __name__ == "__main__":
    sys.exit(main())
