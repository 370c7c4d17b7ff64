# SPDX-License-Identifier: Apache-2.0
# bench/evaluation/text.py — Markdown from rows.


def table(head, rows, left=1):
    """The first `left` columns are words, the others numbers."""
    lines = ["| " + " | ".join(head) + " |",
             "| " + " | ".join("---" if i < left else "---:" for i in range(len(head))) + " |"]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def number(value, digits=2):
    if value is None:
        return ""
    return f"{value:,.{digits}f}"


def percent(value, digits=1):
    return f"{100 * value:.{digits}f}%"
