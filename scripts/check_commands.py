#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_commands BIN [--no-page] [root]: checks the commands in Markdown, and runs the quick ones.

BIN is the folder of the built programs. With --no-page, commands run without `--html FILE`. Use it
if the programs cannot write the HTML report.

A command is a line of a code block, or inline code, that starts with one of our programs or
scripts. Its program, its sub-command, its options and the files of the project that it names must
exist.

Code blocks run in order and must succeed. Each page has a folder for them, with links to the files
of the project. It also has the YAML blocks that the paragraph before them names `NAME.yaml`. A
paragraph of a block does not run if it has a placeholder, such as CONFIG. A block does not run if
the line before it is `<!-- not run: REASON -->`. A block that may not run and has no such line is
an error. Inline code runs only if it reads a config that exists.
"""
import collections
import functools
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

PAGES = ["README.md", "CONTRIBUTING.md", "HACKING.md", "docs/**/*.md"]
NOT_CHECKED = "docs/decisions/"
# Pages whose commands a different test runs.
RUN_ELSEWHERE = {"docs/tutorial/first-program.md"}  # tests/install/tutorial_test.py
# Commands that this script is permitted to run. It runs `paths run` only on the virtual clock.
READ_A_CONFIG = {"paths check", "paths expand", "paths explain", "paths plan", "paths show"}
QUICK = READ_A_CONFIG | {"paths algorithms", "paths analyze", "paths describe", "paths kinds",
                         "paths run", "paths schedule", "allgathers"}
SECONDS_MAX = 120
NOT_BUILT = "skipped, because a program is not built"

FENCE = re.compile(r"\s*(?:```|~~~)\s*(\w*)")
MARKER = re.compile(r"\s*<!-- not run: (.*) -->$")
INLINE = re.compile(r"`((?:[^`\n]|\n(?!\n))+)`")
PLACEHOLDER = re.compile(r"(?<![\w$-])[A-Z]+\d*(?!\w)|\.\.\.")
BUILT = re.compile(r"build/\w+/bin/(\w+)$")
SCRIPT = re.compile(r"(scripts|bench/evaluation|\.ci)/\w+")
FILE = re.compile(r"(?<![\w/])(configs|docs|examples|eventspace|tests)/[\w./-]+")
BEFORE_COMMAND = re.compile(r"(do|then|\$|sudo|srun|-.*|\w+=.*)$")
LOOP = {"for", "done"}
SHELL = {"", "sh", "bash", "shell", "console"}

Block = collections.namedtuple("Block", "language line lines marker")


def blocks(lines):
    """Yields the blocks of a page. The language of an indented block is ''."""
    at, marker = 0, None
    while at < len(lines):
        first = at
        fence = FENCE.match(lines[at])
        at += 1
        if fence:
            while at < len(lines) and not FENCE.match(lines[at]):
                at += 1
            yield Block(fence[1], first + 2, lines[first + 1:at], marker)
            at += 1
        elif lines[first][:4] == "    " and (marker or not first or not lines[first - 1].strip()):
            while at < len(lines) and (lines[at].startswith("    ") or not lines[at].strip()):
                at += 1
            yield Block("", first + 1, lines[first:at], marker)
        found = MARKER.match(lines[first])
        marker = found and found[1]


def paragraphs(block):
    """Yields (number of the first line, text) of the paragraphs of a block."""
    text = "\n".join(block.lines)
    for found in re.finditer(r"[^\n](?:.|\n(?!\s*(?:\n|$)))*", text):
        yield block.line + text.count("\n", 0, found.start()), found[0]


def commands(text):
    """Returns (lines before it, words) of each simple command of shell code."""
    found = []
    for line in re.finditer(r"(?:\\\n|.)+", text):
        before = text.count("\n", 0, line.start())
        lexer = shlex.shlex(line[0].replace("\\\n", " "), posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        try:
            words = [*lexer, ";"]
        except ValueError:  # a quote without an end: the text is prose or continues
            words = [line[0], ";"]
        first = 0
        for at, word in enumerate(words):
            if not set(word) - set("();|&"):
                found.append((before, command_words(words[first:at])))
                first = at + 1
    return [(before, words) for before, words in found if words]


def command_words(words):
    """Returns the words without redirections, and without the words before the command."""
    kept = [word for before, word in zip(["", *words], words)
            if before[:1] not in ("<", ">") and word[:1] not in ("<", ">")]
    while kept and BEFORE_COMMAND.match(kept[0]):
        kept = kept[1:]
    return kept


def is_quick(words):
    name = " ".join(words[:2]) if words[0] == "paths" else words[0]
    return name in QUICK and (name != "paths run" or "--clock virtual" in " ".join(words))


class Checker:
    def __init__(self, root, binaries, has_page):
        self.root, self.binaries, self.has_page = root, binaries, has_page
        mains = [*root.glob("bench/*.cpp"), *root.glob("examples/*.cpp"),
                 *(main.parent for main in root.glob("bench/*/main.cpp"))]
        self.programs = {"paths", *(main.stem for main in mains)}
        self.errors, self.counts, self.skipped = [], collections.Counter(), set()

    # ---- mistakes in one command

    def is_ours(self, words):
        return words[0] in self.programs or BUILT.match(words[0]) or SCRIPT.match(words[0])

    def all_built(self, words):
        names = {BUILT.sub(r"\1", word) for word in words} & self.programs
        return all((self.binaries / name).exists() for name in names)

    @functools.cache
    def help(self, *words):
        return subprocess.run([self.binaries / words[0], *words[1:], "--help"], check=False,
                              timeout=SECONDS_MAX, capture_output=True, text=True).stdout

    def mistakes(self, words):
        """Yields what a command names but does not exist."""
        split = words.index("--") if "--" in words else len(words)
        name, rest, program = BUILT.sub(r"\1", words[0]), words[1:split], words[split + 1:]
        yield from (f"no such file: {file[0]}" for word in rest for file in FILE.finditer(word)
                    if not (self.root / file[0]).exists())
        if SCRIPT.match(name):
            if not (self.root / name).is_file():
                yield f"no such script: {name}"
                return
            known = (self.root / name).read_text(encoding="utf-8")
            if '"$@"' in known:  # the script passes its arguments to another program
                return
        elif name not in self.programs:
            if "/" not in name and not PLACEHOLDER.search(name):
                yield f"no such program: {name}"
            return
        elif not self.all_built([name]):
            return
        else:
            path = [name]
            known = self.help(name)
            while "\nSubcommands:" in known and rest and not rest[0].startswith("-"):
                path.append(rest.pop(0))
                if not re.search(rf"^  {re.escape(path[-1])} ", known, re.MULTILINE):
                    if not PLACEHOLDER.search(path[-1]):
                        yield f"no such sub-command: {' '.join(path)}"
                    return
                known = self.help(*path)
        yield from (f"no such option: {option}"
                    for option in (word.split("=")[0] for word in rest)
                    if re.match(r"--?[a-zA-Z]", option)
                    and not re.search(rf"(?<![\w-]){option}(?![\w-])", known))
        if program:
            yield from self.mistakes(program)

    # ---- pages

    def check(self, where, words, kind):
        """Counts a command and checks what it names."""
        self.counts[kind if self.all_built(words) else NOT_BUILT] += 1
        self.errors += [f"{where}: {text}: {' '.join(words)}" for text in self.mistakes(words)]

    def run(self, where, text, folder):
        if not self.has_page:
            text = re.sub(r" --html \S+", "", text)
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PATHS_")}
        home = {**kept, "PATH": f"{self.binaries}:{kept['PATH']}", "HOME": str(folder)}
        done = subprocess.run(["timeout", str(SECONDS_MAX), "bash", "-eo", "pipefail", "-c", text],
                              cwd=folder, env=home, check=False, capture_output=True, text=True)
        if done.returncode:
            self.errors.append(f"{where}: exit status {done.returncode} (124 = took more than "
                               f"{SECONDS_MAX} s): {text.strip()}\n{done.stderr.strip()}")

    def check_paragraph(self, page, line, text, marker, folder):
        """Checks and runs a paragraph of a block. Returns whether it has commands of ours."""
        found = commands(text)
        ours = [(before, words) for before, words in found if self.is_ours(words)]
        kind = "run"
        if marker:
            kind = f"not run, {marker}"
        elif page in RUN_ELSEWHERE or any(PLACEHOLDER.search(" ".join(words)) for _, words in ours):
            kind = "checked only"
        elif page in self.skipped or not all(self.all_built(words) for _, words in ours):
            kind = NOT_BUILT
            self.skipped.add(page)  # later commands of the page may need these results
        for before, words in ours:
            self.check(f"{page}:{line + before}", words, kind)
        slow = [words for _, words in found if words[0] not in LOOP and not is_quick(words)]
        if ours and kind == "run" and slow:
            self.errors.append(f"{page}:{line}: may not run, and the line before the block is not "
                               f"`<!-- not run: REASON -->`: {' '.join(slow[0])}")
        elif ours and kind == "run":
            self.run(f"{page}:{line}", text, folder)
        return bool(ours)

    def check_inline(self, page, prose, folder):
        for inline in INLINE.finditer(prose):
            for _, words in commands(inline[1].replace("\n", " ").replace("\\|", "|")):
                if not self.is_ours(words) or len(words) == 1 and words[0] in self.programs:
                    continue
                runs = " ".join(words[:2]) in READ_A_CONFIG and any(
                    (folder / word).is_file() for word in words[2:])
                where = f"{page}:{prose.count(chr(10), 0, inline.start()) + 1}"
                self.check(where, words, "run" if runs else "checked only")
                if runs:
                    self.run(where, inline[1], folder)

    def check_page(self, page, folder):
        for entry in self.root.iterdir():
            if entry.name not in {"build", ".git"}:
                (folder / entry.name).symlink_to(entry)
        lines = (self.root / page).read_text(encoding="utf-8").split("\n")
        for block in blocks([*lines]):
            before = "\n".join(lines[:block.line - 2]).rstrip().split("\n\n")[-1]
            names = re.findall(r"`([\w-]+\.yaml)`", before)
            if block.language == "yaml" and names:
                (folder / names[-1]).write_text("\n".join(block.lines), encoding="utf-8")
            is_code = block.language not in SHELL
            for line, text in () if is_code else paragraphs(block):
                is_code |= self.check_paragraph(page, line, text, block.marker, folder)
            if is_code:
                lines[block.line - 1:block.line - 1 + len(block.lines)] = [""] * len(block.lines)
        self.check_inline(page, "\n".join(lines), folder)


def main():
    binaries, *roots = [pathlib.Path(word) for word in sys.argv[1:] if word != "--no-page"]
    root = (roots[0] if roots else pathlib.Path(__file__).parent.parent).resolve()
    checker = Checker(root, binaries.resolve(), "--no-page" not in sys.argv)
    pages = (page.relative_to(root).as_posix() for name in PAGES for page in root.glob(name))
    for page in sorted(pages):
        if not page.startswith(NOT_CHECKED):
            with tempfile.TemporaryDirectory(prefix="paths-commands-") as folder:
                checker.check_page(page, pathlib.Path(folder))
    print("\n".join([*checker.errors, f"{checker.counts.total()} commands:"]))
    print("\n".join(f"{count:5} {kind}" for kind, count in sorted(checker.counts.items())))
    sys.exit(1 if checker.errors else 0)


if __name__ == "__main__":
    main()
