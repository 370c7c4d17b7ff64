# SPDX-License-Identifier: Apache-2.0
# bench/evaluation/collectives.py — runs and predictions of collectives with different schedules
# on a config.
KIB, MIB = 1 << 10, 1 << 20


def size_text(size):
    if size < KIB:
        return f"{size} B"
    return f"{size // KIB} KiB" if size < MIB else f"{size // MIB} MiB"


class Collective:
    """Runs of the program `collective` on the virtual clock, where a single iteration suffices. If
    the config states costs of hosts, one iteration before it tells `collective` how long members
    that end early must wait, so that they do not disturb the others."""

    def __init__(self, runner, config, warmup=0):
        self.runner, self.config, self.warmup = runner, config, warmup

    def words(self, collective, schedule, first, last, *more):
        return ["paths", "run", self.config, "--clock", "virtual", "--", "collective", collective,
                "-m", f"{first}:{last}", "-i", 1, "-x", self.warmup, "--schedule", schedule, *more]

    def run(self, collective, schedule, first, last, *more):
        """Returns a row for each size: `first` and its doubles up to `last`."""
        return self.runner.json_of(self.words(collective, schedule, first, last, *more))["results"]

    def prices(self, collective, schedule, first, last, *more):
        return self.run(collective, schedule, first, last, "--prices", *more)

    def price(self, collective, schedule, size, *more):
        return self.prices(collective, schedule, size, size, *more)[0]
