# SPDX-License-Identifier: Apache-2.0
# bench/evaluation/gupta.py — allgathers of Gupta and Vadhiyar 2007 and rivals, on all sites of the
# paper, on two sites, on one site, and on random sites.
import statistics
from collections import Counter

import plots
from collectives import KIB, size_text
from runs import TOP
from text import number, percent, table

HEADING = "## Gupta and Vadhiyar 2007: allgather over grids"
THREE, EUROPE, ONE = ("configs/three-sites.yaml", "configs/europe.yaml",
                      "configs/one-cluster.yaml")
STREAMS = [1, 2, 4, 8, 16]
BLOCK = 256 * KIB
SIZES = [KIB << power for power in range(10)]
SEEDS = (1000, 1099)
# {name in the paper: name of the algorithm or planner in PATHS}
FLAT = {"MPICH": "mpich", "simple": "direct", "spreading": "spreading"}
GRID = {"MagPIe": "magpie", "MPICH-G2": "mpich_g2", "Mateescu": "mateescu",
        "ClusteredSA": "clustered_sa"}
RIVALS = FLAT | GRID
UNPLANNED = {"MagPIe", "MPICH-G2"}
MIN3, DECLARED, PLUS = "Min³", "Min³, declared", "Min³+"
OURS = {MIN3: "min3:pools=bandwidth", DECLARED: "min3:pools=declared"}
HALF_DUPLEX = RIVALS | OURS
ALL = HALF_DUPLEX | {PLUS: "min3_plus"}
HALF = "--half-duplex"
# {setup: time in µs to plan Min³}, from table 3 of the paper. The paper adds this time to the
# times of Min³.
OVERHEADS_US = {THREE: 283010, EUROPE: 166920, ONE: 108990}
# {setup: time in µs to form the pools}. This time is a part of OVERHEADS_US. In it, Min³ sorts
# bandwidths, chooses thresholds between classes of bandwidth, and forms pools of hosts with similar
# bandwidth.
POOLS_US = {THREE: 734.86, EUROPE: 145.8, ONE: 65}


def contender(row, name):
    for one in row["contenders"]:
        if one["name"].split(":")[0] == ALL[name] or one["name"] == ALL[name]:
            return one
    raise KeyError(f"{name} of {[one['name'] for one in row['contenders']]}")


def ms(row, name):
    return contender(row, name)["ms"]


def seconds(row, name):
    return ms(row, name) / 1e3


def fastest(row, names):
    return min(names, key=lambda name: ms(row, name))


def gain(row):
    """Returns the relative gain of Min³ over each rival, on average."""
    return statistics.mean(1 - ms(row, MIN3) / ms(row, name) for name in RIVALS)


def wins(row, overhead_us):
    """Returns whether Min³ is faster than every rival."""
    return all(ms(row, MIN3) + overhead_us / 1e3 < ms(row, name) for name in RIVALS)


def wins_from(rows, overhead_us=0):
    """Returns the smallest size above which Min³ is always the fastest."""
    lost = [row["bytes"] for row in rows if not wins(row, overhead_us)]
    later = [row["bytes"] for row in rows if not lost or row["bytes"] > max(lost)]
    return size_text(min(later)) if later else "none"


class Gupta:
    def __init__(self, runner, pictures):
        self.runner, self.pictures = runner, pictures

    # ---- runs

    def with_streams(self, config, streams, striped=False):
        """Makes the config with this many streams per link. If striped, a message uses all
        streams of the link."""
        lanes = f"{{frame: 4KiB, striping: {streams}}}" if striped else "{frame: unlimited}"
        text = (TOP / config).read_text()
        for old, new in (("streams: 8", f"streams: {streams}"), ("{frame: unlimited}", lanes)):
            assert old in text
            text = text.replace(old, new)
        name = config.split("/")[1].split(".")[0].replace("-", "_")
        return self.runner.config(f"{name}_{streams}", text)

    def job(self, config, sizes, *flags):
        words = [f"{size // KIB}KiB" for size in sizes]
        return lambda: self.runner.json_of(
            ["allgathers", config, "-m", ",".join(words), *flags])["results"]

    def rows(self, config, sizes, *flags):
        return self.job(config, sizes, *flags)()

    def text(self):
        parts = [self.by_streams(), self.averages(), self.figure_8(), self.figure_9(),
                 self.figure_10(), self.figure_11(), self.table_3(), self.where_min3_loses(),
                 self.random_sites(), self.grants()]
        return "\n".join([self.head(), self.claims(), *parts])

    def head(self):
        return f"""{HEADING}

The paper is "An Efficient MPI_Allgather for Grids" ([summary](papers/gupta-2007.md)). It has 8
hosts in Tennessee, 4 in Belfast and 8 in Amsterdam ([{THREE}](../../{THREE}), from the paper's
table 2). It also measures two of the sites, and one. [planning.md](planning.md) explains how plans
are made.

All times are predicted. A host sends one message at a time and receives one. A message holds the
sending port 50 us longer than it takes to leave. The contenders are:

- "Min³", with the paper's pools by bandwidth
- "Min³, declared", with declared pools, which are our default
- Min³+

These commands print one line of a table:

    paths plan {THREE} --collective allgather --size 256KiB
    allgathers {THREE} -m 256KiB --half-duplex --blocking

Rates between sites are those of one stream. The paper does not give the number of streams of a
path, and most results depend on it. The values of its figures 8 to 11 are in pictures that we did
not have. Our figures are therefore compared with its text.
"""

    # ---- streams

    def rows_by_streams(self, *flags, striped=False):
        found = self.runner.all({streams: self.job(
            self.with_streams(THREE, streams, striped), [BLOCK], *flags) for streams in STREAMS})
        return {streams: rows[0] for streams, rows in found.items()}

    @staticmethod
    def table_by_streams(rows, names):
        return table(["streams", "lower bound", *names],
                     [[streams, number(row["bound_ms"] / 1e3),
                       *(number(seconds(row, name)) for name in names)]
                      for streams, row in rows.items()])

    @staticmethod
    def speedups(rows, streams, ours):
        return [[f"{ours}, {count} streams" if count > 1 else f"{ours}, 1 stream",
                 *(number(ms(rows[count], name) / ms(rows[count], ours)) for name in RIVALS)]
                for count in streams]

    def by_streams(self):
        full, half = self.full, self.half = self.rows_by_streams(), self.rows_by_streams(HALF)
        striped = self.rows_by_streams(striped=True)
        return f"""### By streams of a path

The tables have times in s, for {size_text(BLOCK)} from each of the 20 hosts. Full duplex:

{self.table_by_streams(full, ALL)}
Half duplex (Min³+ does not support it, and the lower bound ignores it):

{self.table_by_streams(half, HALF_DUPLEX)}
- MPICH uses its ring, whose slowest hop repeats 19 times.
- MagPIe, MPICH-G2 and ClusteredSA send each block across once, and one message at a time to a
  site. More streams do not help them.
- With "simple" and "spreading" each host sends its block to every other. Up to eight streams are
  in use, as many as a site has receiving hosts. 6.4 times the necessary bytes cross.
- Min³ does not know the number of streams. It makes the same plan for one as for sixteen.

In the next table every message is striped over all streams of its path, in frames of 4 KiB. Full
duplex:

{self.table_by_streams(striped, ALL)}
Speedups of Min³ and Min³+ over each:

{table(["full duplex", *RIVALS], [
    *self.speedups(full, (1, 8), MIN3), *self.speedups(full, (1, 8), PLUS)])}
{table(["all striped", *RIVALS], [
    *self.speedups(striped, (1, 8), MIN3), *self.speedups(striped, (1, 8), PLUS)])}
Most of the speedup without striping comes from parallel streams. Striping gives MagPIe, MPICH-G2,
ClusteredSA and the ring the streams that they lack. The remaining speedup is because all paths
are busy from the first moment on.
"""

    # ---- averages

    def mean_gain(self, rows, others, overhead_us):
        """Returns the mean gain of Min³ over all sizes and all strategies of GRID. `others`: rows
        of the strategies that make no plan."""
        return statistics.mean(
            1 - (ms(row, MIN3) + overhead_us / 1e3) / ms(other if name in UNPLANNED else row, name)
            for row, other in zip(rows, others) for name in GRID)

    def averages(self):
        cases = [(streams, blocking) for streams in (4, 8) for blocking in ("--blocking", None)]
        found = self.runner.all({
            (streams, blocking, half): self.job(self.with_streams(THREE, streams), SIZES,
                                                *filter(None, (blocking, half)))
            for streams, blocking in cases for half in (HALF, None)})
        rows = []
        for streams, blocking in cases:
            half, full = found[streams, blocking, HALF], found[streams, blocking, None]
            for overhead in (OVERHEADS_US[THREE], 0):
                means = [self.mean_gain(*both, overhead)
                         for both in ((half, full), (full, full), (half, half))]
                rows.append([streams, "yes" if blocking else "no", number(overhead / 1e3, 0),
                             *(percent(mean, 0) for mean in means)])
        self.seen_averages, self.blocking = rows[0][3:5], found[8, "--blocking", None]
        first = found[4, "--blocking", None]
        added = OVERHEADS_US[THREE] / 1e3
        longer = (ms(first[0], MIN3) + added) / ms(first[0], "MagPIe")
        gains = [1 - (ms(row, MIN3) + added) / ms(row, name) for row in first[5:] for name in GRID]
        columns = ["streams", "senders block", "ms added to Min³", "half duplex", "full duplex",
                   "half duplex for all"]
        return f"""### The averages: 42% and 52%

This section compares Min³ with MagPIe, MPICH-G2, Mateescu's trees and ClusteredSA on the three
sites. The gain over one of them is 1 - (time of Min³) / (its time). The table has the mean gain
over the four, and over sizes from 1 to 512 KiB, doubled each time. The paper gives neither the
sizes nor the kind of mean.

The streams, the blocking and the added time are calibrated, not predicted. The first line has the
values that come closest to the paper's 42% and 52%. The other lines show the effect of each. A
sender that blocks is busy until the message has left the link between sites, as in calls that
return only then. The added 283 ms are the planning time of the paper.

{table(columns, rows)}
Half duplex is a property of the model by which the paper makes plans. MagPIe and MPICH-G2 have no
plan. Their times are those of full duplex, except in the last column. There, and in the other
tables here, their hosts also have one port for both directions.

The mean hides large differences. Take the first line with full duplex. At 1 KiB Min³ takes
{number(longer, 1)} times as long as MagPIe. From 32 KiB on it gains {percent(min(gains), 0)} to
{percent(max(gains), 0)}.
"""

    def by_size(self, rows, names):
        return table(["bytes", "lower bound", *names],
                     [[size_text(row["bytes"]), number(row["bound_ms"], 1),
                       *(number(ms(row, name), 1) for name in names)] for row in rows])

    def curves(self, rows, names):
        return {name: [(row["bytes"], ms(row, name)) for row in rows] for name in names}

    # ---- the paper's figures

    def figure_8(self):
        found = self.runner.all({half: self.job(THREE, SIZES, *filter(None, (half,)))
                                 for half in (HALF, None)})
        half, full = found[HALF], found[None]
        self.small = [[row["bytes"] for row in full if not wins(row, overhead)]
                      for overhead in (0, OVERHEADS_US[THREE])]
        plots.times_by_size({"half duplex": self.curves(half, [*RIVALS, MIN3]),
                             "full duplex": self.curves(full, [*RIVALS, MIN3])}, "ms",
                            self.pictures / "gupta_figure_8.svg")
        return f"""### Figure 8: three sites

The tables have times in ms by bytes from each host. Each path has 8 streams. Planning time is not
included. The first table is for half duplex, the second one for full duplex:

{self.by_size(half, HALF_DUPLEX)}
{self.by_size(full, ALL)}
![Times by bytes](evaluation/gupta_figure_8.svg)
"""

    # ---- number of messages between sites over time

    @staticmethod
    def on_links(one):
        """Returns a list of (time in ms, number of messages between sites).

        Each number holds from its time to the time of the next entry.
        """
        changes = sorted([(begin, 1) for begin, _ in one["wan"]["on_links_ms"]] +
                         [(end, -1) for _, end in one["wan"]["on_links_ms"]])
        points, count = [(0, 0)], 0
        for at, change in changes:
            count += change
            points.append((at, count))
        return points

    def figure_9(self):
        names = [MIN3, "Mateescu", "MagPIe"]
        sizes = [BLOCK, 2 * BLOCK]
        found = self.rows(THREE, sizes, "--crossings")
        rows, panels, self.figure_9_seen = [], {}, {}
        for row in found:
            least = min(contender(row, name)["wan"]["bytes"] for name in RIVALS)
            panels[size_text(row["bytes"])] = {
                name: [(at / 1e3, count) for at, count in self.on_links(contender(row, name))]
                for name in names}
            for name in [*names, "MPICH-G2", "ClusteredSA", DECLARED, PLUS]:
                one = contender(row, name)
                times = one["wan"]["on_links_ms"]
                cells = [number(one["ms"] / 1e3), max(count for _, count in self.on_links(one)),
                         number(sum(end - begin for begin, end in times) / one["ms"], 1),
                         number(min(begin for begin, _ in times) / 1e3, 3),
                         f"{one['wan']['bytes']:,}", number(one["wan"]["bytes"] / least)]
                rows.append([size_text(row["bytes"]), name, *cells])
                self.figure_9_seen.setdefault(name, cells)  # keeps the cells of the first size only
        plots.steps(panels, "s", "messages between sites", self.pictures / "gupta_figure_9.svg")
        columns = ["bytes", "", "s", "most at once", "mean", "first at, s", "bytes between sites",
                   "copies into a site"]
        return f"""### Figure 9: messages between sites at once

This table is for full duplex and 8 streams. A message counts from the time when its first byte
enters the link until its last byte leaves it.

{table(columns, rows, left=2)}
![Messages between sites over time](evaluation/gupta_figure_9.svg)

These results agree with the paper:

- Min³ ends first.
- Min³ and Mateescu's trees have many messages under way. MagPIe has at most one from each site.
- Mateescu's trees have the most, because a block enters a site more than once.
- MagPIe gathers inside sites before anything crosses.

Mateescu's trees here begin with messages inside the sites, as late as MagPIe. In the paper they
begin before it. With Min³+ more messages cross than there are hosts, because a host receives
several from other sites at once.
"""

    def figure_10(self):
        found = self.runner.all({streams: self.job(self.with_streams(EUROPE, streams), SIZES)
                                 for streams in STREAMS[:4]})
        half = self.rows(EUROPE, SIZES, HALF)
        plots.times_by_size({f"streams: {streams}": self.curves(found[streams], [*RIVALS, MIN3])
                             for streams in (1, 8)}, "ms", self.pictures / "gupta_figure_10.svg")

        self.europe = found
        at = SIZES.index(BLOCK)
        crossovers = table(
            ["streams", "from", "from, with 167 ms more", "gain at 256 KiB", "three sites' gain"],
            [[streams, wins_from(rows), wins_from(rows, OVERHEADS_US[EUROPE]),
              percent(gain(rows[at]), 0), percent(gain(self.full[streams]), 0)]
             for streams, rows in found.items()])
        return f"""### Figure 10: two sites, in Europe

The tables have times in ms by bytes from each host, for full duplex. The first one is for one
stream of each path, the second one for 8:

{self.by_size(found[1], ALL)}
{self.by_size(found[8], ALL)}
Half duplex and 8 streams (not in the paper):

{self.by_size(half, HALF_DUPLEX)}
![Times by bytes](evaluation/gupta_figure_10.svg)

The next table shows the size from which on Min³ is faster than all seven, without and with the
planning time of the paper. It also shows the mean gain over the seven:

{crossovers}
With one stream, every algorithm that sends each block across once keeps the stream busy. From 16
KiB on Min³, MagPIe and MPICH-G2 are within a tenth of each other and of the lower bound. The
crossover is therefore the size at which the time that is added to Min³ is no more than that
tenth. The paper has it above 64 KB.
"""

    def figure_11(self):
        found = self.runner.all({half: self.job(ONE, SIZES, *filter(None, (half,)))
                                 for half in (HALF, None)})
        rows, half = found[None], found[HALF]
        names = [name for name in ALL if name not in UNPLANNED]
        self.one = rows
        plots.times_by_size({"one cluster": self.curves(rows, [
            *FLAT, "Mateescu", "ClusteredSA", MIN3])}, "ms",
            self.pictures / "gupta_figure_11.svg")
        return f"""### Figure 11: one cluster

The table has times in ms by bytes from each of 8 hosts, for full duplex. It leaves out the
algorithms for grids, and the 109 ms of the paper's planning:

{self.by_size(rows, names)}
Half duplex (not in the paper):

{self.by_size(half, names[:-1])}
![Times by bytes](evaluation/gupta_figure_11.svg)

A host receives seven blocks. With Min³ this takes the time of eight blocks. With rounds that all
hosts begin together it takes the time of seven.
"""

    # ---- limits of Min³

    def where_min3_loses(self):
        cases = {"one cluster": (ONE, [KIB, BLOCK]),
                 "three sites, 8 streams": (THREE, [KIB, 4 * KIB, 8 * KIB]),
                 "Europe, 1 stream": (self.with_streams(EUROPE, 1),
                                      [KIB, 8 * KIB, 16 * KIB, 128 * KIB])}
        added = dict(zip(cases, (OVERHEADS_US[ONE], OVERHEADS_US[THREE], OVERHEADS_US[EUROPE])))
        found = self.runner.all({name: self.job(*case) for name, case in cases.items()})
        lines = []
        for name, rows in found.items():
            for row in rows:
                rivals = [rival for rival in RIVALS
                          if name != "one cluster" or rival not in UNPLANNED]
                rival, first = fastest(row, rivals), row["contenders"][0]
                lines.append([name, size_text(row["bytes"]), number(ms(row, MIN3), 1),
                              number(ms(row, MIN3) + added[name] / 1e3, 1),
                              number(ms(row, DECLARED), 1),
                              f"{number(ms(row, rival), 1)} ({rival})",
                              f"{number(first['ms'], 1)} (`{first['name']}`)",
                              number(first["ms"] / row["bound_ms"])])
        columns = ["", "bytes", MIN3, "with the paper's planning", DECLARED,
                   "the fastest of its rivals", "chosen", "times the bound"]
        return f"""### Where Min³ is slower, and the chosen schedule

Times are in ms. The chosen schedule is the fastest of all, as with `paths plan` and
`planning::compare()`:

{table(columns, lines, left=2)}
With 16 streams, MagPIe, MPICH-G2, ClusteredSA and the ring with striping are faster than Min³
without striping, as the tables by streams show.
"""

    def grants(self):
        sizes = [KIB, 16 * KIB, BLOCK]
        found = self.runner.all({carried: self.job(THREE, sizes, *filter(None, (carried,)))
                                 for carried in (None, "--carried-grants")})
        lines = []
        for at, size in enumerate(sizes):
            for carried, how in ((None, "no time"), ("--carried-grants", "the way back")):
                row = found[carried][at]
                lines.append([size_text(size), how, *(number(ms(row, name), 1) for name in ALL)])
        return f"""### Grants that take time

No message moves before its receiver grants it. Over emulated links a grant takes no time. Over
other links it takes as long as the way back. The table has times in ms for three sites, 8 streams
and full duplex:

{table(["bytes", "a grant takes", *ALL], lines, left=2)}
Plans do not count this time, and keep their order. With 256 KiB it costs a tenth at most. With 1
KiB, algorithms that send one message after another to other sites take up to twice as long, Min³
included. The rivals that are faster than Min³ stay the same.
"""

    def table_3(self):
        found = self.runner.all({config: self.job(config, [BLOCK], "--planning")
                                 for config in OVERHEADS_US})
        lines = []
        for config, overhead in OVERHEADS_US.items():
            row = found[config][0]
            took, plan = row["planning_us"], overhead - POOLS_US[config]
            lines.append([row["hosts"], number(took["pools"], 0), number(POOLS_US[config], 0),
                          number(took["full_duplex"], 0), number(took["half_duplex"], 0),
                          number(plan, 0), number(plan / row["hosts"], 0),
                          number(took["min3_plus"], 0)])
        self.planning_us = lines
        columns = ["hosts", "pools", "the paper's pools", "Min³, full duplex", "half duplex",
                   "the paper's Min³", "per host", PLUS]
        return f"""### Table 3: what planning takes

Times are in us of one core: the least of twenty, on the machine that wrote this page. Min³+ makes
and compares all its plans:

{table(columns, lines)}
The paper's plans take 14 ms per host for each number of hosts. The work of the greedy algorithm
grows faster than the square of that number. Most of the paper's time is therefore work that is
done once per host. It is most likely the writing of the file from which each process reads its
sends. Our figures do not include it.
"""

    def random_sites(self):
        first, last = SEEDS
        middle = (first + last) // 2
        halves = self.runner.all({seeds: lambda seeds=seeds: self.runner.json_of(
            ["allgathers", "--random", *seeds, "-m", "256KiB"])["results"]
            for seeds in ((first, middle), (middle + 1, last))})
        rows = [row for part in halves.values() for row in part]
        lines = []
        for name in ALL:
            ratios = sorted(ms(row, name) / row["bound_ms"] for row in rows)
            lines.append([name, number(statistics.median(ratios)),
                          number(ratios[len(ratios) * 9 // 10]), number(ratios[-1])])
        lost = []
        for name in (MIN3, DECLARED, PLUS):
            behind = [(fastest(row, RIVALS), ms(row, name) / ms(row, fastest(row, RIVALS)))
                      for row in rows]
            behind = [(rival, ratio) for rival, ratio in behind if ratio > 1]
            counts = Counter(rival for rival, _ in behind).most_common()
            to = ", ".join(f"{rival} {count}" for rival, count in counts) or "none"
            lost.append([name, to, len(behind),
                         number(max((ratio for _, ratio in behind), default=1))])
        slower = [ms(row, MIN3) / ms(row, DECLARED) for row in rows]
        times = f"{sum(ratio > 1 for ratio in slower)} of the {len(rows)}"
        return f"""### Five random sites

This section has {len(rows)} random networks (`allgathers --random {first} {last}`):

| property | range |
| --- | --- |
| sites; hosts of each | 5; 2 to 8 |
| rate of a stream | 1 to 20 Mbit/s, each direction up to 20% more or less |
| latency | 5 to 80 ms |
| streams of each path | 1, 2, 4 or 8 |

Each host gives {size_text(BLOCK)}, with full duplex. The figures are multiples of the lower
bound:

{table(["", "median", "90 of 100", "worst"], lines)}
The next table counts the networks in which the fastest of the paper's seven is faster, with the
largest ratio:

{table(["", "faster rivals", "networks", "times"], lost, left=2)}
If bandwidths differ at random, pools by bandwidth divide sites into nested parts. With them Min³
is slower than with declared pools in {times} networks. It takes
{number(statistics.median(slower))} times as long in the median.
"""

    # ---- claims of the paper

    def claims(self):
        def s_of(name, streams=8, rows=None):
            return number(seconds((rows or self.full)[streams], name), 1)

        def by_streams(name):
            return ", ".join(s_of(name, streams) for streams in STREAMS[:4])

        seen, at = self.figure_9_seen, SIZES.index(BLOCK)
        none, added = (size_text(max(sizes)) if sizes else "none" for sizes in self.small)
        ring, ours = ms(self.one[at], "MPICH"), ms(self.one[at], MIN3)
        slowest = [streams for streams in STREAMS
                   if max(GRID, key=lambda name: ms(self.full[streams], name)) == "Mateescu"]
        rows = [
            ["Half duplex: 42% faster on average", self.seen_averages[0],
             "calibrated: see the averages"],
            ["Full duplex: 52%", self.seen_averages[1], "the same"],
            ["Small messages lose", f"up to {none}, with the paper's planning up to {added}",
             "with Min³ each message waits for a whole latency"],
            ["ClusteredSA is faster than MagPIe and MPICH-G2",
             f"{s_of('ClusteredSA')} s against {s_of('MagPIe')} and {s_of('MPICH-G2')}: yes; with "
             f"half duplex {s_of('ClusteredSA', 8, self.half)}, and if senders block "
             f"{number(seconds(self.blocking[at], 'ClusteredSA'), 1)}: no",
             "its annealing is rebuilt from two lines"],
            ["Mateescu's trees take long",
             f"{by_streams('Mateescu')} s by streams; the slowest of the four with up to "
             f"{max(slowest)}", "the paper does not say how many streams there were"],
            ["Figure 9: Min³ ends first", f"{s_of(MIN3)} s against {s_of('Mateescu')} and "
             f"{s_of('MagPIe')}", "curves lost"],
            ["Min³ and Mateescu have more messages between sites at once than MagPIe, Mateescu "
             "most", "most {}, {} and {}; mean {}, {} and {}".format(
                 *(seen[name][cell] for cell in (1, 2) for name in (MIN3, "Mateescu", "MagPIe"))),
             "curves lost"],
            ["MagPIe begins later", f"{seen['MagPIe'][3]} s against {seen[MIN3][3]}; Mateescu's "
             f"{seen['Mateescu'][3]}", "the order of merging trees is our choice"],
            ["A block enters a site once", f"{seen[MIN3][4]} bytes, the least; Mateescu's "
             f"{seen['Mateescu'][5]} times that", ""],
            ["In Europe Min³ is faster above 64 KB only",
             "with its planning from {} on with 1 stream, {} with 2".format(
                 *(wins_from(self.europe[streams], OVERHEADS_US[EUROPE]) for streams in (1, 2))),
             "the paper gives no streams between Belfast and Amsterdam, and 76 ms are doubtful"],
            ["In Europe Min³ gains less than on three sites",
             "{} against {} with 1 stream, {} against {} with 8".format(*(
                 percent(gain(row), 0) for streams in (1, 8)
                 for row in (self.europe[streams][at], self.full[streams]))), ""],
            ["In one cluster others are much faster",
             f"{number(ring, 0)} against {number(ours, 0)} ms, with its planning "
             f"{number(ours + OVERHEADS_US[ONE] / 1e3, 0)}", "curves lost"],
            ["Planning takes 283 ms", f"{number(float(self.planning_us[0][3]) / 1e3, 1)} ms",
             "the paper's planning writes files: see table 3"]]
        return f"""### Claims of the paper

Unless a line says otherwise, the figures are for {size_text(BLOCK)}, full duplex and 8 streams:

{table(["the paper", "here", "reason or possible reason"], rows, left=3)}"""
