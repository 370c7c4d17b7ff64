# SPDX-License-Identifier: Apache-2.0
# bench/evaluation/gupta.py — allgathers that Gupta and Vadhiyar 2007 compare with, over their three
# sites, two of them and one.
from collectives import KIB, Collective, size_text
from runs import TOP
from text import number, table

HEADING = "## Gupta and Vadhiyar 2007: allgather over grids"
CONFIG = "configs/three-sites.yaml"
SETUPS = {"Three sites": CONFIG, "Two sites, in Europe": "configs/europe.yaml",
          "One cluster": "configs/one-cluster.yaml"}
STREAMS = [1, 2, 4, 8, 16]
BLOCK = 256 * KIB
SIZES = [KIB << power for power in range(10)]
# {the paper's name: schedule}. Elements have 8 bytes.
RIVALS = {"MPICH": "mpich:element=8", "simple": "direct", "spreading": "spreading",
          "MagPIe": "magpie", "MPICH-G2": "mpich_g2"}
ONE_PORT = ("--ports", 1)
WHOLE = "{{frame: unlimited}}"
STRIPED = "{{frame: 4KiB, striping: {}}}"


class Gupta:
    def __init__(self, runner, pictures):
        self.runner, self.pictures = runner, pictures

    def with_streams(self, streams, lanes):
        """The three sites with so many streams of each way."""
        text = (TOP / CONFIG).read_text()
        for old, new in (("streams: 8", f"streams: {streams}"), ("{frame: unlimited}", lanes)):
            assert old in text
            text = text.replace(old, new)
        return Collective(self.runner, self.runner.config(f"three_sites_{streams}", text))

    def text(self):
        return "\n".join([self.head(), self.by_streams(), *map(self.by_size, SETUPS)])

    def head(self):
        return f"""{HEADING}

"An Efficient MPI_Allgather for Grids": 8 hosts in Tennessee, 4 in Belfast and 8 in Amsterdam
([configs/three-sites.yaml](../{CONFIG}), from their table 2),
two of the sites, and one. [What it says and what we make of it](papers/gupta-2007.md); here is what
it compares Min³ with, whose own figures are in [planning.md](planning.md). Rates between sites are
those of one stream; how many a way carries the paper does not say, and most depends on it. A host
sends one message at a time and receives one, as in the paper:

    paths run {CONFIG} --clock virtual -- collective allgather \\
      -m 256KiB --schedule magpie --ports 1 --prices

Times are prices. The values of the paper's figures 8 to 11 are in pictures that we did not have.
"""

    # ---- streams

    def rows_by_streams(self, lanes):
        on = {streams: self.with_streams(streams, lanes.format(streams)) for streams in STREAMS}
        jobs = {(streams, name): lambda on=on[streams], schedule=schedule: on.price(
            "allgather", schedule, BLOCK, *ONE_PORT)
            for streams in STREAMS for name, schedule in RIVALS.items()}
        found = self.runner.all(jobs)
        return [[streams, number(found[streams, "MPICH"]["bound_ms"] / 1e3),
                 *(number(found[streams, name]["price_ms"] / 1e3) for name in RIVALS)]
                for streams in STREAMS]

    def by_streams(self):
        columns = ["streams", "nothing can beat", *RIVALS]
        return f"""### By streams of a way

{size_text(BLOCK)} from each of the 20 hosts, in s:

{table(columns, self.rows_by_streams(WHOLE))}
MPICH's is its ring, whose slowest hop repeats 19 times. MagPIe and MPICH-G2 send what must cross
once, and one thing at a time: more streams are of no use to them. Where each host sends every other
its block, up to eight streams are in use, as many as there are hosts to receive at a site, and 6.4
times as much crosses as is needed.

If every message is striped over all streams of its way, in frames of 4 KiB:

{table(columns, self.rows_by_streams(STRIPED))}
What MagPIe, MPICH-G2 and the ring lack in streams, striping gives them.
"""

    # ---- sizes

    def by_size(self, setup):
        on = Collective(self.runner, SETUPS[setup])
        jobs = {name: lambda schedule=schedule: on.prices("allgather", schedule, SIZES[0],
                                                          SIZES[-1], *ONE_PORT)
                for name, schedule in RIVALS.items()}
        found = self.runner.all(jobs)
        rows = [[size_text(size), number(found["MPICH"][at]["bound_ms"], 1),
                 *(number(found[name][at]["price_ms"], 1) for name in RIVALS)]
                for at, size in enumerate(SIZES)]
        return f"""### {setup}

By bytes from each host, in ms, with 8 streams of each way:

{table(["bytes", "nothing can beat", *RIVALS], rows)}"""
