# SPDX-License-Identifier: Apache-2.0
# bench/evaluation/evaluation.py — writer of docs/explanation/evaluation.md: the papers, measured
# again.
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


PAPERS = ["bongo", "matsuda", "karonis", "gupta", "vadhiyar"]


def papers(text):
    chosen = text.split(",")
    for name in chosen:
        if name not in PAPERS:
            raise argparse.ArgumentTypeError(f"expected {', '.join(PAPERS)}, found '{name}'")
    return chosen


def arguments():
    parser = argparse.ArgumentParser(prog="bench/evaluation/run", description=__doc__)
    parser.add_argument("--binaries", type=Path,
                        help="the folder of the programs (default: they are built)")
    parser.add_argument("--work", default=TOP / "build/evaluation", type=Path,
                        help="where the figures of runs are kept (default: build/evaluation)")
    parser.add_argument("--out", default=TOP / "docs/explanation", type=Path,
                        help="the folder of evaluation.md and evaluation/ "
                             "(default: docs/explanation)")
    parser.add_argument("--papers", type=papers, default=PAPERS,
                        help="which, with commas between them, of " + ", ".join(PAPERS) +
                             " (default: all); what the page says of others stays")
    parser.add_argument("--iterations", type=at_least_1, default=15000)
    parser.add_argument("--at-once", type=at_least_1, default=2, help="runs side by side")
    parser.add_argument("--real", action="store_true",
                        help="also real processes: ten minutes, alone on the machine; else what "
                             "the page says of them stays")
    options = parser.parse_args()
    if options.binaries and not (options.binaries / "paths").exists():
        parser.error(f"--binaries: expected a folder with paths in it, found '{options.binaries}'")
    if options.real and "bongo" not in options.papers:
        parser.error("--real: expected bongo among --papers, whose runs are real")
    for folder in (options.out / "evaluation", options.work):
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            parser.error(f"--out, --work: expected folders that can be written: {error}")
    return options


def prepare(options):
    """Installs and builds missing parts after the options were checked."""
    if importlib.util.find_spec("matplotlib") is None:
        if os.geteuid() != 0:
            sys.exit("bench/evaluation/run: needs the package python3-matplotlib")
        subprocess.run(["apt-get", "install", "-y", "--no-install-recommends",
                        "python3-matplotlib"], check=True)
    if options.binaries is None:
        subprocess.run([TOP / "scripts/build", "bench"], stdout=sys.stderr, check=True)
        options.binaries = TOP / "build/bench/bin"


HEAD = """# Evaluation

This page repeats the measurements of five papers, and measures improvements beyond them:

| paper | subject |
| --- | --- |
| Bongo et al. 2004 (the first sections below) | [conditional-allreduce](papers/bongo-2004.md) |
| [Matsuda et al. 2006](#matsuda-et-al-2006-long-and-fast-networks) | broadcast, allreduce |
| [Karonis et al. 2002](#karonis-et-al-2002-trees-of-several-levels) | trees of several levels |
| [Gupta and Vadhiyar 2007](#gupta-and-vadhiyar-2007-allgather-over-grids) | allgather over grids |
| [Vadhiyar et al. 2004](#vadhiyar-et-al-2004-tuned-collectives) | searches, predictions |

These commands write this file and its pictures:

<!-- not run: takes too long for a test -->
    bench/evaluation/run                           # virtual clock: quarter of an hour, 2 cores
    bench/evaluation/run --papers matsuda,karonis  # a part: two minutes
    bench/evaluation/run --real                    # also real processes; nothing else may run

On the virtual clock a command gives the same figures on every machine. "Predicted" times are
computed without running the schedule. The [glossary](../glossary.md#schedules) explains *predicted
time* and *lower bound*.

The first sections repeat section VI of Bongo et al. 2004, "Extending Collective Operations With
Application Semantics for Improving Multi-cluster Performance". There are 140 threads on 91 hosts
of five clusters ([configs/multicluster.yaml](../../configs/multicluster.yaml)). An iteration
computes for 30 ms. The paper gives the clusters and some latencies of its topology. Comments in
the config mark the values that are assumed.

"""


def parts(runner, options):
    """Returns {part: (heading, function that makes the text)}, in the order of the page."""
    import gupta
    import karonis
    import matsuda
    import real
    import vadhiyar
    import virtual
    from faults import Faults
    pictures = options.out / "evaluation"

    def bongo():
        evaluation = virtual.Evaluation(runner, options.iterations, pictures)
        return evaluation.text() + "\n" + Faults(runner, evaluation.values["frosty"]).text()

    return {"bongo": (virtual.HEADING, bongo),
            "real": (real.HEADING, lambda: real.text_of_real_runs(runner, pictures)),
            "matsuda": (matsuda.HEADING, matsuda.Matsuda(runner, pictures).text),
            "karonis": (karonis.HEADING, karonis.Karonis(runner, pictures).text),
            "gupta": (gupta.HEADING, gupta.Gupta(runner, pictures).text),
            "vadhiyar": (vadhiyar.HEADING, vadhiyar.Vadhiyar(runner, pictures).text)}


def parts_of_before(page, headings):
    """Returns {part: text} of the page as it is now."""
    text = page.read_text() if page.exists() else ""
    begins = sorted((text.find("\n" + heading), name) for name, heading in headings.items()
                    if "\n" + heading in text)
    ends = [begin for begin, _ in begins[1:]] + [len(text)]
    return {name: text[begin + 1:end] for (begin, name), end in zip(begins, ends)}


def main():
    options = arguments()
    prepare(options)
    runner = Runner(options.binaries.resolve(), options.work.resolve(), options.at_once)
    page = options.out / "evaluation.md"
    all_parts = parts(runner, options)
    before = parts_of_before(page, {name: heading for name, (heading, _) in all_parts.items()})
    chosen = set(options.papers)
    if "bongo" in chosen and options.real:
        chosen.add("real")
    text = HEAD
    try:
        text += text_of_parts(all_parts, chosen, before)
    except KeyboardInterrupt:
        runner.stop()
        print(f"evaluation: interrupted; {page} is as it was, and the figures of {runner.done} "
              f"runs are kept in {runner.work}: the same command goes on from there",
              file=sys.stderr)
        os._exit(130)
    runner.stop()
    page.write_text(text.rstrip("\n") + "\n")
    print(page)


def text_of_parts(all_parts, chosen, before):
    text = ""
    for name, (_, write) in all_parts.items():
        part = write() if name in chosen else before.get(name, "")
        text += part.strip("\n") + "\n\n" if part else ""
    return text


main()
