#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_modules [root]: checks each #include against the table of modules below.
check_modules --table: prints each module with its files, its lines, and the modules that it
includes.

CMakeLists.txt links modules by the same table. The compiler also finds headers of modules that are
not linked, so the includes are checked here.
"""
import pathlib
import re
import sys

# Key: a module. Value: the other modules whose headers the module may include. These other modules
# must be listed before the module. A folder inside a module is part of that module, unless the
# folder has an entry of its own.
LIBRARIES = {
    "base": "",
    "base/link_model": "base",
    "runtime": "base",
    "pastset": "base runtime",
    "eventspace": "base",
    "eventspace/trace": "base eventspace",
    "eventspace/analysis/report": "base eventspace",
    "eventspace/analysis/input": "base eventspace",
    "eventspace/analysis/metrics": "base eventspace eventspace/analysis/report "
                                   "eventspace/analysis/input",
    "eventspace/analysis/diagnosis": "base eventspace eventspace/analysis/report "
                                     "eventspace/analysis/metrics",
    "eventspace/analysis/attribution": "base eventspace eventspace/analysis/report "
                                       "eventspace/analysis/input eventspace/analysis/metrics",
    "eventspace/analysis": "base eventspace eventspace/trace eventspace/analysis/report "
                           "eventspace/analysis/input eventspace/analysis/metrics "
                           "eventspace/analysis/attribution eventspace/analysis/diagnosis",
    "eventspace/export": "base eventspace eventspace/trace eventspace/analysis "
                         "eventspace/analysis/report eventspace/analysis/input",
    "eventspace/page": "base eventspace eventspace/trace eventspace/analysis eventspace/export "
                       "eventspace/analysis/report eventspace/analysis/input",
    "collectives/schedule": "base",
    "collectives/algorithms": "base collectives/schedule",
    "collectives/cost": "base base/link_model collectives/schedule collectives/algorithms",
    "collectives/planner": "base base/link_model collectives/schedule collectives/algorithms "
                           "collectives/cost",
    "collectives/tuner": "base base/link_model collectives/schedule collectives/algorithms "
                         "collectives/cost",
    "paths": "base runtime pastset eventspace",
    "paths/keys": "base",
    "paths/plan": "base base/link_model runtime pastset eventspace collectives/tuner paths "
                  "paths/keys",
    "paths/joins": "base runtime pastset eventspace paths paths/plan",
    "paths/wire": "base runtime paths paths/keys",
    "paths/machine": "base runtime",
    "paths/connections": "base runtime paths paths/wire",
    "paths/config": "base runtime pastset collectives/algorithms collectives/tuner base/link_model "
                    "paths paths/plan paths/keys paths/joins",
    "paths/links": "base runtime eventspace base/link_model paths/plan paths/wire",
    "paths/messages": "base base/link_model runtime paths paths/plan paths/wire paths/links",
    "paths/host": "base runtime pastset eventspace paths paths/plan paths/keys paths/wire "
                  "paths/connections paths/links paths/messages",
    "paths/run": "base runtime pastset eventspace eventspace/trace paths paths/plan paths/keys "
                 "paths/wire paths/config paths/links paths/messages paths/host",
    "groups/calls": "base runtime collectives/schedule collectives/cost paths/plan paths/machine",
    "groups/selection": "base runtime base/link_model collectives/schedule collectives/algorithms "
                        "collectives/cost collectives/planner collectives/tuner paths/plan "
                        "paths/links groups/calls",
    "groups/execution": "base runtime base/link_model eventspace collectives/schedule "
                        "collectives/cost paths paths/plan paths/machine paths/messages paths/host "
                        "groups/calls groups/selection",
    "groups": "base runtime pastset base/link_model collectives/schedule collectives/cost paths "
              "paths/plan paths/machine paths/messages paths/host groups/calls groups/selection "
              "groups/execution",
    "wrappers": "base runtime pastset eventspace base/link_model paths paths/plan paths/joins "
                "paths/links paths/host paths/run groups groups/calls groups/selection "
                "groups/execution",
}
# Programs may include every library module. Tests, bench and examples may also include commands/.
# No other module may include tests, bench or examples.
PROGRAMS = {
    "commands": " ".join(LIBRARIES),
    "bench/support": " ".join(LIBRARIES),
    "bench": " ".join([*LIBRARIES, "commands", "bench/support"]),
    "examples": " ".join([*LIBRARIES, "commands"]),
    "tests": " ".join([*LIBRARIES, "commands", "bench/support", "bench", "examples"]),
}
MODULES = {module: {module, *uses.split()} for module, uses in {**LIBRARIES, **PROGRAMS}.items()}

# Pairs of a header of a different project, and the files and folders that may include this header.
DOORS = [
    (r"yaml-cpp/", "base/settings_yaml.cpp"),
    (r"boost/", "runtime/"),
    (r"zmq\.h(pp)?$|zmq_addon\.hpp$", "paths/wire/zmq/"),
    (r"sodium", "paths/keys/"),
    (r"CLI/", "commands/ bench/ examples/ paths/run/command_line.cpp paths/run/program.cpp"),
    (r"xxh", "base/"),
    (r"zlib", "eventspace/page/page.cpp"),
    (r"otf2/", "eventspace/export/otf2.cpp"),
    (r"nlohmann/", "paths/ eventspace/ commands/ bench/ tests/"),
    (r"spdlog/", "runtime/ paths/"),
    (r"benchmark/", "bench/ tests/"),
    (r"catch2/", "bench/ tests/"),
]
# Names of the files of wrappers/ that may include all wrappers. A file of one wrapper may not
# include another wrapper.
ALL_WRAPPERS = {"all", "main"}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def wrapper_of(path):
    """Returns the wrapper of a file of wrappers/: wrappers/delay.cpp and .hpp are one pair."""
    return path.split("/")[1].split(".")[0]


def module_of(path):
    """Returns the innermost module of a file, or None."""
    folder = path
    while "/" in folder:
        folder = folder.rpartition("/")[0]
        if folder in MODULES:
            return folder
    return None


def mistake(root, file, bracket, header):
    """Returns the mistake in one include of a file, or None."""
    module = module_of(file)
    for pattern, door in DOORS:
        if re.match(pattern, header) and not file.startswith(tuple(door.split())):
            return f"<{header}> may be included only in {door}"
    if bracket == "<":
        return None
    target = module_of(header)
    if not (root / header).is_file():
        return f'"{header}" is no file; name headers from the top of the project'
    if target not in MODULES[module]:
        return f'{module}/ may not include {target}/ ("{header}"); it may: ' + " ".join(
            sorted(MODULES[module]))
    if module == target == "wrappers" and wrapper_of(file) not in ALL_WRAPPERS:
        if wrapper_of(file) != wrapper_of(header):
            return f'a wrapper may not know another wrapper ("{header}")'
    if target == "paths/run" and module == "wrappers" and wrapper_of(file) != "main":
        return f'a wrapper may not know how it is run ("{header}")'
    if module == target == "bench" and file.count("/") > 1 and header.split("/")[:2] != \
            file.split("/")[:2]:
        return f'a program may not know another one ("{header}")'
    return None


def files_of(root):
    """Yields each file that belongs to a module."""
    for top in sorted({module.split("/")[0] for module in MODULES}):
        for path in sorted((root / top).rglob("*.[ch]pp")):
            yield path, path.relative_to(root).as_posix()


def print_table(root):
    files, lines, uses = ({module: kind() for module in MODULES} for kind in (int, int, set))
    for path, file in files_of(root):
        module = module_of(file)
        text = path.read_text("utf-8").splitlines()
        files[module] += 1
        lines[module] += len(text)
        headers = (match[2] for match in map(INCLUDE.match, text) if match and match[1] == '"')
        uses[module].update({module_of(header) for header in headers} - {module, None})
    for module in MODULES:
        print(f"{module:30}{files[module]:5}{lines[module]:7}  {' '.join(sorted(uses[module]))}")


def main():
    root = pathlib.Path(__file__).parent.parent.resolve()
    if sys.argv[1:] == ["--table"]:
        return print_table(root)
    if sys.argv[1:]:
        root = pathlib.Path(sys.argv[1]).resolve()
    mistakes = 0
    known = []
    for module, uses in LIBRARIES.items():
        for use in sorted(set(uses.split()) - set(known)):
            print(f"check_modules.py: {module}/ may include {use}/, which does not stand above it")
            mistakes += 1
        known.append(module)
    for path, file in files_of(root):
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            include = INCLUDE.match(line)
            why = include and mistake(root, file, *include.groups())
            if why:
                print(f"{file}:{number}: {why}")
                mistakes += 1
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main())
