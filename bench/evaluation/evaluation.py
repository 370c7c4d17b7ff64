# SPDX-License-Identifier: Apache-2.0
# bench/evaluation/evaluation.py — writes docs/evaluation.md: the paper's figures, measured again.
import argparse
from pathlib import Path

from faults import Faults
from runs import TOP, Runner
from virtual import Evaluation


def arguments():
    parser = argparse.ArgumentParser(prog="bench/evaluation/run", description=__doc__)
    parser.add_argument("--binaries", required=True, help="the folder of the programs")
    parser.add_argument("--work", required=True, type=Path,
                        help="where the figures of runs are kept")
    parser.add_argument("--out", default=TOP / "docs", type=Path,
                        help="the folder of evaluation.md and evaluation/ (default: docs)")
    parser.add_argument("--iterations", type=int, default=15000)
    parser.add_argument("--at-once", type=int, default=2, help="runs side by side")
    parser.add_argument("--real", action="store_true",
                        help="also real processes: half an hour, alone on the machine")
    return parser.parse_args()


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


def main():
    options = arguments()
    pictures = options.out / "evaluation"
    pictures.mkdir(parents=True, exist_ok=True)
    runner = Runner(options.binaries, options.work, options.at_once)
    text = HEAD.format(iterations=options.iterations)
    evaluation = Evaluation(runner, options.iterations, pictures)
    text += evaluation.text() + "\n" + Faults(runner, evaluation.values["frosty"]).text()
    if options.real:
        from real import text_of_real_runs
        real = text_of_real_runs(runner, pictures)
        (options.work / "real.md").write_text(real)
    real = options.work / "real.md"
    if real.exists():
        text += "\n" + real.read_text()
    (options.out / "evaluation.md").write_text(text)
    print(options.out / "evaluation.md")


main()
