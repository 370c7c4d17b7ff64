# SPDX-License-Identifier: Apache-2.0
# bench/evaluation/karonis.py — broadcasts of Karonis et al. 2002 on trees that use sites and
# machines, only sites, only machines, or neither.
import heapq
import math
import re
import statistics

import plots
from collectives import KIB, MIB, Collective, size_text
from text import number, table

HEADING = "## Karonis et al. 2002: trees of several levels"
CONFIG = "configs/two-sites.yaml"
TREES = {"binomial": "tree:shape=binomial",
         "by machine": "multilevel:shapes=none/flat/binomial",
         "by site": "multilevel:shapes=flat/none/binomial",
         "multilevel": "multilevel:shapes=flat/binomial"}
MACHINES = [16, 16, 16]  # processes per machine; the first machine is a separate site
RUN = [8, 256 * KIB]
SIZES = [8, KIB, 8 * KIB, 64 * KIB, 256 * KIB, MIB]
WAN, LAN, INSIDE = range(3)
SECONDS = [30e-3, 1e-3, 50e-6]  # one-way latency in s between sites, machines, processes
BYTES_PER_SECOND = [1e6, 10e6, 100e6]
EQUAL = [(2, 64), (4, 64), (8, 64), (16, 64), (3, 36), (5, 60)]
FORMULA_BYTES = MIB
TWENTY = """clusters:
  sdsc: {hosts: {sp: 10}}
  ncsa: {hosts: {o2k-a: 5, o2k-b: 5}}
links: {all: {latency: 30ms}}
"""


class Places:
    """Machine of each process. The first machine is one site; the others form the second site."""

    def __init__(self, machines):
        self.machine = [number for number, size in enumerate(machines) for _ in range(size)]

    def level(self, one, other):
        ours, theirs = self.machine[one], self.machine[other]
        if (ours == 0) != (theirs == 0):
            return WAN
        return INSIDE if ours == theirs else LAN


class Tree:
    """Tree with the children of each process in the order of sending."""

    def __init__(self, root, children, places):
        self.root, self.children, self.places = root, children, places

    def edges(self):
        for parent, children in self.children.items():
            for child in children:
                yield parent, child, self.places.level(parent, child)

    def messages(self, level):
        return sum(1 for *_, found in self.edges() if found == level)

    def hops(self, level, rank=None):
        """Returns the largest number of hops of this level on the way from the root to one leaf."""
        rank = self.root if rank is None else rank
        return max((self.hops(level, child) + (self.places.level(rank, child) == level)
                    for child in self.children.get(rank, [])), default=0)

    def seconds(self, size):
        """Returns the time of a broadcast. A host sends one message at a time. Each direction
        between two sites carries one message at a time."""
        events, free, last, count = [(0.0, 0, self.root, 0)], {}, 0.0, 0
        while events:
            ready, _, rank, at = heapq.heappop(events)
            last = max(last, ready)
            if at == len(self.children.get(rank, [])):
                continue
            child = self.children[rank][at]
            level = self.places.level(rank, child)
            way = self.places.machine[rank] == 0
            begin = max(ready, free.get(way, 0.0)) if level == WAN else ready
            sent = begin + size / BYTES_PER_SECOND[level]
            if level == WAN:
                free[way] = sent
            count += 2
            heapq.heappush(events, (sent, count, rank, at + 1))
            heapq.heappush(events, (sent + SECONDS[level], count + 1, child, 0))
        return last


class Karonis:
    def __init__(self, runner, pictures):
        self.runner, self.pictures = runner, pictures
        self.collective = Collective(runner, CONFIG)

    def tree(self, config, schedule, root, places):
        words = ["paths", "schedule", "print", config, "--collective", "broadcast", "--algorithm",
                 schedule, "--root", root]
        code, out, error = self.runner.command(words)
        assert code == 0, error
        lines = [line for line in out.splitlines() if not line.startswith("#")]
        children = {rank: [int(peer) for peer in re.findall(r"send>(\d+)", line)]
                    for rank, line in enumerate(lines)}
        return Tree(root, children, places)

    def trees(self, config, machines):
        """Returns {name: [tree by root]}."""
        places = Places(machines)
        jobs = {(name, root): lambda s=schedule, r=root: self.tree(config, s, r, places)
                for name, schedule in TREES.items() for root in range(len(places.machine))}
        found = self.runner.all(jobs)
        return {name: [found[name, root] for root in range(len(places.machine))]
                for name in TREES}

    def text(self):
        self.all = self.trees(CONFIG, MACHINES)
        return "\n".join([self.head(), self.messages(), self.rotating(), self.three_speeds(),
                          self.twenty(), self.clusters(), self.formulas()])

    def head(self):
        rows = [[name, f"`{schedule}`"] for name, schedule in TREES.items()]
        return f"""{HEADING}

The paper is "A Multilevel Approach to Topology-Aware Collective Operations in Computational
Grids" ([summary](papers/karonis-2002.md)). There are three machines at two sites, with 16
processes each. [configs/two-sites.yaml](../../{CONFIG}) has the same: one machine at SDSC, then two
at Argonne. The paper compares broadcasts down four trees: MPICH's binomial tree, which ignores
machines, MagPIe's two-level tree over machines, the same over sites, and a tree of both levels:

{table(["tree", "schedule"], rows, left=2)}"""

    # ---- messages

    def counts(self, trees):
        for name, by_root in trees.items():
            row = [name]
            for level in (WAN, LAN):
                found = [tree.messages(level) for tree in by_root]
                row += [found[0], number(statistics.mean(found)), max(found)]
            yield [*row, max(tree.hops(WAN) for tree in by_root)]

    HEAD = ["tree", "WAN, root 0", "mean", "worst", "LAN, root 0", "mean", "worst",
            "WAN hops, worst"]

    def messages(self):
        return f"""### Messages of a broadcast

The table counts messages of a broadcast among 48 processes. "Root 0" is for the first process as
the root. "Mean" and "worst" are over all roots. WAN messages cross between sites, and LAN
messages between machines of a site. All others of the 47 messages stay in a machine. The last
column counts the WAN hops on one path from a root to a leaf.

{table(self.HEAD, self.counts(self.all))}"""

    # ---- program with every process as the root

    def rotating(self):
        found = self.runner.all({(name, size): lambda s=schedule, m=size: self.seconds(s, m)
                                 for name, schedule in TREES.items() for size in SIZES})
        curves = {name: [(size, found[name, size]) for size in SIZES] for name in TREES}
        rows = [[size_text(size), *(number(found[name, size]) for name in TREES)]
                for size in SIZES]
        plots.by_size(curves, "s for 48 roots", self.pictures / "karonis_roots.svg")
        return f"""### Every process is the root once

The paper's program broadcasts from each process in turn. Its times are in a figure that we did
not have. The text says that binomial is slowest and multilevel fastest. The table has the time of
all 48 broadcasts in s. It leaves out the acknowledgements between them, which are the same for
all trees:

{table(["M", *TREES], rows)}
![Time of 48 broadcasts by size](evaluation/karonis_roots.svg)

8 B and 256 KiB were run on the virtual clock. The times of the others are predicted:

    paths run {CONFIG} --clock virtual -- collective broadcast -m 256KiB \\
      --schedule {TREES["multilevel"]} --root-rank each

A cluster has one network here. A message inside a machine therefore takes as long as one between
machines of its site. So *by site* takes the same time as *multilevel*, whose fewer LAN messages
gain nothing. With the root at SDSC, *by machine* sends each message over the WAN twice. That is
slow for large messages. Two small messages arrive in parallel, which is no slower than once over
the WAN and then over the LAN.
"""

    def seconds(self, schedule, size):
        does = self.collective.run if size in RUN else self.collective.prices
        one = does("broadcast", schedule, size, size, "--root-rank", "each")[0]
        return one.get("ms", one["price_ms"]) * len(one["by_root"]) / 1e3

    def three_speeds(self):
        rows = [[size_text(size), *(number(sum(tree.seconds(size) for tree in by_root))
                                    for by_root in self.all.values())] for size in SIZES]
        return f"""### With three speeds

This table has the same trees, from `paths schedule print`, in the paper's own model. A message of
N bytes takes its sender N/b, and arrives l later:

| between | l | b |
| --- | --- | --- |
| sites | 30 ms | 1 MB/s in each direction, for all messages together |
| machines | 1 ms | 10 MB/s |
| processes of a machine | 50 us | 100 MB/s |

The times are in s for 48 roots:

{table(["M", *TREES], rows)}
From about 100 KiB on, the order is that of the paper. A level saves bytes on its channel and
costs one more hop. For small messages it gains nothing over *by machine*.
"""

    # ---- 20 processes

    def twenty(self):
        config = self.runner.config("twenty", TWENTY)
        trees = self.trees(config, [10, 5, 5])
        first = trees["multilevel"][0]

        def draw(rank, indent=""):
            lines = []
            for child in first.children[rank]:
                level = first.places.level(rank, child)
                lines.append(f"{indent}{child}{['  WAN', '  LAN', ''][level]}")
                lines += draw(child, indent + "  ")
            return lines

        return f"""### The trees of 20 processes

Ten processes are on a machine at SDSC, and five on each of two machines at NCSA. For a root at
SDSC the paper draws two WAN messages by machine. By site it draws one, and "typically" several
LAN messages. By multilevel it draws one of each.

{table(self.HEAD, self.counts(trees))}
Multilevel from process 0:

    0
""" + "".join(f"      {line}\n" for line in draw(0))

    # ---- claims of the paper

    def clusters(self):
        rows = []
        for clusters, processes in EQUAL:
            config = Collective(self.runner, self.runner.config(
                f"equal_{clusters}_{processes}", "clusters:\n" + "".join(
                    f"  c{number}: {{hosts: {processes // clusters}, uplink: switch}}\n"
                    for number in range(clusters)) + "links: {all: {latency: 1s}}\nlanes: {}\n"))
            row = [f"{clusters}, {processes}"]
            for schedule in (TREES["binomial"], TREES["multilevel"]):
                one = config.price("broadcast", schedule, 8, "--root-rank", "each")
                found = [root["wan"]["messages"] for root in one["by_root"]]
                hops = [round(root["price_ms"] / 1e3) for root in one["by_root"]]
                row += [f"{found[0]} / {statistics.mean(found):.1f} / {max(found)}",
                        f"{hops[0]} / {max(hops)}"]
            rows.append([*row, number(math.log2(clusters), 1)])
        return f"""### Messages between clusters

There are C clusters of equal size, and P processes in total. Messages are those of a broadcast
between clusters: with root 0 / on average over all roots / with the worst root. Hops are those
between clusters on the longest path: with root 0 / with the worst root.

{table(["C, P", "binomial", "hops", "multilevel", "hops", "the paper's log2 C"], rows)}
The paper says "at least log2 C" hops for binomial. With powers of two and root 0 it has exactly
that number. It then sends as many WAN messages as multilevel, and loses only hops. From other
roots, and with other sizes, it sends two to six times as many on average.
"""

    def formulas(self):
        rows = []
        size, rate, far, near = FORMULA_BYTES, 10e6, 30e-3, 1e-3
        for clusters in (2, 4, 8, 16):
            each = 64 // clusters
            config = Collective(self.runner, self.runner.config(
                f"formula_{clusters}", "clusters:\n" + "".join(
                    f"  c{number}: {{hosts: {each}, uplink: switch, network: {{latency: 1ms, "
                    f"bandwidth: 80Mbit, receiving: true}}}}\n" for number in range(clusters)) +
                "links: {all: {latency: 29ms, bandwidth: 80Mbit}}\nlanes: {}\n"))
            inside = math.log2(each) * (near + size / rate)
            log_c = math.log2(clusters)
            rows.append([clusters, *(number(seconds, 2) for seconds in (
                log_c * (far + size / rate) + inside,
                *(config.price("broadcast", schedule, size)["price_ms"] / 1e3 for schedule in
                  (TREES["binomial"],)),
                far + size / rate + inside, far + (clusters - 1) * size / rate + inside,
                *(config.price("broadcast", schedule, size)["price_ms"] / 1e3 for schedule in
                  (TREES["multilevel"], "multilevel:shapes=binomial", "best"))))])
        head = ["C", "binomial: formula", "ours", "multilevel: formula", "corrected", "ours",
                "binomial also over the WAN", "best"]
        return f"""### The formulas

There are 64 processes in C clusters, and {size_text(size)} per message. All networks have 10
MB/s. Latencies are 30 ms between clusters and 1 ms inside. The formula for binomial is
`log C (l_s + N/b_s) + log(P/C) (l_f + N/b_f)`. For multilevel it has 1 in place of log C. Times
are in s:

{table(head, rows)}
A flat tree over the WAN sends C - 1 copies from one host, one after the other. That takes
`l_s + (C - 1) N/b_s`, "corrected" above. Beyond two clusters, a large message therefore needs
another shape over the WAN. Any message of that size should be cut.
"""
