#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tidy [root]: checks the rules of this project that a machine can check."""
import os
import pathlib
import re
import sys

COLUMNS = 100
FUNCTION_LINES = 70
CLASS_FUNCTIONS = 25
CODE = {".cpp", ".hpp", ".py", ".cmake"}
TEXT = CODE | {".txt", ".md", ".yaml", ".yml", ".json", ".in", ""}
# Folders that are not checked. The folder .ci is checked although its name begins with a dot.
SKIPPED = re.compile(r"^(build|\..*|__pycache__|node_modules)$")
SPDX = "SPDX-License-Identifier: Apache-2.0"
# A line of a test, example or benchmark may break these rules if it ends with this marker.
EXCUSED = {"steady_clock": "// tidy: real time", "thread": "// tidy: own thread"}

# Banned outside runtime/: the pattern, and what to use instead. A member function of a banned name,
# such as runtime.sleep_for(), is allowed.
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
# Writes to standard error that are banned outside base/say.cpp and tests/. The reason: fmt::print
# throws if standard error is full, even in destructors and catch blocks.
TO_STANDARD_ERROR = re.compile(r"\bprint\s*\(\s*stderr\b|\bstd::cerr\b")
SAYS = "base/say.cpp"
# The words are split into two literals, because this file must pass its own rules.
UNFINISHED = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")
MACHINE_PATH = re.compile(r"(?<![\w.*/])/(home|root|work|Users)/\w")

TEST_CASE = re.compile(r'\bTEST_CASE\(\s*(?:"(?:\\.|[^"\\])*"\s*)+')

NOT_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<raw>[^(\s]*)\(.*?\)(?P=raw)"|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'", re.DOTALL)

LABEL = re.compile(r"^\s*(?:public|private|protected)\s*:(?!:)")
CLASS = re.compile(r"(?:template\s*)?(?:class|struct)\s+([\w:]+)\s*(?:final\s*)?(?::(?!:)|$)")
NO_FUNCTION = re.compile(r"(?:using|friend|typedef|static_assert|enum|struct|class|union)\b")
SCOPE = re.compile(r"\s*(?:export\s+|inline\s+|template\s*<[^{;]*>\s*)*"
                   r"(?:namespace|class|struct|union|enum|extern)\b")


def blank(text):
    """Returns C++ with each character of comments and literals replaced by a space."""
    return NOT_CODE.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)


def functions(code):
    """Returns (name, first line, number of lines) of each outermost function in C++.

    `code` is C++ in which blank() has replaced comments and literals by spaces.

    The header of a block is the text before it. A block is a function if its header has a
    parenthesis and does not start a class or namespace. If the header continues after the block,
    the block was a member initializer or a default argument in braces.
    """
    found = []
    header = at = 0  # indexes of characters: header = begin of the next header
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


def without_arguments(text):
    """Returns C++ without template arguments <...>, which may contain parentheses."""
    before = None
    while before != text:
        before, text = text, re.sub(r"<[^<>;{}]*>", "", text)
    return text


def declares_function(statement):
    """Returns whether a statement, a member of a class up to its ; or {, declares a function."""
    text = without_arguments(LABEL.sub("", statement)).strip()
    text = re.sub(r"\b(?:alignas|decltype|noexcept)\s*\([^()]*\)|\[\[[^\]]*\]\]", "", text)
    if NO_FUNCTION.match(text) or "(" not in text:
        return False
    return "operator" in text or not re.search("[={]", text[:text.index("(")])


def classes(code, owner=None, first=1):
    """Returns (name, line, number of functions) of each class in C++.

    `code` is C++ in which blank() has replaced comments and literals by spaces.
    It is a whole file, the body of a namespace, or the body of the class `owner`.
    Its first character is on line `first` of the file. If there is an owner, the last
    entry of the result is the owner.
    """
    found, count = [], 0
    start = at = 0  # indexes of characters: start = begin of the statement
    while at < len(code):
        if code[at] == ";":
            count += declares_function(code[start:at])
            start = at + 1
        elif code[at] == "}":
            start = at + 1
        elif code[at] == "{":
            stop = closing(code, at)
            text = without_arguments(LABEL.sub("", code[start:at])).strip()
            line = first + code.count("\n", 0, at)
            named = CLASS.match(text)
            if named:
                found += classes(code[at + 1:stop], named.group(1), line)
            elif re.match(r"(?:inline\s+)?(?:namespace|extern)\b", text):
                found += classes(code[at + 1:stop], None, line)
            elif "(" in text:
                count += declares_function(code[start:at])
            is_rest = not text or text.endswith(")")  # rest of a function with braces in its head
            if named or is_rest or SCOPE.match(text) or "(" in text:
                start = stop + 1
            at = stop
        at += 1
    return found + ([(owner, first, count)] if owner else [])


def closing(code, at):
    """Returns the index of the brace that closes the opening brace at index `at`."""
    depth = 0
    for place in range(at, len(code)):
        depth += {"{": 1, "}": -1}.get(code[place], 0)
        if depth == 0:
            return place
    return len(code) - 1


def preprocessed(code):
    """Returns C++ with spaces in place of preprocessor directives, such as #define.

    `code` is the result of blank(). An opening brace in a directive may have no closing brace.
    """
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*",
                  lambda found: re.sub(r"[^\n]", " ", found.group()), code, flags=re.MULTILINE)


def text_mistakes(file, lines):
    """Yields (line, reason) of mistakes in any text file."""
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
    """Yields (line, reason) of mistakes in C++. `code` is the text after blank()."""
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
    text = "\n".join(lines)
    for case in TEST_CASE.finditer(text):
        if ";" in case.group():  # CMake would split the name in two, and ctest would run neither
            yield text.count("\n", 0, case.start()) + 1, "no ';' in the name of a test case"
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
    """Yields (path from the root, text) of every text file."""
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name == ".ci" or not SKIPPED.match(name))
        for name in sorted(files):
            path = pathlib.Path(folder, name)
            if path.suffix in TEXT and not name.startswith(".") and name != "LICENSE":
                yield path.relative_to(root).as_posix(), path.read_text("utf-8", "replace")


def too_large(sizes, limit, unit):
    """Yields mistakes. `sizes`: (name, line, size) of everything in a file."""
    for name, first, size in sizes:
        if size > limit:
            yield first, f"{name} has {size} {unit}; at most {limit}: split it"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else
                        pathlib.Path(__file__).parent.parent).resolve()
    mistakes = []
    for file, text in texts(root):
        lines = text.splitlines()
        found = list(text_mistakes(file, lines)) if lines else []
        if file.endswith((".cpp", ".hpp")):
            code = blank(text)
            found += cpp_mistakes(file, lines, code)
            statements = preprocessed(code)
            found += too_large(functions(statements), FUNCTION_LINES, "lines")
            if not file.startswith("tests/"):
                found += too_large(classes(statements), CLASS_FUNCTIONS, "functions")
        mistakes += [f"{file}:{number}: {why}" for number, why in sorted(found)]
    print("\n".join(mistakes), end="\n" if mistakes else "")
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main())
