# SPDX-License-Identifier: Apache-2.0
# bench/evaluation/vadhiyar.py — Vadhiyar, Fagg and Dongarra 2004: the trees of tuned collectives,
# searches for the best of them, and three predictions of their times.
import json
import math
import re

import plots
from collectives import KIB, MIB, Collective, size_text
from text import number, table

HEADING = "## Vadhiyar et al. 2004: tuned collectives"
ELEMENT = 8
SHAPES = {"flat": "flat", "chain": "chain", "binary": "kary,arity=2", "binomial": "binomial"}
MESSAGE = 256 * KIB  # the message whose segments the paper compares
SEGMENTS = [8 << power for power in range(16)]
FRAME = 64 * KIB
WINDOW = 2 * FRAME  # bytes that a host may have sent and that still wait for its network
HOSTS = 8  # hosts of all scatters and gathers
MESSAGES_MOST = 1 << 16  # most segments of a schedule

# {name: (hosts, one-way latency, bandwidth, time of a host to send frames, to receive frames)}. A
# time of frames is (seconds for a frame, seconds for a byte).
NETWORKS = {
    "T3E": (64, "8us", "2400Mbit", (3e-6, 0), (4e-6, 0)),
    "SP2": (40, "12us", "800Mbit", (8e-6, 0), (10e-6, 0)),
    "Sun": (31, "40us", "100Mbit", (25e-6, 10e-9), (35e-6, 10e-9)),
}

TABLE_1 = [
    ("broadcast", [(f"{name} tree", f"tree:shape={shape}") for name, shape in SHAPES.items()]),
    ("scatter", [(f"{name} tree", f"tree:shape={shape}") for name, shape in SHAPES.items()]),
    ("gather", [(f"{name} tree", f"tree:shape={shape}") for name, shape in SHAPES.items()]),
    ("reduce", [("gather, then operate", "gather_operate"),
                *((f"{name} tree", f"tree:shape={SHAPES[name]}")
                  for name in ("chain", "binary", "binomial")), ("Rabenseifner", "rabenseifner")]),
    ("allreduce", [("allgather, then operate", "gather_operate"),
                   *((f"{name} tree", f"tree:shape={SHAPES[name]}")
                     for name in ("chain", "binary", "binomial")),
                   ("Rabenseifner", "rabenseifner")]),
    ("allgather", [("gather, then broadcast", "gather_broadcast")]),
    ("alltoall", [("gather, then scatter", "gather_scatter"), ("circular", "pairwise")]),
    ("barrier", [("extended ring", "extended_ring"), ("distributed binomial", "dissemination"),
                 ("tournament", "tournament")]),
]

# Collective and bytes of each case of table 2. Then the runs and seconds in the paper, for
# exhaustive search, modified gradient descent (MGD), and scanning modified gradient descent (SMGD).
TABLE_2 = [
    ("broadcast", KIB, "320, 11.4 s", "160, 1.3 s", "160, 1.3 s"),
    ("broadcast", 128 * KIB, "600, 1324.7 s", "280, 21.4 s", "160, 10.2 s"),
    ("scatter", KIB, "320, 82.2 s", "160, 3.2 s", "100, 1.3 s"),
    ("scatter", 128 * KIB, "600, 12613.0 s", "220, 159.9 s", "90, 39.6 s"),
]
REPETITIONS = 10  # runs of each schedule in the paper; on the virtual clock one suffices
TABLE_3 = {"flat": ("256 KiB", "256 KiB", "256 KiB", 1.00, 1.00),
           "chain": ("4 KiB", "8 KiB", "8 KiB", 1.01, 1.01),
           "binary": ("8 KiB", "16 KiB", "32 KiB", 1.02, 1.05),
           "binomial": ("256 KiB", "16 KiB", "256 KiB", 1.28, 1.00)}


def schedule_of(shape, segment, size):
    return f"tree:shape={SHAPES[shape]},segment={0 if segment >= size else segment // ELEMENT}"


def frames_of(size, times):
    """Returns the time of a host for the frames of a message."""
    each, byte = times
    return math.ceil(size / FRAME) * each + size * byte


def text_of_times(times):
    each, byte = times
    first = f"{each * 1e6:.0f}us"
    if byte == 0:
        return first
    return f"{{1B: {first}, 64KiB: {each * 1e6 + FRAME * byte * 1e6:.0f}us}}"


class Parameters:
    """Point-to-point times of a network, as the paper defines them. `os_g_or` lasts from the begin
    of a send to the end of the receive. `os` and `receive` are the times of the two hosts. The gap
    `g` is the rest, and contains the latency."""

    def __init__(self, network, pair):
        _, latency, _, self.send_times, self.receive_times = network
        self.latency = float(latency.removesuffix("us")) * 1e-6
        self.pair = pair
        self.found = {}

    def os(self, size):
        return frames_of(size, self.send_times)

    def receive(self, size):
        return frames_of(size, self.receive_times)

    def os_g_or(self, size):
        if size not in self.found:
            one = self.pair.price("broadcast", "tree:shape=flat", size)
            self.found[size] = one["price_ms"] / 1e3
        return self.found[size]

    def g(self, size):
        return self.os_g_or(size) - self.os(size) - self.receive(size)


class Sends:
    """Times of a host's sends by the paper's pattern. A send takes `os`. If the earlier sends have
    filled the buffers, it takes as long as the network needs for a message."""

    def __init__(self, segment, parameters):
        self.os, self.g = parameters.os(segment), parameters.g(segment)
        self.spike = max(self.os, self.g - parameters.latency)
        self.initial_interval = max(1, WINDOW // segment)
        self.count, self.first, self.end = 0, 0.0, 0.0

    def send(self, ready):
        """Returns the begin and the end of the next send, whose message is there at `ready`."""
        begin = max(self.end, ready)
        if self.count == 0:
            self.first = begin
        pending = self.count - (begin - self.first) / self.g  # the paper's equation 1
        self.end = begin + (self.spike if pending >= self.initial_interval else self.os)
        self.count += 1
        return begin, self.end


def recurrence(children, segment, size, parameters):
    """Returns the time of a broadcast by the paper's simulation of sends and receives (its figure
    9), for sends in the immediate mode.

    `children`: the children of each rank, in the order of sending. Rank 0 is the root.
    """
    count = max(1, size // segment)
    receive, g = parameters.receive(segment), parameters.g(segment)
    os_g_or = parameters.os_g_or(segment)
    last, waiting = 0.0, [(0, None)]
    while waiting:
        rank, messages = waiting.pop()  # messages: begin and end of each send to this rank
        below = {child: [] for child in children.get(rank, [])}
        sends, received = Sends(segment, parameters), 0.0
        for number_of_segment in range(count):
            if messages is not None:
                begin, end = messages[number_of_segment]
                start = sends.end if below else received
                if start <= end:
                    received = begin + os_g_or
                elif number_of_segment == 0:
                    received = end + g + receive
                else:
                    received = max(received - receive, end) + g + receive
                last = max(last, received)
            for times in below.values():
                times.append(sends.send(received))
        waiting += below.items()
    return last


def magpie_bound(shape, hosts, segment, size, parameters):
    """Returns the upper bound of a formula like MagPIe's. It takes the largest number of children d
    and the largest number of hops h of the tree. It counts h messages in turn, each behind d - 1
    others, and then d gaps for each further segment."""
    degree, height = {"flat": (hosts - 1, 1), "chain": (1, hosts - 1),
                      "binary": (2, math.ceil(math.log2(hosts + 1)) - 1),
                      "binomial": (math.ceil(math.log2(hosts)),) * 2}[shape]
    os_g_or = parameters.os_g_or(segment)
    # MagPIe's gap is the time until the next message can begin. It contains no latency.
    gap = max(parameters.os(segment), parameters.receive(segment),
              parameters.g(segment) - parameters.latency)
    segments = max(1, size // segment)
    return height * (os_g_or + (degree - 1) * gap) + (segments - 1) * degree * gap


class Vadhiyar:
    def __init__(self, runner, pictures):
        self.runner, self.pictures = runner, pictures

    # ---- networks

    def on(self, name, hosts=None):
        """Returns the network with its own or another number of hosts."""
        own, latency, bandwidth, send, receive = NETWORKS[name]
        hosts = hosts or own
        return Collective(self.runner, self.runner.config(
            f"{name.lower()}_{hosts}",
            f"clusters: {{machine: {{hosts: {hosts}, network: {{latency: {latency}, "
            f"bandwidth: {bandwidth}, receiving: true}}}}}}\nlanes: {{}}\n"
            f"costs: {{send: {text_of_times(send)}, receive: {text_of_times(receive)}}}\n"), 1)

    def parameters(self, name):
        return Parameters(NETWORKS[name], self.on(name, 2))

    def ms(self, on, collective, schedule, size):
        return on.price(collective, schedule, size)["price_ms"]

    def by_segment(self, on, collective, shape, size):
        """Returns {segment: predicted ms} of a tree, for all segments that a schedule may have."""
        cut = size * (HOSTS if collective in ("scatter", "gather") else 1)
        return {segment: self.ms(on, collective, schedule_of(shape, segment, size), size)
                for segment in sorted({*SEGMENTS, size})
                if segment <= size and cut <= MESSAGES_MOST * segment}

    def text(self):
        return "\n".join([self.head(), self.table_1(), self.figure_1(), self.figure_3(),
                          self.table_2(), self.figure_5(), self.predictions(), self.phase_3(),
                          self.rest()])

    def head(self):
        rows = [[name, hosts, latency, bandwidth, text_of_times(send), text_of_times(receive)]
                for name, (hosts, latency, bandwidth, send, receive) in NETWORKS.items()]
        return f"""{HEADING}

The paper is "Towards an Accurate Model for Collective Communications"
([summary](papers/vadhiyar-2004.md)). It finds the fastest tree and the fastest length of messages
for each collective, and it predicts broadcasts. Its machines were a Cray T3E, an IBM SP2 and a
cluster of Sun workstations. The paper gives their numbers of hosts (64 of the T3E's 512 took part).
It also gives peak bandwidths: 500 MB/s, 150 MB/s and 100 Mbit/s. The bandwidths of this table are
what messages may have got of them. They and all other figures of the table are assumed:

{table(["machine", "hosts", "latency", "bandwidth", "send a frame", "receive a frame"], rows)}
A message is cut into *segments*, which are sent one by one. Times are predicted, except those of
the searches, which ran on the virtual clock. [Figures 10 to
15](#figures-10-to-15-predictions-of-a-broadcast-of-256-kib) compare predicted times with runs.
"""

    # ---- algorithms

    def table_1(self):
        on = self.on("Sun", HOSTS)
        jobs = {}
        for collective, algorithms in TABLE_1:
            for name, schedule in algorithms:
                jobs[collective, name] = lambda c=collective, s=schedule: self.fastest(on, c, s)
        found = self.runner.all(jobs)
        rows = []
        for collective, algorithms in TABLE_1:
            for name, schedule in algorithms:
                small, large, segment = found[collective, name]
                rows.append([collective, name, f"`{schedule}`", number(small, 3),
                             number(large, 2), segment])
        return f"""### Table 1: algorithms

The algorithms of table 1 with 8 hosts of the Sun cluster. Times are in ms. Trees send whole
messages for 1 KiB. For 128 KiB the table has the fastest segment. A barrier has no size. An
allreduce along a tree is the paper's reduce followed by a broadcast, segment by segment. The paper
lists no binomial trees for scatter and gather. Its figure 3 compares four methods for scatter, so
we think that it had one.

{table(["collective", "algorithm", "here", "1 KiB", "128 KiB", "segment"], rows, left=3)}"""

    def fastest(self, on, collective, schedule):
        """Returns the ms of 1 KiB, the least ms of 128 KiB over all segments, and its segment."""
        if collective == "barrier":
            return self.ms(on, collective, schedule, ELEMENT), None, ""
        small = self.ms(on, collective, schedule, KIB)
        size = 128 * KIB
        if not schedule.startswith("tree"):
            return small, self.ms(on, collective, schedule, size), ""
        by = {segment: self.ms(on, collective, schedule if segment == size else
                               f"{schedule},segment={segment // ELEMENT}", size)
              for segment in SEGMENTS if 64 <= segment <= size}
        best = min(by, key=by.get)
        return small, by[best], "whole" if best == size else size_text(best)

    def figure_1(self):
        on = self.on("SP2", HOSTS)
        sizes = [8 << power for power in range(18)]
        jobs = {(shape, size): lambda s=shape, m=size: self.by_segment(on, "broadcast", s, m)
                for shape in SHAPES for size in sizes}
        trees = self.runner.all(jobs)
        curves = {"binomial tree, whole messages": [], "tuned trees": [], "best": []}
        rows = []
        for size in sizes:
            whole = trees["binomial", size][size]
            least, shape, segment = min((ms, shape, segment) for shape in SHAPES
                                        for segment, ms in trees[shape, size].items())
            best = on.price("broadcast", "best", size)
            for name, ms in zip(curves, (whole, least, best["price_ms"])):
                curves[name].append((size, ms))
            if size in (8, KIB, 8 * KIB, 64 * KIB, 256 * KIB, MIB):
                rows.append([size_text(size), number(whole, 3), number(least, 3),
                             f"{shape}, {'whole' if segment >= size else size_text(segment)}",
                             f"{100 * (whole / least - 1):.0f}%",
                             number(best["price_ms"], 3)])
        plots.by_size(curves, "ms", self.pictures / "vadhiyar_figure_1.svg")
        return f"""### Figure 1: a tuned broadcast

The paper compares its tuned broadcast with that of IBM on the SP2. It does not say how IBM's
works. Here the other broadcast is a binomial tree of whole messages, which many libraries used. A
tuned tree is the fastest of the four trees with the fastest segment. `best` may also be any other
algorithm. There are 8 hosts. Times are in ms:

{table(["M", "binomial", "tuned", "tree, segment", "faster by", "`best`"], rows)}
![Time of a broadcast by size](evaluation/vadhiyar_figure_1.svg)

The paper says "30% to 650%" for all collectives and machines together.
"""

    def figure_3(self):
        on, size = self.on("Sun", HOSTS), 128 * KIB
        found = self.runner.all({shape: lambda s=shape: self.by_segment(on, "scatter", s, size)
                                 for shape in SHAPES})
        segments = list(found["flat"])
        plots.by_size({shape: list(by.items()) for shape, by in found.items()}, "ms",
                      self.pictures / "vadhiyar_figure_3.svg")
        rows = [["whole" if segment == size else size_text(segment),
                 *(number(found[shape][segment], 2) for shape in SHAPES)] for segment in segments]
        turns = ", ".join(
            f"{shape} {sum(by[a] > by[b] < by[c] for a, b, c in triples)}"
            for triples in [list(zip(segments, segments[1:], segments[2:]))]
            for shape, by in found.items())
        return f"""### Figure 3: a scatter by segment

A scatter of 128 KiB among 8 hosts of the Sun cluster, in ms:

{table(["segment", *SHAPES], rows)}
![Time of a scatter by segment](evaluation/vadhiyar_figure_3.svg)

As in the paper, times fall steeply with longer segments and then hardly change. The paper's curves
have several local minima. The numbers of minima inside the
range here are: {turns}.
"""

    # ---- searches

    def searched(self, collective, size, search):
        """Returns the runs of a search, their time in s, and the time of what it chose in ms."""
        config = self.on("Sun", HOSTS).config
        words = ["paths", "tune", config, "--clock", "virtual", "--collective", collective,
                 "--sizes", f"{size}B", "--tuner", search, "--candidates", "trees"]
        output = self.runner.path_of(words, "table")
        samples = output.with_suffix(".table.samples")
        if not output.exists():
            samples.unlink(missing_ok=True)
            code, out, error = self.runner.command([*words, "-o", output])
            assert code == 0, out + error
        took = [json.loads(line)["nanos"] / 1e9 for line in samples.read_text().splitlines()
                if '"nanos"' in line]
        chosen = re.search(r"why: {time: (\d+)ns", output.read_text())
        return len(took), sum(took), int(chosen.group(1)) / 1e6

    def table_2(self):
        searches = {"exhaustive": "exhaustive", "MGD": "mgd", "SMGD": "smgd", "race": "race"}
        found = self.runner.all({(collective, size, name): lambda c=collective, m=size, s=search:
                                 self.searched(c, m, s)
                                 for collective, size, *_ in TABLE_2
                                 for name, search in searches.items()})
        rows = []
        for collective, size, *papers in TABLE_2:
            whole_runs, whole, best = found[collective, size, "exhaustive"]
            for name, paper in zip(searches, [*papers, ""]):
                runs, seconds, chosen = found[collective, size, name]
                rows.append([f"{collective}, {size_text(size)}", name, paper, REPETITIONS * runs,
                             number(REPETITIONS * seconds, 3),
                             f"{100 * runs / whole_runs:.0f}%", f"{100 * seconds / whole:.1f}%",
                             f"{100 * (chosen / best - 1):.1f}%"])
        return f"""### Figure 4 and table 2: searches

The searches choose among the four trees and all segments, with 8 hosts of the Sun cluster. The
paper ran each schedule {REPETITIONS} times. The virtual clock needs one run, which the table counts
{REPETITIONS} times. "Loss" is how much slower the chosen schedule is than the fastest one. `race`
is the search that `paths tune` uses by default. It knows predicted times; the paper's searches do
not.

{table(["collective", "search", "the paper's runs, time", "runs", "s", "runs, share",
        "time, share", "loss"], rows, left=3)}
A row is one command:

    paths tune CONFIG -o decisions.yaml --clock virtual --collective scatter --sizes 128KiB \\
      --tuner smgd --candidates trees

The paper's numbers of runs fit 4 trees, {REPETITIONS} runs, and segments from 8 B up to the whole
message. Our scatters have more lengths, because the root's message has the blocks of all hosts.
Neither of the paper's searches is reliable here. SMGD leaves the chain too early in the broadcast
of 128 KiB. MGD needs most of the runs. Their shares of time are small because short segments are
slow, and both begin with long ones.
"""

    def figure_5(self):
        rows, size = [], 128 * KIB
        heights = {"flat": 1, "chain": 7, "binary": 3, "binomial": 3}
        on = self.on("Sun", HOSTS)
        for collective in ("broadcast", "scatter"):
            for shape, height in heights.items():
                tree = self.by_segment(on, collective, shape, size)
                chain = self.by_segment(self.on("Sun", height + 1), collective, "chain", size)
                best, found = min(tree, key=tree.get), min(chain, key=chain.get)
                rows.append([collective, shape, size_text(best), size_text(found),
                             number(tree[found] / tree[best])])
        return f"""### Figure 5: the pipeline

The paper finds the segment of a tree on a chain that is as long as the tree's longest path. Only
the hosts of that path take part. The last column has the time of the tree with the segment of the
chain over its time with its own best segment. There are 8 hosts of the Sun cluster, and 128 KiB:

{table(["collective", "tree", "best segment", "of the chain", "loss"], rows, left=2)}
The paper uses this only where the network has its full bandwidth between all hosts, as it has here.
A chain cannot show that a host sends each segment to several others.
"""

    # ---- predictions

    def children(self, on, shape):
        words = ["paths", "schedule", "print", on.config, "--collective", "broadcast",
                 "--algorithm", f"tree:shape={SHAPES[shape]}"]
        code, out, error = self.runner.command(words)
        assert code == 0, error
        lines = [line for line in out.splitlines() if not line.startswith("#")]
        return {rank: [int(peer) for peer in re.findall(r"send>(\d+)", line)]
                for rank, line in enumerate(lines)}

    def compared(self, name, shape):
        """Returns {segment: (ms of a run, of the recurrence, of the formula)}, and the greatest
        relative difference of a run from its prediction."""
        on, hosts = self.on(name), NETWORKS[name][0]
        parameters, children = self.parameters(name), self.children(on, shape)
        found, apart = {}, []
        for segment in SEGMENTS:
            schedule = schedule_of(shape, segment, MESSAGE)
            one = on.run("broadcast", schedule, MESSAGE, MESSAGE)[0] if segment >= KIB else \
                on.price("broadcast", schedule, MESSAGE)
            if "ms" in one:
                apart.append(abs(one["ms"] / one["price_ms"] - 1))
            found[segment] = (one["price_ms"],
                              1e3 * recurrence(children, segment, MESSAGE, parameters),
                              1e3 * magpie_bound(shape, hosts, segment, MESSAGE, parameters))
        return found, max(apart)

    def predictions(self):
        both = self.runner.all({(name, shape): lambda n=name, s=shape: self.compared(n, s)
                                 for name, shape in [*(("T3E", shape) for shape in SHAPES),
                                                     ("Sun", "binomial"), ("SP2", "binomial")]})
        found = {key: times for key, (times, _) in both.items()}
        apart = max(one for _, one in both.values())
        out = [f"""### Figures 10 to 15: predictions of a broadcast of 256 KiB

*Run* is the time of the virtual clock, which is also our prediction (they differ by less
than {1 + int(1e6 * apart)}e-6 of the time). *Recurrence* is the paper's simulation of sends and
receives.
*Formula* is like MagPIe's: an upper bound from the largest number of children and the largest
number of hops. Both take their point-to-point times from runs of two hosts. Times are in ms. Runs
with segments below 1 KiB are predicted.

For short segments the chain is the fastest tree, as in the paper's measurements: on the virtual
clock a host passes each segment on before it receives the next one.
"""]
        for which, (name, shape) in zip(range(10, 16), found):
            rows = [[size_text(segment), *(number(ms, 3) for ms in found[name, shape][segment])]
                    for segment in SEGMENTS if segment in (8, 64, 512) or segment >= KIB]
            out.append(f"Figure {which}: {shape} tree, {NETWORKS[name][0]} hosts of the {name}\n\n"
                       + table(["segment", "run", "recurrence", "formula"], rows))
        plots.times_by_size({f"{shape}, {name}": {
            kind: [(segment, ms[column]) for segment, ms in found[name, shape].items()]
            for column, kind in ((1, "recurrence"), (2, "formula"), (0, "run"))}
            for name, shape in found if name == "T3E"}, "ms",
            self.pictures / "vadhiyar_figures_10_to_13.svg")
        out.append("![Predictions of four broadcasts](evaluation/vadhiyar_figures_10_to_13.svg)\n")
        out.append(self.table_3(found))
        out.append(self.winners(found))
        return "\n".join(out)

    def table_3(self, found):
        rows = []
        for shape in SHAPES:
            times = found["T3E", shape]
            best = [min(times, key=lambda segment, c=column: times[segment][c])
                    for column in range(3)]
            actual, magpie, atcc, loss_magpie, loss_atcc = TABLE_3[shape]
            loss = [times[segment][0] / times[best[0]][0] for segment in best]
            rows.append([shape, *(size_text(best[column]) for column in (0, 2, 1)),
                         number(loss[2]), number(loss[1]),
                         f"{actual}, {magpie}, {atcc}", f"{loss_magpie:.2f}, {loss_atcc:.2f}"])
        whole = found["T3E", "binomial"][MESSAGE]
        return f"""### Table 3: the best segments on the T3E

"Loss" is the time of a run with that segment over the time with the best segment.

{table(["tree", "best segment", "by the formula", "by the recurrence", "loss, formula",
        "loss, recurrence", "paper: best, formula, recurrence", "paper: losses"], rows)}
For a binomial tree of whole messages the formula gives {whole[2] / whole[0]:.1f} times the time of
the run, and the recurrence {whole[1] / whole[0]:.2f} times. This is the paper's main result: the
worst number of children and the worst number of hops do not occur on the same path.
"""

    def winners(self, found):
        rows = [[size_text(segment), *(min(SHAPES, key=lambda shape, c=column: (
            found["T3E", shape][segment][c])) for column in (0, 1, 2))]
            for segment in SEGMENTS]
        return f"""### Figures 16 to 18: the fastest tree by segment

The fastest of the four trees on the T3E, for each segment of a broadcast of 256 KiB:

{table(["segment", "run (figure 16)", "recurrence (18)", "formula (17)"], rows, left=4)}
In the paper chain was measured as the fastest up to 1 KiB, and binomial above 32 KiB. Its
recurrence said chain up to 4 KiB, binary up to 64 KiB and binomial above. MagPIe's formula said
binary from 4 KiB on.
"""

    # ---- numbers of hosts

    def phase_3(self):
        sizes = [8, KIB, 8 * KIB, 64 * KIB, MIB]
        counts = [2, 4, 8, 16, 32, 64]

        def least(hosts, size):
            on = self.on("T3E", hosts)
            ms, shape, segment = min(
                (ms, shape, segment) for shape in SHAPES
                for segment, ms in self.by_segment(on, "broadcast", shape, size).items()
                if segment >= 64 or size < 64)
            return ms, f"{shape}, {'whole' if segment == size else size_text(segment)}"

        found = self.runner.all({(hosts, size): lambda h=hosts, m=size: least(h, m)
                                 for hosts in counts for size in sizes})
        rows = [[hosts, *(f"{found[hosts, size][1]}: {number(found[hosts, size][0], 3)}"
                          for size in sizes)] for hosts in counts]
        return f"""### Phase 3: numbers of hosts

The fastest tree and segment of a broadcast on the T3E, and its time in ms, for powers of two of
hosts:

{table(["hosts", *map(size_text, sizes)], rows, left=6)}"""

    def rest(self):
        return """### What is not repeated

- **Figure 2** is the paper's way of measuring: a loop with a barrier after each operation, minus
  the time of a barrier. A barrier hides a part of the operation. `collective` and `paths tune`
  begin at an agreed instant instead.
- **Figures 6, 7 and 9** show the model. Figure 9 is the function `recurrence` of
  `bench/evaluation/vadhiyar.py`.
- **Figure 8** has the times of single sends, and steps where a buffer is full. No program here
  prints them.
- **Real machines.** The paper's figures are in pictures that we did not have, so that single times
  are not compared.
"""
