# SPDX-License-Identifier: Apache-2.0
# bench/evaluation/plots.py — figures as SVG. Equal numbers give equal bytes.
import matplotlib

matplotlib.use("svg")
matplotlib.rcParams.update({"svg.hashsalt": "paths", "svg.fonttype": "none", "font.size": 9,
                            "axes.spines.top": False, "axes.spines.right": False})
import matplotlib.pyplot as plt  # noqa: E402

COLOURS = {"4w": "#4c72b0", "dominic": "#937860", "roadrunner": "#c44e52", "2w": "#55a868",
           "blade": "#8172b2"}


def save(figure, file):
    figure.tight_layout()
    figure.savefig(file, metadata={"Date": None})
    plt.close(figure)


def decision_times(rows, clusters, file, rounds):
    """Draws a panel for each cluster root with the times in which the first `rounds` were decided,
    as in figures 4 and 5 of the paper."""
    figure, panels = plt.subplots(len(clusters), 1, figsize=(7, 1.5 * len(clusters)), sharex=True,
                                  sharey=True)
    for panel, cluster in zip(panels, clusters):
        waits = [(round_, nanos / 1e6) for name, round_, _, origin, _, nanos in rows
                 if name == cluster and round_ <= rounds and origin == "waited"]
        cached = [round_ for name, round_, _, origin, _, _ in rows
                  if name == cluster and round_ <= rounds and origin == "cached"]
        panel.set_yscale("symlog", linthresh=1)
        panel.scatter(cached, [0] * len(cached), s=3, color="#bbbbbb", rasterized=False)
        panel.vlines([x for x, _ in waits], 0, [max(y, 0.02) for _, y in waits], linewidth=0.6,
                     color=COLOURS.get(cluster, "#444444"))
        panel.set_ylabel("ms")
        panel.set_title(cluster, loc="left", fontsize=9)
        panel.set_xlim(0, rounds)
    panels[-1].set_xlabel("iteration (grey dots: decided with tuples that had been fetched)")
    save(figure, file)


UNNAMED = {f"subscribe:{tuples}" for tuples in (4, 8, 32, 128)}


def frontier(points, file):
    """`points`: [(name, messages, percent)]. Draws the gain per wide-area message."""
    figure, axis = plt.subplots(figsize=(7, 3.6))
    for name, messages, above in points:
        axis.scatter([messages], [above], s=18, color="#4c72b0")
        if name in UNNAMED:
            continue  # no room for the name: the point is between two other points
        axis.annotate(name, (messages, above), textcoords="offset points", xytext=(4, 4),
                      fontsize=7)
    axis.scatter([4, 1], [3, 11], s=30, marker="x", color="#c44e52")
    for x, y in ((4, 3), (1, 11)):
        axis.annotate("to beat", (x, y), textcoords="offset points", xytext=(4, -9), fontsize=7,
                      color="#c44e52")
    axis.set_xscale("log")
    axis.set_xlabel("WAN messages per iteration")
    axis.set_ylabel("% above the slowest thread")
    axis.set_ylim(bottom=0)
    save(figure, file)


def sums(series, epsilon, file):
    """`series`: {data set: [sum by iteration]}."""
    figure, axis = plt.subplots(figsize=(7, 3))
    for name, values in series.items():
        axis.plot(range(1, len(values) + 1), values, linewidth=0.8, label=name)
    axis.axhline(epsilon, color="#888888", linewidth=0.8, linestyle="--")
    axis.set_yscale("log")
    axis.set_xlabel("iteration")
    axis.set_ylabel("sum of changes")
    axis.legend(frameon=False)
    save(figure, file)


def curve(rows, x_label, y_label, file):
    """`rows`: {name: [(x, y)]}."""
    figure, axis = plt.subplots(figsize=(7, 3))
    for name, points in rows.items():
        axis.plot([x for x, _ in points], [y for _, y in points], marker="o", markersize=3,
                  linewidth=1, label=name)
    axis.set_xlabel(x_label)
    axis.set_ylabel(y_label)
    axis.set_ylim(bottom=0)
    axis.legend(frameon=False)
    save(figure, file)


def bytes_text(size):
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit:
            return f"{size // unit} {name}"
    return f"{size} B"


def draw_against_others(axis, title, series, sizes_per_tick):
    """`series`: {name: [(bytes, y)]}; the last series is that of this project."""
    for name, points in series.items():
        is_ours = name == list(series)[-1]
        axis.plot([x for x, _ in points], [y for _, y in points], marker="o", markersize=2.5,
                  linewidth=1.6 if is_ours else 0.9, label=name,
                  color="black" if is_ours else None)
    axis.set_xscale("log", base=2)
    ticks = [x for x, _ in next(iter(series.values()))][::sizes_per_tick]
    axis.set_xticks(ticks, [bytes_text(x) for x in ticks])
    axis.set_title(title, loc="left", fontsize=9)


def throughput(panels, file):
    """`panels`: {title: {name: [(bytes, MB/s)]}}. Drawn next to each other; the last series is that
    of this project."""
    figure, axes = plt.subplots(1, len(panels), figsize=(9, 4))
    for axis, (title, series) in zip(axes, panels.items()):
        draw_against_others(axis, title, series, 5)
        axis.set_ylim(bottom=0)
        axis.set_ylabel("MB/s")
        axis.legend(frameon=False, fontsize=7)
    save(figure, file)


def by_size(curves, y_label, file):
    """`curves`: {name: [(bytes, y)]}. Both axes are logarithmic."""
    figure, axis = plt.subplots(figsize=(7, 3))
    for (name, points), style in zip(curves.items(), ("-", "--", "-.", ":")):
        axis.plot([x for x, _ in points], [y for _, y in points], marker="o", markersize=3,
                  linewidth=1, linestyle=style, label=name)
    axis.set_xscale("log", base=2)
    axis.set_yscale("log")
    ticks = [x for x, _ in next(iter(curves.values()))]
    axis.set_xticks(ticks, [bytes_text(x) for x in ticks])
    axis.set_ylabel(y_label)
    axis.legend(frameon=False)
    save(figure, file)


def times_by_size(panels, y_label, file):
    """`panels`: {title: {name: [(bytes, y)]}}. Drawn next to each other with logarithmic axes; the
    last series is that of this project."""
    figure, axes = plt.subplots(1, len(panels), figsize=(5 * len(panels), 3.8), squeeze=False,
                                sharey=True)
    for axis, (title, series) in zip(axes[0], panels.items()):
        draw_against_others(axis, title, series, 3)
        axis.set_yscale("log")
    axes[0][0].set_ylabel(y_label)
    axes[0][-1].legend(frameon=False, fontsize=7)
    save(figure, file)


def steps(panels, x_label, y_label, file):
    """`panels`: {title: {name: [(x, y)]}}. Drawn one below the other; y is the value from x up to
    the x of the next point."""
    figure, axes = plt.subplots(len(panels), 1, figsize=(7, 2.2 * len(panels)), squeeze=False)
    for axis, (title, series) in zip(axes[:, 0], panels.items()):
        for name, points in series.items():
            axis.step([x for x, _ in points], [y for _, y in points], where="post", linewidth=0.9,
                      label=name)
        axis.set_ylim(bottom=0)
        axis.set_title(title, loc="left", fontsize=9)
        axis.set_ylabel(y_label)
        axis.legend(frameon=False, fontsize=7)
    axes[-1][0].set_xlabel(x_label)
    save(figure, file)
