#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Puts mistakes into a small tree and checks that the scripts report each and nothing else."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"
SPDX = "// SPDX-License-Identifier: Apache-2.0\n"


def header(path, body=""):
    return {path: f"{SPDX}// {path} — a job.\n#pragma once\n{body}"}


def write(root, files):
    for path, text in files.items():
        file = pathlib.Path(root, path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")


def run(script, files):
    """Returns the output of a script for a tree with these files."""
    with tempfile.TemporaryDirectory() as root:
        write(root, files)
        done = subprocess.run([sys.executable, SCRIPTS / script, root],
                              capture_output=True, text=True, check=False)
        assert not done.stderr, done.stderr
        assert (done.returncode == 0) == (not done.stdout)
        return done.stdout


class CheckModules(unittest.TestCase):
    TREE = {path: "" for path in ("base/a.hpp", "paths/p.hpp", "tests/support/t.hpp",
                                  "wrappers/delay.hpp", "wrappers/join.hpp", "bench/b.hpp",
                                  "bench/one/o.hpp", "paths/host/h.hpp", "paths/run/r.hpp",
                                  "paths/joins/r.hpp", "paths/config/expand/e.hpp")}

    def includes(self, file, *headers):
        lines = "".join(f"#include {header}\n" for header in headers)
        return run("check_modules.py", {**self.TREE, file: lines})

    def test_what_is_allowed(self):
        self.assertEqual("", self.includes("base/a.cpp", '"base/a.hpp"', "<vector>"))
        self.assertEqual("", self.includes("wrappers/delay.cpp", '"wrappers/delay.hpp"',
                                           '"paths/p.hpp"'))
        self.assertEqual("", self.includes("wrappers/all.cpp", '"wrappers/delay.hpp"',
                                           '"wrappers/join.hpp"'))
        self.assertEqual("", self.includes("tests/paths/p_test.cpp", '"tests/support/t.hpp"',
                                           '"bench/b.hpp"', "<catch2/catch.hpp>"))
        self.assertEqual("", self.includes("paths/wire/zmq/sockets.cpp", "<zmq.hpp>"))

    def test_upwards(self):
        self.assertIn("base/a.cpp:1: base/ may not include paths/",
                      self.includes("base/a.cpp", '"paths/p.hpp"'))
        self.assertIn("may not include bench/", self.includes("commands/c.cpp", '"bench/b.hpp"'))

    def test_between_wrappers(self):
        self.assertIn("another wrapper", self.includes("wrappers/delay.cpp",
                                                       '"wrappers/join.hpp"'))

    def test_folders_that_are_modules(self):
        self.assertEqual("", self.includes("paths/host/x.cpp", '"paths/p.hpp"'))
        self.assertIn("paths/joins/ may not include paths/host/",
                      self.includes("paths/joins/x.cpp", '"paths/host/h.hpp"'))
        self.assertIn("paths/ may not include paths/host/",
                      self.includes("paths/x.cpp", '"paths/host/h.hpp"'))
        self.assertIn("paths/host/ may not include paths/config/",
                      self.includes("paths/host/x.cpp", '"paths/config/expand/e.hpp"'))
        self.assertIn("how it is run", self.includes("wrappers/delay.cpp", '"paths/run/r.hpp"'))
        self.assertEqual("", self.includes("wrappers/main.hpp", '"paths/run/r.hpp"'))
        self.assertIn("another one", self.includes("bench/two/x.cpp", '"bench/one/o.hpp"'))

    def test_no_such_file(self):
        self.assertIn("is no file", self.includes("base/a.cpp", '"a.hpp"'))

    def test_doors(self):
        for file, door in (("base/a.cpp", "<yaml-cpp/yaml.h>"), ("paths/p.cpp", "<zmq.h>"),
                           ("paths/p.cpp", "<boost/fiber/all.hpp>"), ("paths/p.cpp", "<xxh3.h>"),
                           ("paths/p.cpp", "<CLI/CLI.hpp>"), ("base/a.cpp", "<spdlog/spdlog.h>"),
                           ("runtime/r.cpp", "<nlohmann/json.hpp>"),
                           ("examples/e.cpp", "<catch2/catch.hpp>"),
                           ("commands/c.cpp", "<benchmark/benchmark.h>")):
            self.assertIn(f"{door} may be included only in", self.includes(file, door))


class Tidy(unittest.TestCase):
    def says(self, path, body, **more):
        text = header(path, body) if path.endswith(".hpp") else {path: SPDX + body}
        return run("tidy.py", {**text, **more})

    def test_clean(self):
        self.assertEqual("", self.says("base/a.hpp", "// steady_clock\nint f() { return 1; }\n"))
        self.assertEqual("", self.says("paths/p.cpp", "void f() { runtime.sleep_for(1); }\n"))
        self.assertEqual("", self.says("runtime/r.cpp", "std::mutex mutex;\n"))
        self.assertEqual("", self.says("bench/b.cpp",
                                       "auto t = steady_clock::now();  // tidy: real time\n"))
        self.assertEqual("", self.says("examples/e.cpp", "std::thread t;  // tidy: own thread\n"))

    def test_banned(self):
        for word in ("std::chrono::steady_clock::now()", "std::this_thread::sleep_for(1s)",
                     "std::this_thread::yield()", "std::random_device d", "rand()",
                     "std::thread t", "std::mutex m", "std::condition_variable c"):
            self.assertIn("base/a.cpp:2: ", self.says("base/a.cpp", f"auto x = {word};\n"), word)
        self.assertIn("for runtime/ only", self.says("paths/p.cpp", "steady_clock::now();"
                                                     "  // tidy: real time\n"))
        self.assertIn("for runtime/ only", self.says("paths/p.cpp", "std::thread t;"
                                                     "  // tidy: own thread\n"))
        self.assertIn("for runtime/ only", self.says("tests/t.cpp", "std::thread t;"
                                                     "  // tidy: real time\n"))

    def test_standard_error(self):
        for line in ('fmt::print(stderr, "x");', "std::cerr << 1;"):
            self.assertIn("base::say()", self.says("bench/b.cpp", f"void f() {{ {line} }}\n"))
            self.assertEqual("", self.says("tests/b.cpp", f"void f() {{ {line} }}\n"))
        self.assertEqual("", self.says("paths/p.cpp", 'void f() { fmt::print("x"); }\n'))

    def test_layout(self):
        self.assertIn("101 columns", self.says("base/a.cpp", "/" * 101 + "\n"))
        self.assertIn("a tab", self.says("base/a.cpp", "\tint x;\n"))
        self.assertIn("blanks at the end", self.says("base/a.cpp", "int x; \n"))
        self.assertIn("unfinished", self.says("base/a.cpp", "// TO" "DO\n"))
        self.assertIn("one machine", self.says("docs/a.md", "see /ho" "me/somebody/x\n"))

    def test_names_of_cases(self):
        name = 'TEST_CASE(\n    "a: one" ", two{}") {{}}\n'
        self.assertEqual("", self.says("tests/a/a_test.cpp", name.format("")))
        self.assertIn("no ';' in the name", self.says("tests/a/a_test.cpp", name.format("; three")))

    def test_heads(self):
        self.assertIn("line 1 must be", run("tidy.py", {"base/a.cpp": "int x;\n"}))
        self.assertIn("line 2 must be", run("tidy.py", {"base/a.hpp": SPDX + "int x;\n"}))
        self.assertIn("#pragma once", run("tidy.py", {"base/a.hpp": SPDX + "int x;\n"}))
        self.assertIn("no 'SPDX", run("tidy.py", {"scripts/a.py": "x = 1\n"}))

    def test_long_functions(self):
        body = "  if (x) {\n    y('{', \"}\");\n  }\n" * 23 + "  z();\n"  # 70 lines
        for head in ("void f()", "A::f() : a_{1}, b_{2}", "void f(A a = {})", "template <class T>\n"
                     "requires(true) void f()", "TEST_CASE(\"f {\")"):
            code = "namespace a {\nclass B {\n public:\n" + head + " {\n" + body + "}\n};\n}\n"
            self.assertRegex(self.says("base/a.cpp", code), "base/a.cpp:5: .* 7[23] lines", head)
        short = "class B {\n" + "  int f() { return 1; }\n" * 80 + "};\n"
        self.assertEqual("", self.says("tests/a.cpp", short))

    def test_large_classes(self):
        head = "template <class T>\nclass B final : public A<void()> {\n public:\n"
        members = ["B() : x_{1} { f(); }", "~B();", "bool operator()(int x) const;",
                   "std::function<void(int)> f();", "template <class Y> void g(Y y = {}) {}"]
        others = ["int x_ = f();", "int y_{f()};", "std::function<void()> work_;",
                  "using F = void (*)(int);", "enum class E { a, b };", "friend void h();",
                  "struct C {\n void inner();\n };"]
        for copies in (5, 6):  # 25 functions are permitted, 30 are not
            lines = "\n".join(members * copies + others)
            code = f"namespace a {{\n{head}{lines}\n}};\n}}\n"
            wanted = "base/a.cpp:4: B has 30 functions; at most 25: split it\n"
            self.assertEqual(wanted if copies == 6 else "", self.says("base/a.cpp", code))
            self.assertEqual("", self.says("tests/a.cpp", code))


class CheckCommands(unittest.TestCase):
    # A program `paths` with two sub-commands. `paths check` fails if the config has no word `good`.
    PATHS = """#!/bin/sh
case "$*" in
--help) printf 'Programs.\nSubcommands:\n  check    x\n  run      x\n' ;;
*--help) echo '-o,--output FILE  --clock NAME' ;;
check*) grep -q good $2 ;;
esac
"""

    def says(self, page):
        """Returns the output for a README.md, with (error) in front if the script failed."""
        with tempfile.TemporaryDirectory() as root:
            write(root, {"README.md": page, "bin/paths": self.PATHS,
                         "bin/solver": "#!/bin/sh\necho -o,--output\n", "bench/solver.cpp": "",
                         "bench/other.cpp": "", "configs/a.yaml": "good",
                         "scripts/build": "--fast"})
            for program in pathlib.Path(root, "bin").iterdir():
                program.chmod(0o755)
            done = subprocess.run([sys.executable, SCRIPTS / "check_commands.py", f"{root}/bin",
                                   root], capture_output=True, text=True, check=False)
            assert not done.stderr, done.stderr
            return ("(error) " if done.returncode else "") + done.stdout

    def test_clean(self):
        for page, count in (
                ("    paths check configs/a.yaml\n\n    its output\n", "1 run"),
                ("```sh\npaths run configs/a.yaml --clock virtual -- \\\n  solver -o x\n```",
                 "1 run"),
                ("    for a in b; do\n      paths check configs/a.yaml\n    done", "1 run"),
                ("This is `b.yaml`:\n\n```yaml\ngood\n```\n\n`paths check b.yaml`", "1 run"),
                ("    paths check FILE # what it does", "1 checked only"),
                ("`paths run FILE --clock\nvirtual -- PROGRAM`, `solver`", "1 checked only"),
                ("<!-- not run: slow -->\n    sudo scripts/build --fast | x", "1 not run, slow"),
                ("```cpp\npaths nothing\n```", "0 commands"),
                ("    paths run configs/a.yaml --clock virtual -- other", "1 skipped")):
            self.assertRegex(self.says(page), rf"^[^(]*\b{count}", page)

    def test_names(self):
        for page, mistake in (
                ("`paths chekc FILE`", "README.md:1: no such sub-command: paths chekc"),
                ("a\n\n    paths check FILE --ouput x", "README.md:3: no such option: --ouput"),
                ("`paths run FILE -- solver -p`", "no such option: -p"),
                ("`paths run FILE -- sovler`", "no such program: sovler"),
                ("`scripts/bulid`", "no such script: scripts/bulid"),
                ("`scripts/build --slow`", "no such option: --slow"),
                ("`paths check configs/b.yaml`", "no such file: configs/b.yaml")):
            self.assertRegex(self.says(page), rf"^\(error\) .*{mistake}", page)

    def test_runs(self):
        wrong = "In `b.yaml`:\n\n```yaml\nbad\n```\n\n"
        for command in ("`paths check b.yaml`", "    paths check b.yaml"):
            self.assertIn("README.md:7: exit status 1", self.says(wrong + command))
        for command in ("paths run configs/a.yaml -- solver", "scripts/build",
                        "ping x | paths check configs/a.yaml"):
            self.assertIn("README.md:1: may not run", self.says("    " + command))
            self.assertNotIn("(error)", self.says("<!-- not run: slow -->\n    " + command))


if __name__ == "__main__":
    unittest.main()
