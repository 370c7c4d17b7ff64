#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check MODEL EXPECTED [-DNAME[=VALUE]...]: looks at every state of a model with spin.

EXPECTED is holds, wrong (a decision that is not that of the full sum must be found) or hangs (a
state without an end must be found). Exits with 77 where spin or a C compiler is missing.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
# Exhaustive: neither bit-state hashing nor hash compaction. Partial order reduction finds nothing
# to omit, because everything is shared. Memory in MB.
COMPILE = ["-w", "-DSAFETY", "-DNOFAIR", "-DNOREDUCE", "-DMEMLIM=4000"]
DEPTH_MAX = 100_000
FINDINGS = {"wrong": "assertion violated", "hangs": "invalid end state"}


def search(model, defines, folder, compiler, optimize):
    """Returns the output of spin's verifier for the model."""
    def run(*command):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    for command in (["spin", *defines, "-a", model],
                    [compiler, optimize, *COMPILE, "-o", "pan", "pan.c"]):
        failed, text = run(*command)
        if failed or "Error" in text:
            return f"{' '.join(map(str, command))}: {text}"
    return run("./pan", f"-m{DEPTH_MAX}", "-w22")[1]


def verdict(text):
    """Returns "holds", "wrong", "hangs", or None if the search did not end."""
    for found, words in FINDINGS.items():
        if re.search(rf"pan:\d+: {words}", text):
            return found
    unfinished = ("Search not completed", "max search depth too small", "memory")
    is_finished = "errors: 0" in text and not any(
        re.search(rf"(error|pan|Warning).*{words}", text) for words in unfinished)
    return "holds" if is_finished else None


def main():
    model, expected, *defines = sys.argv[1:]
    compiler = shutil.which("gcc") or shutil.which("cc")
    if not shutil.which("spin") or not compiler:
        print("warning: no spin or no C compiler here, the model is not checked")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        # An error is found faster than the compiler could optimize the search.
        optimize = "-O2" if expected == "holds" else "-O0"
        text = search(pathlib.Path(model).resolve(), defines, folder, compiler, optimize)
    found = verdict(text)
    figures = {what: re.search(pattern, text) for what, pattern in [
        ("states", r"([\d.e+]+) states, stored"), ("depth", r"depth reached (\d+)"),
        ("MB", r"([\d.]+)\ttotal actual memory"), ("seconds", r"elapsed time ([\d.]+)")]}
    said = ", ".join(f"{found_one[1]} {what}" for what, found_one in figures.items() if found_one)
    print(f"{pathlib.Path(model).stem} {' '.join(defines)}: {found or 'no verdict'}; {said}")
    if found != expected:
        print(f"expected: {expected}\n{text}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
