#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""schema [--check] PATHS_PROGRAM: writes the generated parts of configs/schema/config.schema.json.

`paths kinds` prints these parts: the kinds of wrappers and collectives, the words of algorithms
and transports, and their settings. Everything else in the file is written by hand.

--check prints where the file differs, and fails if it does. It writes nothing.
"""
import json
import re
import subprocess
import sys
from pathlib import Path

FILE = Path(__file__).resolve().parents[1] / "configs/schema/config.schema.json"
NAME = {"$ref": "#/$defs/name"}
NAMES = {"type": "array", "items": NAME}
OF_TYPE = {
    **{word: {"$ref": f"#/$defs/{word}"}
       for word in ("template", "time", "bytes", "rate", "operation", "condition")},
    "element": NAME, "element of another host": NAME, "element of asks": NAME, "host": NAME,
    "list of elements": NAMES,
    "word": {"type": "string"}, "true or false": {"type": "boolean"},
}


def schema_of_type(text):
    if text in OF_TYPE:
        return OF_TYPE[text]
    if numbers := re.fullmatch(r"integer from (\d+)(?: to (\d+))?", text):
        limits = {"minimum": int(numbers[1])}
        return {"type": "integer", **limits, **({"maximum": int(numbers[2])} if numbers[2] else {})}
    words = re.split(r", | or ", text)
    if len(words) < 2:
        sys.exit(f"schema: nothing is known of settings of type '{text}'")
    return {"enum": [{"true": True, "false": False}.get(word, word) for word in words]}


def settings_of(kind):
    return {setting["name"]: schema_of_type(setting["type"]) for setting in kind["settings"]}


def required_of(kind):
    return [one["name"] for one in kind["settings"] if one["fallback"] == "required"]


def a_map(properties, required=(), **more):
    return {**more, "properties": properties, "additionalProperties": False,
            **({"required": list(required)} if required else {})}


def in_place(kind):
    return a_map(settings_of(kind), required_of(kind), type=["object", "null"])


def named_wrapper(kinds):
    """Returns the schema of a wrapper with a name. Its other keys depend on its kind."""
    def of_kind(name, kind):
        properties = {"kind": {"const": name}, "host": NAME, **settings_of(kind)}
        if kind["job"] == "join":
            properties["contributors"] = {"$ref": "#/$defs/count"}
        return {"if": {"properties": {"kind": {"const": name}}, "required": ["kind"]},
                "then": a_map(properties, ["kind", "host", *required_of(kind)], type="object")}
    return {"type": "object", "required": ["kind", "host"],
            "properties": {"kind": {"enum": list(kinds)}},
            "allOf": [of_kind(name, kind) for name, kind in kinds.items()]}


def item(kinds):
    """Returns the schema of an item of a path: a name, a name with a role, or a kind with
    settings."""
    roles = sorted({role for kind in kinds.values() for role in kind["roles"]})
    return {"description": "a wrapper's name, name: role, or kind: {settings}",
            "anyOf": [NAME, {
                "type": "object", "minProperties": 1, "maxProperties": 1,
                "properties": {name: {"$ref": f"#/$defs/settings_of_{name}"} for name in kinds},
                "additionalProperties": {"type": "string", "enum": roles}}]}


def pattern(words, transfers):
    """Returns the regular expression of `words`, each with an optional suffix after a colon:
    numbers, or a value of `transfer`."""
    def form(name, word):
        if word["schedules"]:
            return f"{name}|({'|'.join(word['schedules'])})(:.+)?"
        if word["settings"]:
            return f"{name}(:{','.join('[0-9]+' for _ in word['settings'])})?"
        behind = [one + ":[0-9]+" * len(transfers[one]["settings"]) for one in word["transfers"]]
        return f"{name}(:({'|'.join(behind)}))?" if behind else name
    return {"type": "string",
            "pattern": f"^({'|'.join(form(name, word) for name, word in words.items())})$"}


def as_maps(words):
    """Returns the schema of words as maps: {lagged: 2}, {budget: {horizon: 8, every: 4}}."""
    for name, word in words.items():
        numbers = settings_of(word)
        if len(numbers) == 1:
            yield a_map({name: next(iter(numbers.values()))}, [name], type="object")
        elif numbers:
            yield a_map({name: a_map(numbers, list(numbers), type="object")}, [name], type="object")


def collective(described):
    kinds, words = described["collectives"], described["algorithms"]
    relaxations = {name: word for name, word in words.items() if word["relaxation"] == name}
    transfers = described["transfers"]
    plain = [name for name, transfer in transfers.items() if not transfer["settings"]]
    return {
        "kind": {"enum": list(kinds)},
        **{key: value for kind in kinds.values() for key, value in settings_of(kind).items()},
        "algorithm": {"anyOf": [{"enum": [one for name, word in words.items()
                                          if not word["settings"]
                                          for one in [name, *word["schedules"]]]},
                                pattern(words, transfers)]},
        "relaxation": {"anyOf": [pattern(relaxations, transfers), *as_maps(relaxations)]},
        "transfer": {"anyOf": [{"enum": plain}, *as_maps(transfers)]},
    }


def graph(described):
    """Returns the schema of an entry of `graphs` in a low-level config."""
    kinds = described["collectives"]
    own = {key: value for kind in kinds.values() for key, value in settings_of(kind).items()}
    return a_map({"kind": {"enum": [*kinds, "exchange"]}, "of": NAME,
                  "algorithm": pattern(described["algorithms"], described["transfers"]), **own,
                  "condition": {"$ref": "#/$defs/condition"}}, ["kind"], type="object")


def generated(schema, described):
    kinds = described["wrappers"]
    definitions = {name: value for name, value in schema["$defs"].items()
                   if not name.startswith("settings_of_")}
    by_job = {name: kind["job"] for name, kind in kinds.items()}
    definitions |= {
        "instrumented_kind": {"enum": [name for name, job in by_job.items()
                                       if job != "collector"]},
        "exchanging_kind": {"enum": [name for name, job in by_job.items()
                                     if job in ("store", "crossing", "link")]},
        "wrapper": named_wrapper(kinds), "item": item(kinds), "graph": graph(described)}
    definitions |= {f"settings_of_{name}": in_place(kind) for name, kind in kinds.items()}
    transports = described["transports"]
    definitions["network"]["properties"]["transport"] = {"enum": transports}
    for name in ("decision_sections", "decision_sections_of_sums"):
        definitions[name]["items"]["properties"]["transport"] = {"enum": ["any", *transports]}
    # Properties that `paths kinds` does not describe are kept from the file, in their order.
    properties = definitions["collective"]["properties"]
    definitions["collective"]["properties"] = collective(described) | {
        key: value for key, value in properties.items() if key not in collective(described)}
    return {**schema, "$defs": definitions}


def main():
    check, program = sys.argv[1:-1] == ["--check"], sys.argv[-1]
    said = subprocess.run([program, "kinds", "--format", "json"], check=True, capture_output=True,
                          text=True).stdout
    before = FILE.read_text("utf-8")
    after = json.dumps(generated(json.loads(before), json.loads(said)), indent=2) + "\n"
    if not check:
        FILE.write_text(after, "utf-8")
    elif before != after:
        sys.exit(f"{FILE.name} is not what `paths kinds` tells; scripts/schema.py writes it")
    return 0


if __name__ == "__main__":
    sys.exit(main())
