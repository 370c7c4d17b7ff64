#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tutorial_test.py <build directory> [no-page]: carries out docs/tutorial/first-program.md.

With `no-page`, the commands are run without `--html report.html`. Use it if the programs of the
build directory cannot write the HTML report.

The home directory is a temporary folder. The programs are those of the build directory. The
language of a block of the tutorial decides its use:

sh              commands for one shell. Each exit code must be 0. If the block contains a comment
                `# exit code N`, it has one command, whose exit code must be N.
text            expected output of the block before it. `...` matches any text; on a line of its
                own it matches any number of lines.
anything else   content of a file. Its name is the last word `in backquotes` before the block.
"""
import os
import re
import shlex
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[2]
HOSTS_MAX = 6
SECONDS_MAX = 240


def blocks(page):
    """Yields (language, text, preceding text) of each block."""
    before = ""
    for part in re.finditer(r"(.*?)^```(\w+)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE):
        before, language, text = part.groups()
        yield language, text, before


def free_ports():
    """Returns the first of HOSTS_MAX free consecutive ports. Other tests on this machine may use
    the default ports."""
    for first in range(20_000 + os.getpid() % 500 * 20, 32_000, HOSTS_MAX):
        try:
            for port in range(first, first + HOSTS_MAX):
                with socket.socket() as one:
                    one.bind(("127.0.0.1", port))
            return first
        except OSError:
            continue
    raise SystemExit("no free ports")


def prelude(build):
    """Returns shell functions for the tutorial's commands. scripts/build builds nothing again, and
    `paths run` uses free ports instead of the default ones."""
    return f"""set -e
scripts/build() {{
  [[ "$*" == "release --target programs" ]] &&
    cmake --build {shlex.quote(str(build))} --target programs -- -n >/dev/null
}}
paths() {{
  if [[ $1 == run && "$*" != *"--clock virtual"* ]]; then
    command paths run --port {free_ports()} "${{@:2}}"
  else
    command paths "$@"
  fi
}}
"""


def script_of(page, build, scratch):
    """Returns the page as a script, and (command, output file, expected output) of each block."""
    script = prelude(build)
    steps = []
    for language, text, before in blocks(page):
        if language == "sh":
            output = scratch / f"output-{len(steps)}"
            steps.append([text, output, None])
            code = re.search(r"# exit code (\d+)", text)
            script += f"{{ {text}}} >{output} 2>&1 {f'|| [[ $? == {code[1]} ]]' if code else ''}\n"
        elif language == "text":
            steps[-1][2] = text
        else:
            name = re.findall(r"`([\w.]+)`", before)[-1]
            script += f"cat >{name} <<'END OF FILE'\n{text}END OF FILE\n"
    return script, steps


def matches(expected, found):
    """Whether the output matches the page."""
    pattern = ""
    for line in expected.splitlines():
        if line == "...":
            pattern += r"(.*\n)*?"
        else:
            pattern += re.escape(line).replace(r"\.\.\.", ".*") + r"\n"
    return re.fullmatch(pattern, found) is not None


def checkout(build, folder):
    """Makes a folder of links to the sources, with this build tree as build/release."""
    folder.mkdir()
    for entry in SOURCES.iterdir():
        if entry.name != "build":
            (folder / entry.name).symlink_to(entry)
    (folder / "build").mkdir()
    (folder / "build/release").symlink_to(build)


def main():
    build = Path(sys.argv[1]).resolve()
    page = (SOURCES / "docs/tutorial/first-program.md").read_text(encoding="utf-8")
    if "no-page" in sys.argv[2:]:
        page = page.replace(" --html report.html", "")
    with tempfile.TemporaryDirectory(prefix="paths-tutorial-") as name:
        scratch = Path(name)
        checkout(build, scratch / "sources")
        script, steps = script_of(page, build, scratch)
        home = {k: v for k, v in os.environ.items() if not k.startswith("PATHS_")}
        home["HOME"] = str(scratch)
        done = subprocess.run(["bash", "-c", script], cwd=scratch / "sources", env=home,
                              timeout=SECONDS_MAX, check=False)
        failures = 0
        for command, output, expected in steps:
            found = output.read_text(encoding="utf-8") if output.exists() else "(it was not run)\n"
            right = output.exists() and (expected is None or matches(expected, found))
            print(f"{'ok    ' if right else 'FAILED'} {command.strip()}")
            if not right:
                failures += 1
                print(f"-- expected\n{expected or ''}-- found\n{found}")
        if done.returncode != 0:
            print(f"the shell ended with {done.returncode}")
        sys.exit(1 if failures or done.returncode else 0)


if __name__ == "__main__":
    main()
