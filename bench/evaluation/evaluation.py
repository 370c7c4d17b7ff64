# SPDX-License-Identifier: Apache-2.0
# bench/evaluation/evaluation.py — writes docs/evaluation.md: the paper's figures, measured again.
import argparse
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

from runs import TOP, Runner


def at_least_1(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected 1 or more, found {number}")
    return number


def arguments():
    parser = argparse.ArgumentParser(prog="bench/evaluation/run", description=__doc__)
    parser.add_argument("--binaries", type=Path,
                        help="the folder of the programs (default: they are built)")
    parser.add_argument("--work", default=TOP / "build/evaluation", type=Path,
                        help="where the figures of runs are kept (default: build/evaluation)")
    parser.add_argument("--out", default=TOP / "docs", type=Path,
                        help="the folder of evaluation.md and evaluation/ (default: docs)")
    parser.add_argument("--iterations", type=at_least_1, default=15000)
    parser.add_argument("--at-once", type=at_least_1, default=2, help="runs side by side")
    parser.add_argument("--real", action="store_true",
                        help="also real processes: ten minutes, alone on the machine; else what "
                             "the page says of them stays")
    options = parser.parse_args()
    if options.binaries and not (options.binaries / "paths").exists():
        parser.error(f"--binaries: expected a folder with paths in it, found '{options.binaries}'")
    for folder in (options.out / "evaluation", options.work):
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            parser.error(f"--out, --work: expected folders that can be written: {error}")
    return options


def prepare(options):
    """Installs and builds what is missing, once the options are known to be right."""
    if importlib.util.find_spec("matplotlib") is None:
        if os.geteuid() != 0:
            sys.exit("bench/evaluation/run: needs the package python3-matplotlib")
        subprocess.run(["apt-get", "install", "-y", "--no-install-recommends",
                        "python3-matplotlib"], check=True)
    if options.binaries is None:
        subprocess.run([TOP / "scripts/build", "bench"], stdout=sys.stderr, check=True)
        options.binaries = TOP / "build/bench/bin"


HEAD = """# Evaluation

Section VI of Bongo et al. 2004, "Extending Collective Operations With Application Semantics for
Improving Multi-cluster Performance", measured again, and what can be had beyond it. This file and
its pictures are written by

    bench/evaluation/run          # the virtual clock: a quarter of an hour on two cores
    bench/evaluation/run --real   # and real processes, which should be alone on the machine

140 threads on 91 hosts of five clusters
([configs/multicluster.yaml](../configs/multicluster.yaml)), {iterations:,} iterations of 30 ms of
computing. Of the paper's topology the text gives the clusters and some latencies; the config says
which are assumed. On the virtual clock the same command gives the same figures everywhere.

"""


def text_of_before(page, heading):
    """What the page says from there on: only --real measures it anew."""
    text = page.read_text() if page.exists() else ""
    return text[text.find(heading):] if heading in text else ""


def main():
    options = arguments()
    prepare(options)
    import real
    from faults import Faults
    from virtual import Evaluation
    pictures = options.out / "evaluation"
    runner = Runner(options.binaries.resolve(), options.work.resolve(), options.at_once)
    text = HEAD.format(iterations=options.iterations)
    evaluation = Evaluation(runner, options.iterations, pictures)
    text += evaluation.text() + "\n" + Faults(runner, evaluation.values["frosty"]).text()
    page = options.out / "evaluation.md"
    text += "\n" + (real.text_of_real_runs(runner, pictures) if options.real
                    else text_of_before(page, real.HEADING))
    page.write_text(text.rstrip("\n") + "\n")
    print(page)


main()
