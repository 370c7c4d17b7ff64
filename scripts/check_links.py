#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_links [root]: checks that links in Markdown lead to files and headings that exist.

Links to other sites are not followed.
"""
import pathlib
import re
import subprocess
import sys

LINK = re.compile(r"\]\(([^)\s]+)\)")
FENCE = re.compile(r"^\s*(```|~~~)")


def text_lines(path):
    """The lines of a page outside of code blocks."""
    inside = False
    for line in path.read_text(encoding="utf-8").split("\n"):
        if FENCE.match(line):
            inside = not inside
        elif not inside:
            yield line


def anchors(path):
    """The anchors of the headings, as code hosts make them."""
    found, times = set(), {}
    for line in text_lines(path):
        heading = re.match(r"#+\s+(.*)", line)
        if not heading:
            continue
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.group(1)).lower()
        anchor = re.sub(r"[^\w\- ]", "", plain).strip().replace(" ", "-")
        number = times.get(anchor, 0)
        times[anchor] = number + 1
        found.add(anchor if number == 0 else f"{anchor}-{number}")
    return found


def wrong_links(root, page):
    for number, line in enumerate(page.read_text(encoding="utf-8").split("\n"), 1):
        for target in LINK.findall(line):
            if re.match(r"[a-z]+:", target):
                continue
            name, _, anchor = target.partition("#")
            file = (page.parent / name).resolve() if name else page
            where = f"{page.relative_to(root)}:{number}"
            if not file.exists():
                yield f"{where}: no such file: {target}"
            elif anchor and file.suffix == ".md" and anchor not in anchors(file):
                yield f"{where}: no such heading: {target}"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    root = root.resolve()
    listed = subprocess.run(["git", "-C", root, "ls-files", "*.md"], capture_output=True, text=True)
    pages = [root / name for name in listed.stdout.split()] or [
        page for page in sorted(root.rglob("*.md"))
        if not {"build", "node_modules"} & set(page.relative_to(root).parts)]
    wrong = [text for page in pages if page.exists() for text in wrong_links(root, page)]
    print("\n".join(wrong), end="\n" if wrong else "")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
