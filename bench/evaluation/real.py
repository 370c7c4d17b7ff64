# SPDX-License-Identifier: Apache-2.0
# bench/evaluation/real.py — real processes: cost of communication, and SOR over a WAN.
import plots
from text import number, percent, table

SMALL = "configs/multicluster-small.yaml"
ALGORITHMS = ["sequential", "magpie", "exact", "conditional", "conditional:push",
              "conditional:demand", "conditional:subscribe:16", "periodic:10", "lagged:4",
              "budget:16,8"]
SIZES = [4096, 2896, 2048, 1380]
# Latency in ms that the halo must hide: 30 ms for the way of border rows, plus 30 ms by which one
# cluster can be ahead. A cluster is ahead if it waits less for sums than the other cluster.
HIDDEN_MS = 60.0
HEADING = "## Processor time of the roots"
CLUSTERS = {"apart": "clusters:\n  alpha: {hosts: 1, threads: 1}\n  beta: {hosts: 1, threads: 1}\n"
                     "links:\n  - {between: [alpha, beta], latency: 30ms, bandwidth: 10Gbit}\n",
            "together": "clusters:\n  alpha: {hosts: 2, threads: 1}\n"}


def text_of_real_runs(runner, pictures):
    return cost_of_communication(runner) + "\n" + Sor(runner, pictures).text()


def cost_of_communication(runner):
    runs = {algorithm: runner.json_of(
        ["paths", "run", SMALL, "--", "noise_allreduce", "--algorithm", algorithm, "--compute",
         "sleep", "--iterations", 150, "--values", "best"]) for algorithm in ALGORITHMS}
    roots = {}
    for host in runs["magpie"]["cpu_ms"]:
        roots.setdefault(host.rsplit("-", 1)[0], host)
    rows = [[algorithm, number(run["ms_per_iteration"]["mean"]),
             number(run["wan"]["messages_per_iteration"]),
             *(number(run["cpu_ms"][host], 3) for host in roots.values())]
            for algorithm, run in runs.items()]
    return f"""{HEADING}

This run has real processes, one for each host and gateway of [the small
multi-cluster](../../{SMALL}). They use TCP on one machine, with the values `best`. Threads sleep
instead of computing. The processor time of a process is therefore that of its communication. The
table shows it in ms per iteration. The messages include ten rounds of warm-up, in which each
cluster waits for all others:

{table(["algorithm", "ms per iteration", "WAN messages",
        *(f"CPU of {host}" for host in roots.values())], rows)}"""


class Sor:
    """SOR of two processes with a thread each."""

    def __init__(self, runner, pictures):
        self.runner, self.pictures = runner, pictures

    def config(self, where, size):
        file = self.runner.work / f"sor_{where}_{size}.yaml"
        file.write_text(CLUSTERS[where] + f"""collectives:
  sum: {{operation: sum, template: f64, algorithm: sequential, contributions: non_negative,
        condition: {{less: {1e-8 * size * size!r}}}}}
exchanges:
  rows: {{template: "f64[]"}}
elements:
  report: {{host: alpha-0, template: bytes, reach: all}}
""")
        return file

    def run(self, where, size, algorithm, *more):
        return self.runner.json_of(["paths", "run", self.config(where, size), "--", "sor", "--data",
                                    "frosty", "--size", size, "--algorithm", algorithm, *more])

    def halo(self, size):
        """Returns the number of iterations in which rows may be under way. It is computed from the
        time of an iteration."""
        pace = self.run("together", size, "sequential", "--iterations", 300)
        return max(1, -int(-HIDDEN_MS // pace["ms_per_iteration"]["mean"]))

    def text(self):
        return f"""## SOR over a wide-area link

This run solves *frosty* by red-black SOR. It has two processes with one thread each, on two
cores, over TCP.

- "Apart": two clusters with an emulated link of 30 ms each way. All border rows and sums cross
  it.
- "Together": the same two processes in one cluster without a link.

Grids are compared by the digest of all their cells.

{self.whole()}
With `lagged` the condition holds in the same iteration, but the program knows it some iterations
later. Its grid is therefore that of a later iteration. A halo hides twice the latency. It hides
the latency of border rows. It hides the same again for a cluster that is ahead, because the other
one had to wait for its sums.

{self.by_size()}
Plain border rows wait for the link twice in an iteration, once for each colour. With a smaller
grid more iterations fit into a latency, and more rows are relaxed twice to hide it.
"""

    def whole(self):
        rows = []
        for size in (4096, 1380):
            halo = self.halo(size)
            together = self.run("together", size, "sequential")
            rows.append(self.row(size, "together, sequential", together, together))
            for algorithm in ("conditional:push", f"lagged:{halo}"):
                apart = self.run("apart", size, algorithm, "--halo", halo)
                rows.append(self.row(size, f"apart, {algorithm}, halo {halo}", apart, together))
        return "Runs to the end:\n\n" + table(
            ["size", "run", "iterations", "stops at", "same grid", "ms per iteration",
             "against together", "rows relaxed twice", "WAN messages", "WAN KiB"], rows, left=2)

    @staticmethod
    def row(size, name, run, together):
        ms, best = (one["ms_per_iteration"]["mean"] for one in (run, together))
        wan = run["wan"]
        return [size, name, run["iterations"], run["stop_iteration"],
                "yes" if run["grid_digest"] == together["grid_digest"] else "no", number(ms),
                f"{100 * (ms / best - 1):+.1f}%", percent(run.get("redundant_rows_share", 0)),
                number(wan["messages_per_iteration"]),
                number(wan["bytes_per_iteration"] / 1024, 1)]

    def by_size(self):
        rows, curves = [], {"together": [], "apart, hidden": [], "apart, plain": []}
        for size in SIZES:
            halo = self.halo(size)
            together = self.run("together", size, "sequential", "--iterations", 300)
            hidden, plain = (self.run("apart", size, "conditional:push", "--halo", way,
                                      "--iterations", 300) for way in (halo, "plain"))
            for name, run in zip(curves, (together, hidden, plain)):
                curves[name].append((size, run["ms_per_iteration"]["mean"]))
            rows.append([size, halo, *(number(run["ms_per_iteration"]["mean"])
                                       for run in (together, hidden, plain)),
                         percent(hidden["redundant_rows_share"])])
        plots.curve(curves, "rows of the grid", "ms per iteration", self.pictures / "sor.svg")
        return "The first 300 iterations, in which each cluster's own sum decides:\n\n" + table(
            ["size", "halo", "together, ms", "apart, hidden", "apart, plain", "rows relaxed twice"],
            rows) + "\n![Time of an iteration by size](evaluation/sor.svg)\n"
