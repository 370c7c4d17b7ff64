# SPDX-License-Identifier: Apache-2.0
# bench/evaluation/faults.py — a cluster that stalls, and a link that fails.
import re

from runs import TOP, Noise
from text import number, table

CONFIG = "configs/multicluster.yaml"
ALGORITHMS = ["sequential", "magpie", "exact", "conditional", "conditional:push",
              "conditional:demand", "conditional:subscribe:16", "periodic:50", "lagged:4",
              "budget:64,32", "budget:512,16"]
ITERATIONS = 2000
DEAD_LINK = """# A link that goes away for good after 20 s: what leaves then is a day on its way.
# seconds, ms one-way, Mbit/s
0 16 100
20 86400000 100
"""


class Faults:
    def __init__(self, runner, values):
        self.runner, self.values = runner, values

    def text(self):
        stalls = self.runner.all({one: lambda one=one: self.stall(one) for one in ALGORITHMS})
        config = self.lossy_config()
        losses = self.runner.all({one: lambda one=one: self.loss(one, config)
                                  for one in ALGORITHMS})
        return f"""## A stalled cluster and a lost link

The run is *frosty* with {ITERATIONS:,} iterations. One thread of 2W stalls for 10 s, 20 s after
the start (`--noise 2w-0/0=10s@20s`). The table shows the longest iteration of a thread of the
other clusters, and how much longer the run took for the last of them:

{table(["algorithm", "longest iteration elsewhere, s", "run longer by, s"],
       [[one, *stalls[one]] for one in ALGORITHMS])}
In the next table the link between RoadRunner and 4W fails after 20 s. The deadline of each wait
is 5 s:

{table(["algorithm", "what happens"], [[one, losses[one]] for one in ALGORITHMS], left=2)}
A tree stops at once. With `exact`, `magpie`, `periodic` and `conditional`, clusters send each
other their last exact pair. The two clusters that cannot reach each other then learn results
through the others and continue. An exact allreduce therefore lacks only the last result, which no
later tuple carries. `lagged` and `budget` need every value itself. They continue for as many
iterations as they are late.
"""

    def words(self, algorithm, config, *more):
        words = Noise(self.runner, config, ITERATIONS).words(algorithm, self.values)
        return [*words, *more]

    def stall(self, algorithm):
        usual = self.longest(algorithm)
        held = self.longest(algorithm, "--noise", "2w-0/0=10s@20s")
        return number(held[0]), number(held[1] - usual[1])

    def longest(self, algorithm, *noise):
        figures = self.runner.json_of(self.words(algorithm, CONFIG, *noise))
        elsewhere = [one for one in figures["clusters"] if one["name"] != "2w"]
        return (max(one["max_ms"] for one in elsewhere) / 1e3,
                max(one["ms_per_iteration"] for one in elsewhere) * ITERATIONS / 1e3)

    def lossy_config(self):
        trace, config = self.runner.work / "dead.trace", self.runner.work / "dead.yaml"
        trace.write_text(DEAD_LINK)
        text = (TOP / CONFIG).read_text()
        alive = "{between: [roadrunner, 4w], latency: 16ms,"
        assert alive in text
        text = text.replace(alive, "{between: [roadrunner, 4w], trace: dead.trace,")
        config.write_text(text.replace("\nlinks:", "\ndeadline: 5s\nlinks:"))
        return config

    def loss(self, algorithm, config):
        code, out, error = self.runner.command(self.words(algorithm, config))
        if code == 0:
            return f"all {ITERATIONS:,} iterations, all conditions right"
        told = re.search(r"(wrapper \S+: round (\d+): [^\n]*)", out + error)
        assert told, error
        # An error names the round of a result. With `lagged` and `budget`, threads use that result
        # some iterations later. The number after the colon, as in `lagged:4`, is how many.
        late = re.match(r"(?:lagged|budget):(\d+)", algorithm)
        iteration = int(told.group(2)) + 1 + (int(late.group(1)) if late else 0)
        return f"ends in iteration {iteration:,}: \"{told.group(1)}\""
