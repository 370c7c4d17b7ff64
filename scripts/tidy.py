#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tidy [--shrink] [root]: the house rules that a machine can check.

--shrink lowers the lengths in scripts/long_functions.txt to what they are now. Nothing raises
them: split the function instead.
"""
import os
import pathlib
import re
import sys

COLUMNS = 100
FUNCTION_LINES = 70
CODE = {".cpp", ".hpp", ".py", ".cmake"}
TEXT = CODE | {".txt", ".md", ".yaml", ".yml", ".json", ".in", ""}
# Folders; .ci is looked at all the same.
SKIPPED = re.compile(r"^(build|\..*|__pycache__|node_modules)$")
SPDX = "SPDX-License-Identifier: Apache-2.0"
# What tests, examples and benchmarks may do all the same, where the line says so.
EXCUSED = {"steady_clock": "// tidy: real time", "thread": "// tidy: own thread"}

# Banned outside runtime/: the pattern, and what to use instead. A member of that name, such as
# runtime.sleep_for(), is fine.
BANNED = [
    (r"\b(steady_clock|system_clock|high_resolution_clock)\b", "Runtime::now()"),
    (r"(?<!\.)(?<!->)(?<!void )(?<!Thread::)\b(sleep_for|sleep_until|usleep|nanosleep)\b",
     "Runtime::sleep_for() or sleep_until()"),
    (r"(?<!\.)(?<!->)\byield\s*\(", "a WaitList of runtime/wait.hpp, which waits for something"),
    (r"\brandom_device\b|\bs?rand\s*\(", "runtime::Random, which has a seed"),
    (r"\bstd::j?thread\b", "a context of runtime/runtime.hpp"),
    (r"\bstd::(recursive_|timed_|shared_)*mutex\b", "runtime::Mutex"),
    (r"\bstd::condition_variable(_any)?\b", "runtime::WaitList"),
]
# fmt::print throws when standard error is full, from destructors and catch blocks, too.
TO_STANDARD_ERROR = re.compile(r"\bprint\s*\(\s*stderr\b|\bstd::cerr\b")
SAYS = "base/say.cpp"
# Split, so that this file keeps its own rules.
UNFINISHED = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")
MACHINE_PATH = re.compile(r"(?<![\w.*/])/(home|root|work|Users)/\w")

NOT_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<raw>[^(\s]*)\(.*?\)(?P=raw)"|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'", re.DOTALL)

LABEL = re.compile(r"^\s*(?:public|private|protected)\s*:(?!:)")
SCOPE = re.compile(r"\s*(?:export\s+|inline\s+|template\s*<[^{;]*>\s*)*"
                   r"(?:namespace|class|struct|union|enum|extern)\b")


def blank(text):
    """C++ without its comments and literals: blanks in their place, line by line."""
    return NOT_CODE.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)


def functions(code):
    """(name, first line, lines) of each outermost function of blanked C++.

    A block is a function when what is before it has a parenthesis and does not start a class or
    namespace. When the header goes on behind it, it was the braces of a member initializer or
    of a default argument.
    """
    found = []
    header = at = 0  # where the header of the next block starts; where we are
    while at < len(code):
        if code[at] in ";}":
            header = at + 1
        elif code[at] == "{":
            text = LABEL.sub("", code[header:at])
            if SCOPE.match(text) or "(" not in text:
                header = at + 1
            else:
                at = closing(code, at)
                if not re.compile(r"\s*[,{)]").match(code, at + 1):
                    first = code.count("\n", 0, header + code[header:].index(text.strip())) + 1
                    last = code.count("\n", 0, at) + 1
                    name = re.search(r"([\w:~]+)\s*\(", text)
                    found.append((name.group(1) if name else "lambda", first, last - first + 1))
                    header = at + 1
        at += 1
    return found


def closing(code, at):
    """Where the brace that opens at `at` closes."""
    depth = 0
    for place in range(at, len(code)):
        depth += {"{": 1, "}": -1}.get(code[place], 0)
        if depth == 0:
            return place
    return len(code) - 1


def preprocessed(code):
    """Blanked C++ without its # lines, whose braces need not match."""
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*",
                  lambda found: re.sub(r"[^\n]", " ", found.group()), code, flags=re.MULTILINE)


def text_mistakes(file, lines):
    """Rules for every text file: (line, why)."""
    suffix = pathlib.PurePath(file).suffix
    code = suffix in CODE or file.endswith("CMakeLists.txt") or lines[0].startswith("#!")
    for number, line in enumerate(lines, 1):
        if MACHINE_PATH.search(line):
            yield number, "a path of one machine"
        if UNFINISHED.search(line):
            yield number, "unfinished: do it or drop it"
        if code and "\t" in line:
            yield number, "a tab"
        if code and line != line.rstrip():
            yield number, "blanks at the end of the line"
        if code and len(line) > COLUMNS:
            yield number, f"{len(line)} columns; at most {COLUMNS}"
    if code and not any(SPDX in line for line in lines[:2]):
        yield 1, f"no '{SPDX}' on top"


def cpp_mistakes(file, lines, code):
    """Rules for C++: (line, why). `code` is the blanked text."""
    if lines[:1] != [f"// {SPDX}"]:
        yield 1, f"line 1 must be '// {SPDX}'"
    if file.endswith(".hpp"):
        if not re.match(rf"// {re.escape(file)} — \S", "".join(lines[1:2])):
            yield 2, f"line 2 must be '// {file} — <its one job>'"
        if "#pragma once" not in lines:
            yield 3, "no '#pragma once'"
    if file != SAYS and not file.startswith("tests/"):
        for number, line in enumerate(code.splitlines(), 1):
            if TO_STANDARD_ERROR.search(line):
                yield number, "may fail to be written; use base::say()"
    if file.startswith("runtime/"):
        return
    may_excuse = file.startswith(("tests/", "bench/", "examples/"))
    for number, line in enumerate(code.splitlines(), 1):
        for pattern, instead in BANNED:
            banned = re.search(pattern, line)
            if not banned:
                continue
            word = banned.group().strip()
            excuse = EXCUSED.get(word.rpartition("::")[2])
            if may_excuse and excuse and excuse in lines[number - 1]:
                continue
            yield number, f"{word} is for runtime/ only; use {instead}"


def texts(root):
    """(path from the root, text) of every text file."""
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name == ".ci" or not SKIPPED.match(name))
        for name in sorted(files):
            path = pathlib.Path(folder, name)
            if path.suffix in TEXT and not name.startswith(".") and name != "LICENSE":
                yield path.relative_to(root).as_posix(), path.read_text("utf-8", "replace")


class LongFunctions:
    """scripts/long_functions.txt: the functions that may be longer, and how long they are."""

    def __init__(self, root):
        self.path = root / "scripts/long_functions.txt"
        text = self.path.read_text("utf-8") if self.path.exists() else ""
        self.head = [line for line in text.splitlines() if line.startswith("#")]
        self.tolerated = {}
        for line in text.splitlines():
            if line.strip() and not line.startswith("#"):
                file, name, length = line.split()
                self.tolerated[file, name] = int(length)
        self.now = {}

    def mistakes(self, file, code):
        for name, first, length in functions(preprocessed(code)):
            if length > FUNCTION_LINES:
                self.now[file, name] = max(length, self.now.get((file, name), 0))
                allowed = self.tolerated.get((file, name), FUNCTION_LINES)
                if length > allowed:
                    yield first, f"{name} has {length} lines; at most {allowed}: split it"

    def stale(self):
        """Entries that must shrink or go."""
        for key, length in self.tolerated.items():
            if self.now.get(key, 0) < length:
                yield f"{' '.join(key)} got shorter: run scripts/tidy.py --shrink"

    def shrink(self):
        kept = [f"{file} {name} {min(length, self.now[file, name])}"
                for (file, name), length in sorted(self.tolerated.items())
                if (file, name) in self.now]
        self.path.write_text("\n".join(self.head + kept) + "\n", "utf-8")


def main():
    arguments = [word for word in sys.argv[1:] if word != "--shrink"]
    root = pathlib.Path(arguments[0] if arguments else
                        pathlib.Path(__file__).parent.parent).resolve()
    long_functions = LongFunctions(root)
    mistakes = []
    for file, text in texts(root):
        lines = text.splitlines()
        found = list(text_mistakes(file, lines)) if lines else []
        if file.endswith((".cpp", ".hpp")):
            code = blank(text)
            found += cpp_mistakes(file, lines, code)
            found += long_functions.mistakes(file, code)
        mistakes += [f"{file}:{number}: {why}" for number, why in sorted(found)]
    if "--shrink" in sys.argv:
        long_functions.shrink()
    else:
        mistakes += [f"scripts/long_functions.txt: {why}" for why in long_functions.stale()]
    print("\n".join(mistakes), end="\n" if mistakes else "")
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main())
