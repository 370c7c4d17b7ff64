#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check MODEL EXPECTED [-DNAME[=VALUE]...]: searches all states of a model with spin.

EXPECTED is the result that the search must have. `holds`: no error. `wrong`: a decision that
differs from the decision by the full sum. `hangs`: a state from which the run cannot end. Exits
with 77 if spin or a C compiler is missing.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
# The search is exhaustive, without bit-state hashing and hash compaction. Partial order reduction
# is off (NOREDUCE): it could omit no state, because all variables are shared. MEMLIM is in MB.
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
        # If an error is expected, the search finds it in less time than -O2 needs to compile.
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
