# SPDX-License-Identifier: Apache-2.0
# bench/evaluation/text.py — Markdown tables.


def table(head, rows, left=1):
    """Returns a table. The first `left` columns are text, the others numbers."""
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
