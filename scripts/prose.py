#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds prose that a reader stumbles over: comments, Markdown, test names, help strings, commit
subjects.

prose.py [--check] [--shrink] [--changed BASE] [--count] [--sample N] [--seed S] [--rules]
         [PATHS...]

Prints one sentence a line, as `file:line: rule[, rule...]: text`. The exit status is 0 also when
there are hits.
  PATHS            files or folders to read; the default is every file that git tracks
  --changed BASE   only lines that were added since BASE, untracked files, and the subjects of
                   BASE..HEAD
  --count          print the number of hits by top folder and by rule as JSON, for a ratchet
  --sample N       print N random comments to read aloud instead of hits; --seed S repeats a sample
  --rules          print every rule with what to write instead
  --check          fail if a folder has more hits than scripts/prose_counts.txt allows, or if a file
                   that users read first has any: installed headers, README, tutorial, how-to
  --shrink         lower the figures of scripts/prose_counts.txt to what they are now
A line that ends with `prose: ok RULE` is excepted from a rule that is wrong about it.
Text in backticks or double quotes is not checked, so a guide can quote what it advises against.
"""
import argparse
import bisect
import collections
import io
import json
import os
import random
import re
import subprocess
import sys
import tokenize

MAX_WORDS = 30
MAX_SUBJECT = 72

# ---- rules -------------------------------------------------------------------------------------
# name, places, pattern, advice. A place is a letter: c comment, t trailing comment, m Markdown,
# n test name, s help or message string, k commit subject. Patterns of `opener` rules match only at
# the start of a sentence.


def words(pattern):
    return re.compile(pattern, re.IGNORECASE)


OPENERS = [
    ("headless-who", "ctmns",
     re.compile(r"(?:Who|Whoever|Whom|Whose|Who else)\b(?![^.]*\?)"),
     "name the subject: 'A host that waits', 'The caller'"),
    ("headless-what", "ctm",
     re.compile(r"What(?:ever)? (?!(?:follows|matters|happens|remains|looks)\b|[^.]*\?)"
                r"(?:of|is|are|was|were|has|had|have|can|may|must|will|would|does|came|come|went"
                r"|\w+s)\b"),
     "name the thing: 'Tuples that were sent', 'Returns the failures'"),
    ("headless-of", "cm",
     re.compile(r"Of (?!course\b|these\b|those\b|the (?:rest|others)\b|the \w+ (?:that|which)\b)"),
     "put the noun first: 'Percentiles of a set', 'stack size per thread'"),
    ("headless-where", "ctm", re.compile(r"Where\b(?![^.]*\?)(?=[^.]*,)"),
     "'if' or 'when' for a condition"),
    ("opener-else", "ctms", re.compile(r"Else,?\s"), "'Otherwise'"),
]

TRAILING = [
    ("trailing-fragment", "t",
     re.compile(r"(?:of|for|by (?:what|which|who|whom|how|where))\b", re.IGNORECASE),
     "start with the noun: 'deadline of the first waiter'"),
]

WORDS = [
    ("person-he", "ctmnsk", words(r"\b(?:he|him|his|himself)\b"),
     "name the process, host, thread or caller"),
    ("person-body", "ctmnsk", words(r"\b(?:nobody|somebody|everybody|anybody|whoever|whomever)\b"),
     "name the reader, waiter, member, caller"),
    ("person-who", "ctmnsk",
     words(r"\b(?:by|of|for|from|to|with|than) who(?:m)?\b|\b(?:those|one|ones|he|all) who\b"),
     "name the actor: 'waiters that', 'the contributor that'"),
    ("person-told", "ctmnsk",
     words(r"\b(?:is|are|was|were|be|been|being|gets?|got) told\b|\btold (?:of|so|at once)\b"
           r"|\bhears? (?:of|it|them|nothing|from)\b|\bheard (?:of|nothing)\b"),
     "'is notified', 'gets an error', 'receives'"),
    ("answers", "ct",
     words(r"(?:^|[.;:,] |\band )answers? "
           r"(?:what|when|whether|how|which|true|false|nothing|the|with|it)\b"),
     "'returns'; 'replies' for a message"),
    ("let-go", "ctmnsk",
     words(r"\b(?:let|lets|letting) (?:\w+ )?go\b"
           r"(?! (?:of|on|to|by|down|up|ahead|first|through)\b)"),
     "'releases', 'frees', 'destroys'"),
    ("by-itself", "ctmnsk", words(r"(?<!each )\bby itself\b|\bwithout a word\b"),
     "'by default', 'automatically', 'alone'"),
    ("come-to", "ctmnsk",
     words(r"\b(?:what|all) (?:\w+ ){0,3}(?:come|comes|came|amounts?) to\b(?! be\b)"),
     "'equals', 'the result of', 'the total of'"),
    ("likewise", "ctmnsk", words(r"\blikewise\b"), "repeat the noun: 'the receiver also'"),
    ("be-it", "ctmnsk", words(r"\bbe (?:it|they)\b(?=[^?]*$)"), "'whether ... or ...'"),
    ("in-the-mean", "ctmnsk", words(r"\bin the mean\b"), "'on average'"),
    ("in-all", "ctmnsk", words(r"\bin all(?=[.,;:)]|$)"), "'in total'"),
    ("beside", "ctmnsk", words(r"\bbeside\b|\bbesides(?=[.,;:)]|$)"), "'next to', 'in addition'"),
    ("in-vain", "ctmnsk", words(r"\bin vain\b"), "say what fails: 'would time out'"),
    ("but-for", "ctmnsk", words(r"\bbut for\b"), "'except', 'only'"),
    ("so-many", "ctmnsk",
     words(r"(?:^|\b(?:for|of|in|after|at|by|most|than|with|to|is|takes?|are|up to) )"
           r"so (?:many|much)\b(?! (?:that|as))"),
     "the number by name: 'n rounds', 'max_bytes'"),
    ("unasked", "ctmnsk", words(r"\bunasked\b"), "'pushed', 'without a request'"),
    ("is-to-be", "ctmnsk", words(r"\b(?:is|are|was|were) to be \w+ed\b"),
     "'must be', 'will be', or the active verb"),
    ("is-said", "ctmnsk", words(r"(?<!can )\b(?:is|are|was|were|be) said\b(?! to\b)"),
     "'prints', 'reports', 'is written in the config'"),
    ("has-come", "ctmnsk",
     words(r"\b(?:has|have|had) come\b(?! (?:from|back|up)\b)"
           r"|\b(?:what|those that|one that) (?:has )?c[ao]me\b"),
     "'has arrived', 'was received'"),
]

BAR = re.compile(r"^-{3,}\s*(.*?)\s*-*$")
BAR_WORDS = words(r"\b(?:their|its|his|them|it|those|others|the whole|all|what|who)\b")
RULE_ADVICE = [(name, advice) for name, _, _, advice in OPENERS + TRAILING + WORDS] + [
    ("long", f"one idea a sentence; at most {MAX_WORDS} words"),
    ("bar", "a topic, not a pronoun: 'memory of large tuples'"),
    ("subject-long", f"at most {MAX_SUBJECT} columns"),
    ("subject-and", "one change a commit, or name the one purpose"),
]

# ---- text of files -----------------------------------------------------------------------------


class Unit:
    """One piece of prose: a paragraph of a comment or of Markdown, a name, or a string."""

    __slots__ = ("where", "text", "starts", "lines", "label")

    def __init__(self, where, pieces, label=""):
        """`pieces` are (line, text); they are joined by a space. `label` stands before them."""
        self.where = where
        self.label = label
        self.starts, self.lines, parts, at = [], [], [], 0
        for line, text in pieces:
            self.starts.append(at)
            self.lines.append(line)
            parts.append(text)
            at += len(text) + 1
        self.text = " ".join(parts)

    def line_at(self, offset):
        return self.lines[bisect.bisect_right(self.starts, offset) - 1]


NUMBER = r"(?<!\w)\d[\w'.]*"
CPP = re.compile(
    NUMBER + r'|//[^\n]*|/\*.*?\*/|R"(?P<d>[^()\\\s]{0,16})\(.*?\)(?P=d)"|"(?:\\.|[^"\\\n])*"'
    r"|'(?:\\.|[^'\\\n])+'", re.S)
SCRIPT = re.compile(
    NUMBER + r'|//[^\n]*|/\*.*?\*/|`(?:\\.|[^`\\])*`|"(?:\\.|[^"\\\n])*"'
    r"|'(?:\\.|[^'\\\n])*'", re.S)
LABEL = re.compile(r"^(?:[A-Z][a-z]+|[A-Z][a-z]+-safe|Requires):\s+")
TEST_NAME = re.compile(r'\b(?:TEST_CASE|SECTION|SCENARIO|TEMPLATE_TEST_CASE)\s*\(\s*'
                       r'((?:"(?:\\.|[^"\\])*"\s*)+)')
PIECE = re.compile(r'"((?:\\.|[^"\\])*)"')
STRINGS = re.compile(r'(?:"(?:\\.|[^"\\\n])*"\s*)+')
SKIPPED = re.compile(r"SPDX-License|clang-format|NOLINT|^!/|^[-=*_/#\s]*$|^\s*\S+\.(?:hpp|cpp)\s*$")


def comment_units(comments):
    """Returns the units of `comments`, which are (line, column, is_trailing, text).

    Adjacent comments in one column become a paragraph.
    """
    units, run = [], []

    def flush():
        if not run:
            return
        where = "t" if run[0][2] else "c"
        pieces, words = [], ""

        def end():
            if pieces:
                units.append(Unit(where, pieces, words))

        for line, _, _, text in run:
            label = LABEL.match(text)
            bar = BAR.match(text)
            if not text or label or bar or text.startswith(("- ", "* ", "|", "  ")):
                end()
                pieces, words = [], label.group() if label else ""
                if bar:
                    if bar.group(1):
                        units.append(Unit("b", [(line, bar.group(1))]))
                    continue
                text = text[label.end():] if label else text.lstrip("-*| ")
            if text and not SKIPPED.search(text):
                pieces.append((line, text))
        end()
        run.clear()

    for comment in comments:
        if run and not (comment[0] == run[-1][0] + 1 and comment[1] == run[-1][1] and
                        not comment[2]):
            flush()
        run.append(comment)
    flush()
    return units


def line_starts(text):
    starts = [0]
    for found in re.finditer("\n", text):
        starts.append(found.end())
    return starts


def code_units(text, lexer, in_tests):
    starts = line_starts(text)
    comments, units, last_string = [], [], None
    for found in lexer.finditer(text):
        token = found.group()
        if token[:2] not in ("//", "/*"):
            continue
        line = bisect.bisect_right(starts, found.start())
        begin = starts[line - 1]
        before = text[begin:found.start()]
        column = found.start() - begin
        trailing = bool(before.strip())
        if token.startswith("//"):
            comments.append((line, column, trailing, token.lstrip("/").lstrip("!<").strip()))
        else:
            for i, part in enumerate(token[2:-2].split("\n")):
                comments.append((line + i, column, trailing and i == 0, part.strip(" *\t!<")))
    for number, (line, column, trailing, said) in enumerate(comments):
        # Line 2 of a file is "path — purpose". Only the purpose is prose.
        if line == 2 and " — " in said:
            comments[number] = (line, column, trailing, said.split(" — ", 1)[1])
    units = comment_units(comments)
    if lexer is CPP:
        for found in TEST_NAME.finditer(text):
            name = "".join(PIECE.findall(found.group(1)))
            line = bisect.bisect_right(starts, found.start())
            units.append(Unit("n", [(line, name)]))
        if not in_tests:
            units.extend(string_units(text, lexer, starts))
    return units


def string_units(text, lexer, starts):
    """Help and messages: runs of adjacent literals of four words or more."""
    units, run, end = [], [], None

    def flush():
        said = " ".join(piece for _, piece in run)
        if said.count(" ") >= 3 and re.match(r"[A-Za-z`'{]", said):
            units.append(Unit("s", list(run)))
        run.clear()

    for found in lexer.finditer(text):
        token = found.group()
        if token[0] != '"':
            continue
        if run and text[end:found.start()].strip():
            flush()
        line = bisect.bisect_right(starts, found.start())
        run.append((line, re.sub(r"\\.", " ", token[1:-1]).strip()))
        end = found.end()
    flush()
    return units


def hash_units(text):
    """Shell, CMake, YAML: a hash that begins a line or follows a space, outside of quotes."""
    comments = []
    for number, line in enumerate(text.split("\n"), 1):
        if "#" not in line or line.startswith("#!"):
            continue
        plain = re.sub(r'"(?:\\.|[^"\\])*"|\'[^\']*\'', lambda m: "\0" * len(m.group()), line)
        found = re.search(r"(?:^|\s)#+(?=\s|$)", plain)
        if not found:
            continue
        at = found.start() + (0 if plain[found.start()] == "#" else 1)
        comments.append((number, at, bool(line[:at].strip()), line[at:].lstrip("#").strip()))
    return comment_units(comments)


def python_units(text):
    comments, units, previous = [], [], None
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT and not token.string.startswith("#!"):
                line, column = token.start
                comments.append((line, column, bool(token.line[:column].strip()),
                                 token.string.lstrip("#").strip()))
            elif token.type == tokenize.STRING:
                if previous in (None, "docstring"):
                    block = []
                    for i, part in enumerate(re.sub(r'^\w*("""|\'\'\'|"|\')|("""|\'\'\'|"|\')$', "",
                                                    token.string).split("\n")):
                        block.append((token.start[0] + i, 0, False, part.strip()))
                    units.extend(comment_units(block))
                elif previous == "help":
                    units.append(Unit("s", [(token.start[0], token.string.strip("'\""))]))
            if token.type in (tokenize.INDENT, tokenize.DEDENT, tokenize.NEWLINE):
                previous = "docstring" if token.type == tokenize.INDENT else previous
                if token.type == tokenize.NEWLINE and previous != "docstring":
                    previous = "code"
            elif token.type in (tokenize.NL, tokenize.COMMENT, tokenize.ENCODING):
                pass
            elif token.type == tokenize.OP and token.string == "=" and previous == "help-name":
                previous = "help"
            elif token.type == tokenize.NAME and token.string in ("help", "description"):
                previous = "help-name"
            else:
                previous = "code"
    except (tokenize.TokenError, IndentationError, SyntaxError):
        return hash_units(text)
    return comment_units(comments) + units


def markdown_units(text):
    units, pieces, fence = [], [], None

    def flush():
        if pieces:
            units.append(Unit("m", list(pieces)))
        pieces.clear()

    for number, line in enumerate(text.split("\n"), 1):
        stripped = line.strip()
        opened = re.match(r"(```+|~~~+)", stripped)
        if opened and (fence is None or stripped.startswith(fence)):
            flush()
            fence = None if fence else opened.group(1)
            continue
        if fence or line.startswith("    ") and not pieces:
            continue
        if stripped.startswith("|"):
            flush()
            for cell in re.split(r"(?<!\\)\|", stripped.strip("|")):
                if re.search(r"[a-z]", cell):
                    units.append(Unit("m", [(number, cell.strip())], label="cell"))
            continue
        if not stripped or stripped.startswith(("#", "<!--")):
            flush()
            if stripped.startswith("#"):
                units.append(Unit("m", [(number, stripped.lstrip("# "))], label="head"))
            continue
        item = re.match(r"(?:[-*+]|\d+\.)\s+", stripped)
        if item:
            flush()
            stripped = stripped[item.end():]
        pieces.append((number, stripped))
    flush()
    return units


HASHES = (".cmake", ".yaml", ".yml", ".sh", ".bash")
CODE = (".cpp", ".hpp", ".h", ".cc", ".hh", ".c", ".in.hpp")
SCRIPTS = (".ts", ".tsx", ".js", ".mjs", ".css")


def units_of(path, text):
    base = os.path.basename(path)
    if base.endswith(CODE):
        return code_units(text, CPP, path.startswith("tests/"))
    if base.endswith(SCRIPTS):
        return code_units(text, SCRIPT, True)
    if base.endswith(".py"):
        return python_units(text)
    if base.endswith(".md"):
        return markdown_units(text)
    if base == "CMakeLists.txt" or base.endswith(HASHES):
        return hash_units(text)
    first = text[:80].split("\n", 1)[0]
    if first.startswith("#!"):
        return python_units(text) if "python" in first else hash_units(text)
    return []


# ---- hits --------------------------------------------------------------------------------------

HIDDEN = re.compile(r"`[^`]*`|\"[^\"]*\"|“[^”]*”|https?://\S+|\]\([^)]*\)")
SENTENCE = re.compile(r"(?<!e\.g\.)(?<!i\.e\.)(?<!et al\.)(?<!vs\.)(?<!cf\.)(?<=[.!?])"
                      r"[\"')*]*\s+(?=[A-Z`\"(*])")
WORD = re.compile(r"[A-Za-z0-9][\w'’.-]*")


def hide(found):
    """Returns quoted text as one word of the same length, so that offsets stay valid."""
    return "X" + "x" * (len(found.group()) - 1)


def sentences(text):
    at = 0
    for found in SENTENCE.finditer(text):
        yield at, text[at:found.start()]
        at = found.end()
    if at < len(text):
        yield at, text[at:]


def hits_of(unit):
    """Yields (line, last line, rule, text)."""
    plain = HIDDEN.sub(hide, unit.text)
    where = unit.where
    if where == "b":
        if BAR_WORDS.search(plain):
            yield unit.lines[0], unit.lines[0], "bar", unit.text
        return
    first = True
    for at, sentence in sentences(plain):
        begin, end = unit.line_at(at), unit.line_at(at + max(len(sentence) - 1, 0))
        shown = unit.text[at:at + len(sentence)]
        bare = sentence.lstrip("(*[_ \"'")
        if where != "k":
            if not unit.label or not first:
                for name, places, pattern, _ in OPENERS:
                    if where in places and pattern.match(bare):
                        yield begin, end, name, shown
            if first and where == "t":
                for name, _, pattern, _ in TRAILING:
                    if pattern.match(bare):
                        yield begin, end, name, shown
            if len(WORD.findall(sentence)) > MAX_WORDS and where != "n":
                yield begin, end, "long", shown
        for name, places, pattern, _ in WORDS:
            if where not in places:
                continue
            found = pattern.search(sentence)
            if found:
                line = unit.line_at(at + found.start())
                yield line, line, name, shown
        first = False


def subject_hits(subject):
    unit = Unit("k", [(1, subject)])
    hits = [(rule, text) for _, _, rule, text in hits_of(unit)]
    if len(subject) > MAX_SUBJECT:
        hits.append(("subject-long", subject))
    if re.search(r", and \w+", subject):
        hits.append(("subject-and", subject))
    return hits


# ---- files and lines ---------------------------------------------------------------------------


def git(*arguments):
    done = subprocess.run(["git", *arguments], capture_output=True, text=True, errors="replace")
    return done.stdout if done.returncode == 0 else ""


def added_lines(base):
    """Returns the set of added lines for each path; None stands for a whole file."""
    added, path = collections.defaultdict(set), None
    for line in git("diff", "-U0", "--no-color", "--no-ext-diff", "--relative", "--src-prefix=a/",
                    "--dst-prefix=b/", base).split("\n"):
        if line.startswith("+++ "):
            path = line[6:] if line.startswith("+++ b/") else None
        elif line.startswith("@@") and path:
            found = re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line)
            first, count = int(found.group(1)), int(found.group(2) or 1)
            added[path].update(range(first, first + count))
    for path in git("ls-files", "-o", "--exclude-standard").split("\n"):
        if path:
            added[path] = None
    return added


def listed_files(paths):
    tracked = git("ls-files", "--", *paths).split("\n")
    files = [path for path in tracked if path]
    if files or not paths:
        return files
    for path in paths:  # reached only if Git has no files for the paths
        if os.path.isfile(path):
            files.append(path)
        for folder, _, names in os.walk(path):
            files.extend(os.path.join(folder, name) for name in names)
    return sorted(files)


def read_text(path):
    try:
        if os.path.islink(path) or os.path.getsize(path) > 4_000_000:
            return ""
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError):
        return ""


def is_under(path, paths):
    return not paths or any(path == one.rstrip("/") or path.startswith(one.rstrip("/") + "/")
                            for one in paths)


# ---- the ratchet -------------------------------------------------------------------------------

COUNTS = "scripts/prose_counts.txt"
EXCEPTIONS_MAX = 20
NO_HITS = re.compile(r"README\.md$|docs/(tutorial|how-to)/.*\.md$"
                     r"|(base|runtime|pastset|eventspace|collectives|paths|groups|wrappers)"
                     r"/.*\.hpp$")
EXCEPTED = re.compile(r"prose: ok ([\w-]+)")


def counted_hits():
    """Returns the hits by top folder, the hits in files that may have none, and the exceptions."""
    counts, forbidden, exceptions = collections.Counter(), [], 0
    for path in listed_files([]):
        text = read_text(path)
        lines = text.split("\n")
        exceptions += 0 if path.endswith("prose.py") else len(EXCEPTED.findall(text))
        for unit in units_of(path, text):
            for begin, end, rule, shown in hits_of(unit):
                if any(rule in EXCEPTED.findall(line) for line in lines[begin - 1:end]):
                    continue
                counts[path.split("/")[0] if "/" in path else "."] += 1
                if NO_HITS.match(path):
                    forbidden.append(f"{path}:{begin}: {rule}: {shown}")
    return counts, forbidden, exceptions


def check_counts(is_to_shrink):
    advice = dict(RULE_ADVICE)
    counts, forbidden, exceptions = counted_hits()
    allowed = dict(line.split() for line in read_text(COUNTS).split("\n")
                   if line and not line.startswith("#"))
    wrong = [f"{one}\n    write: {advice[one.split(': ')[1]]}" for one in forbidden]
    for folder, count in sorted(counts.items()):
        if count > int(allowed.get(folder, 0)):
            wrong.append(f"{folder}: {count} sentences that readers stumble over, "
                         f"{allowed.get(folder, 0)} allowed: run scripts/prose.py {folder}")
    if exceptions > EXCEPTIONS_MAX:
        wrong.append(f"{exceptions} lines say `prose: ok`; at most {EXCEPTIONS_MAX}")
    if is_to_shrink:
        with open(COUNTS, "w", encoding="utf-8") as file:
            file.write("# Sentences that readers stumble over, by top folder. May only shrink.\n")
            for folder in sorted(counts):
                file.write(f"{folder} {min(counts[folder], int(allowed.get(folder, 10**9)))}\n")
    print("\n".join(wrong))
    sys.exit(1 if wrong else 0)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1], add_help=True)
    parser.add_argument("--changed", metavar="BASE")
    parser.add_argument("--count", action="store_true")
    parser.add_argument("--sample", type=int, default=0, metavar="N")
    parser.add_argument("--seed", default=None)
    parser.add_argument("--rules", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--shrink", action="store_true")
    parser.add_argument("paths", nargs="*")
    given = parser.parse_args()
    if given.check or given.shrink:
        check_counts(given.shrink)
    if given.rules:
        for name, advice in RULE_ADVICE:
            print(f"{name:18} {advice}")
        return
    added = added_lines(given.changed) if given.changed else None
    files = listed_files(given.paths) if added is None else sorted(
        path for path in added if is_under(path, given.paths))
    found, comments = [], []
    for path in files:
        lines = added[path] if added is not None else None
        for unit in units_of(path, read_text(path)):
            if unit.where in "ctb" and (lines is None or not lines.isdisjoint(unit.lines)):
                if unit.text.count(" ") >= 2:
                    comments.append((path, unit.lines[0], unit.label + unit.text))
            for begin, end, rule, text in hits_of(unit):
                if lines is None or not lines.isdisjoint(range(begin, end + 1)):
                    found.append((f"{path}:{begin}", path.split("/")[0] if "/" in path else ".",
                                  rule, text))
    if given.sample:
        chosen = random.Random(given.seed).sample(comments, min(given.sample, len(comments)))
        for path, line, text in sorted(chosen):
            print(f"{path}:{line}: {text}")
        return
    if added is not None:
        for entry in git("log", "--format=%h%x09%s", f"{given.changed}..HEAD").split("\n"):
            if "\t" in entry:
                commit, subject = entry.split("\t", 1)
                found.extend((f"commit {commit}", "commits", rule, text)
                             for rule, text in subject_hits(subject))
    if given.count:
        counts = collections.defaultdict(collections.Counter)
        for _, folder, rule, _ in found:
            counts[folder][rule] += 1
            counts["total"][rule] += 1
        for rules in counts.values():
            rules["all"] = sum(rules.values())
        print(json.dumps({folder: dict(sorted(rules.items()))
                          for folder, rules in sorted(counts.items())}, indent=1))
        return
    shown = {}  # one line for each sentence, with all its rules
    for where, _, rule, text in found:
        place, _, line = where.rpartition(":")
        shown.setdefault((place or where, text), (where, []))[1].append(rule)
    for (_, text), (where, rules) in shown.items():
        print(f"{where}: {', '.join(rules)}: {text if len(text) <= 200 else text[:197] + '...'}")


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        sys.stderr.close()
