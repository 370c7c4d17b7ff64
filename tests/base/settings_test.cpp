// SPDX-License-Identifier: Apache-2.0
// tests/base/settings_test.cpp — YAML settings: reading, refusal, and printing.
#include "base/settings.hpp"

#include <catch2/catch.hpp>
#include <cstdio>
#include <fstream>
#include <random>

#include "base/settings_print.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/thrown.hpp"

using base::ConfigError;
using base::Settings;
using Catch::Contains;
using Catch::EndsWith;

namespace {

Settings parse(std::string_view text) { return base::parse_settings(text, "f.yaml"); }

std::string mistakes_in(std::string_view text) {
  return test_support::thrown<ConfigError>([&] { parse(text); });
}

std::string repeated(std::string_view text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

bool same(const Settings& a, const Settings& b) {
  const auto same_entry = [](const Settings::Entry& x, const Settings::Entry& y) {
    return same(x.first, y.first) && same(x.second, y.second);
  };
  return a.kind() == b.kind() && a.text() == b.text() &&
         std::equal(a.items().begin(), a.items().end(), b.items().begin(), b.items().end(), same) &&
         std::equal(a.entries().begin(), a.entries().end(), b.entries().begin(), b.entries().end(),
                    same_entry);
}

/// Random trees of settings, with shapes and words that are difficult to write in YAML.
class Trees {
 public:
  explicit Trees(std::uint64_t seed) : random_(seed) {}

  Settings tree(int depth) {
    const std::size_t pick = below(depth > 0 ? 6 : 3);
    if (pick == 0) return Settings();
    if (pick <= 2) return Settings::scalar(word());
    std::vector<Settings> items;
    std::vector<Settings::Entry> entries;
    const std::size_t size = below(5);
    for (std::size_t i = 0; i < size; ++i) {
      Settings child = tree(depth - 1);
      entries.emplace_back(Settings::scalar(word() + std::to_string(i)), child);
      items.push_back(std::move(child));
    }
    return pick == 3 ? Settings::list(std::move(items)) : Settings::map(std::move(entries));
  }

  std::string word() {
    static const std::vector<std::string> hard = {
        "",     "~",    "null", "Null", "true",  "12",   "-",    "- a",    "-5",
        "--- ", "---",  "...",  "a: b", "a:",    ":a",   "a #b", "#a",     " a",
        "a ",   "<<",   "[a]",  "{a}",  "a,b",   "&a",   "*a",   "!a",     "%a",
        "@a",   "`a",   "|",    ">",    "?",     "? a",  "'a'",  "\"a\"",  "a\nb",
        "a\tb", "\n",   "\\n",  "a\\",  "\x01z", "\x7F", "é",    "日本語", "\xEF\xBB\xBFx",
        "a'b",  "a\"b", "=",    "a b c"};
    static constexpr std::string_view letters = "ab1-?:,[]{}#&*!|>'\"%@` \t\n\\~<=.^;$()/+_";
    const std::size_t pick = below(10);
    if (pick < 5) return hard[below(hard.size())];
    if (pick == 9) return std::string(below(3000), 'k');
    std::string text;
    for (std::size_t i = below(8); i > 0; --i) text += letters[below(letters.size())];
    return text;
  }

 private:
  std::size_t below(std::size_t bound) { return random_() % bound; }

  std::mt19937_64 random_;
};

}  // namespace

TEST_CASE("settings: a document keeps the order and text and positions of its values") {
  const Settings settings = parse("b: 1\na: [x, 'null', ~]\nc:\n  d: \"two words\"\n");
  REQUIRE(settings.is_map());
  REQUIRE(settings.entries().size() == 3);
  CHECK(settings.entries()[0].first.text() == "b");
  CHECK(settings.find("b")->text() == "1");
  CHECK(settings.find("z") == nullptr);
  const Settings& list = *settings.find("a");
  REQUIRE(list.items().size() == 3);
  CHECK(list.items()[1].is_scalar());
  CHECK(list.items()[2].is_null());
  CHECK(list.items()[1].position().text() == "f.yaml:2:8");
  CHECK(settings.find("c")->find("d")->text() == "two words");
  CHECK(settings.find("c")->find("d")->position().text() == "f.yaml:4:6");
}

TEST_CASE("settings: each kind has only its own contents") {
  const Settings word = Settings::scalar("x", {"a", 1, 1});
  CHECK(word.items().empty());
  CHECK(word.entries().empty());
  CHECK(word.find("x") == nullptr);
  CHECK(Settings().is_null());
  CHECK(Settings().text().empty());
  CHECK(Settings().position().line == 0);
}

TEST_CASE("settings: a description states the kind or the text of a value") {
  CHECK(Settings().describe() == "nothing");
  CHECK(Settings::scalar("fast").describe() == "'fast'");
  CHECK(Settings::list({Settings(), Settings()}).describe() == "a list of 2");
  CHECK(Settings::map({}).describe() == "a map");
  const std::string long_word = Settings::scalar(repeated("é", 500)).describe();
  CHECK(long_word == fmt::format("'{}...'", repeated("é", 20)));
}

TEST_CASE("settings: all duplicate keys are reported with both positions") {
  CHECK(mistakes_in("a: 1\nb: 2\na: 3\nx: {y: 1, y: 2}\n") ==
        "f.yaml:3:1: duplicate key 'a'; first given at line 1\n"
        "f.yaml:4:11: duplicate key 'y'; first given at line 4");
}

TEST_CASE("settings: invalid YAML is refused with its position") {
  CHECK_THAT(mistakes_in("a: b: c\n"), Contains("f.yaml:1:5: not YAML: "));
  CHECK_THAT(mistakes_in("a: [1, 2\n"),
             Contains("not YAML: expected ',' or ']' of the '[' in line 1"));
  CHECK_THAT(mistakes_in("a: \"never closed\n"), Contains("a quote is never closed"));
  CHECK_THAT(mistakes_in("a: 'never closed"), Contains("a quote is never closed"));
  CHECK_THAT(mistakes_in("a: *b\n"), Contains("anchor is not defined"));
  CHECK_THAT(mistakes_in("a: \"\\xzz\"\n"), Contains("not YAML: "));
}

TEST_CASE("settings: an empty file is refused") {
  for (const char* text : {"", "\n\n", "# only a comment\n", "---\n", "~\n", "%FOO\n"}) {
    CAPTURE(text);
    CHECK_THAT(mistakes_in(text), Contains("f.yaml:1:1: expected settings, found an empty file"));
  }
}

TEST_CASE("settings: binary files are refused with their first byte that is not UTF-8") {
  CHECK_THAT(mistakes_in(std::string_view("a: 1\nb: \0\n", 10)),
             Contains("f.yaml:2:4: expected text in UTF-8, found byte 0x00"));
  for (const char* text : {"a: \x04", "a: \xe9\n", "\xff\xfe", "a: \xc0\x80", "a: \xed\xa0\x80",
                           "a: \xf4\x90\x80\x80", "a: \xe2\x82", "a: \x80",
                           "\x7f"
                           "ELF\x02"}) {
    CAPTURE(text);
    CHECK_THAT(mistakes_in(text), Contains("expected text in UTF-8, found byte"));
  }
}

TEST_CASE("settings: UTF-8 text and byte order marks and Windows line ends are accepted") {
  CHECK(parse("\xEF\xBB\xBFname: \"日 é 😀\"\r\nb: 2\r\n").find("name")->text() == "日 é 😀");
}

TEST_CASE("settings: tags and merge keys are refused by name") {
  CHECK_THAT(mistakes_in("a: !fast 1\n"), Contains("tags are not supported, found '!fast'"));
  CHECK_THAT(mistakes_in("a: &x {b: 1}\nc: {<<: *x}\n"), Contains("merge keys '<<'"));
  CHECK(parse("'<<': 1\n").find("<<")->text() == "1");
  CHECK(parse("a: <<\n").find("a")->text() == "<<");
}

TEST_CASE("settings: keys must be words") {
  CHECK_THAT(mistakes_in("? [1, 2]\n: 3\n"), Contains("expected a word as key, found a list of 2"));
  CHECK_THAT(mistakes_in("~: 3\n"), Contains("expected a word as key, found nothing"));
}

TEST_CASE("settings: a second document is refused at its first line") {
  CHECK_THAT(mistakes_in("a: 1\n---\nb: 2\n"),
             Contains("f.yaml:2:1: expected the end of the file"));
  CHECK(mistakes_in("---\na: 1\n...\n") == "nothing");
}

TEST_CASE("settings: an alias stands for its anchored value") {
  const Settings settings = parse("a: &x {b: 1}\nc: [*x, *x]\n");
  CHECK(settings.find("c")->items()[1].find("b")->text() == "1");
  CHECK_THAT(mistakes_in("a: &x [*x]\n"), Contains("alias inside of its own value"));
}

TEST_CASE("settings: aliases that expand to millions of values are refused") {
  std::string bomb = "a0: &a0 [x, x]\n";
  for (int i = 1; i < 60; ++i) bomb += fmt::format("a{0}: &a{0} [*a{1}, *a{1}]\n", i, i - 1);
  CHECK_THAT(mistakes_in(bomb), Contains("more than 4000000 values"));
}

TEST_CASE("settings: 64 levels of nesting are read and the next is refused") {
  const auto nested = [](std::size_t levels) {
    return repeated("[", levels) + repeated("]", levels);
  };
  CHECK(mistakes_in("a: " + nested(63)) == "nothing");
  CHECK_THAT(mistakes_in("a: " + nested(64)), Contains("nested deeper than 64 levels"));
  std::string chain = "a0: &a0 []\n";
  for (int i = 1; i < 70; ++i) chain += fmt::format("a{0}: &a{0} [*a{1}]\n", i, i - 1);
  CHECK_THAT(mistakes_in(chain), Contains("nested deeper than 64 levels"));
  for (const char* opening : {"[", "{", "- ", "? ", "[\n", "{a: ", ": ", "[a, "}) {
    CAPTURE(opening);
    CHECK_THAT(mistakes_in(repeated(opening, 100'000)), Contains("nested deeper than 64 levels"));
  }
}

TEST_CASE("settings: a tab that indents a line is reported with its position") {
  const std::string words =
      "not YAML: a line is indented by a tab, which YAML does not allow; expected spaces";
  CHECK_THAT(mistakes_in("clusters:\n\talpha: {hosts: 2}\n"), Contains("f.yaml:2:1: " + words));
  CHECK_THAT(mistakes_in("clusters:\n  alpha:\n  \thosts: 2\n  beta: 1\n"),
             Contains("f.yaml:3:3: " + words));
  CHECK_THAT(mistakes_in("a:\n  b: 1\n\tc: 2\n"), Contains("f.yaml:3:1: " + words));
  CHECK_THAT(mistakes_in("\ta: 1\n"), Contains("f.yaml:1:1: " + words));
  // A tab in a permitted place must not be reported as the cause of another mistake.
  CHECK_THAT(mistakes_in("a:\t1 # \tone\n\t\nb: [1, 2\n"), !Contains("tab"));
  CHECK_THAT(mistakes_in("a: [1,\n\t2]\nb: 1\nc: 1\nd: 'x\n"), !Contains("tab"));
}

TEST_CASE("settings: a truncated config is read or refused with a position") {
  const std::string text =
      "clusters: &all\n  alpha: {hosts: [a1, a2], 'threads': 2}\n  beta:\n    hosts: \"b[1-2]\"\n"
      "links:\n  - {between: [alpha, beta], latency: 1ms} # slow\nmore: *all\n";
  for (std::size_t size = 0; size < text.size(); ++size) {
    CAPTURE(size);
    try {
      parse(text.substr(0, size));
    } catch (const ConfigError& error) {
      REQUIRE_FALSE(error.mistakes().empty());
      REQUIRE(error.mistakes().front().position.line > 0);
    }
  }
}

TEST_CASE("settings: a file above the size limit is refused without reading it") {
  CHECK_THAT(mistakes_in(std::string(10u << 20, '[')), Contains("larger than 8388608 bytes"));
}

TEST_CASE("settings: random text is read or refused without a crash") {
  const std::uint64_t seed = Catch::rngSeed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  constexpr std::string_view letters = "ab :-?[]{},#&*!|>'\"%@`\n\n \t\\~<.";
  for (int i = 0; i < 5000; ++i) {
    std::string text;
    for (std::size_t j = random() % 60; j > 0; --j) text += letters[random() % letters.size()];
    CAPTURE(text);
    try {
      const Settings settings = parse(text);
      const std::string printed = base::print_settings(settings);
      CAPTURE(printed);
      REQUIRE(same(parse(printed), settings));
    } catch (const ConfigError& error) {
      REQUIRE_FALSE(error.mistakes().empty());
    }
  }
}

TEST_CASE("settings: a very long list of mistakes is cut") {
  try {
    parse(repeated("a: 1\n", 10'000));
    FAIL("duplicate keys were read");
  } catch (const ConfigError& error) {
    CHECK(error.mistakes().size() == 100);
    CHECK(error.mistakes().front().position.text() == "f.yaml:2:1");
    CHECK_THAT(error.what(), EndsWith("f.yaml:101:1: duplicate key 'a'; first given at line 1\n"
                                      "and 9899 more"));
  }
}

TEST_CASE(
    "settings: the mistakes that are printed are the first of the file in any order of reporting") {
  base::Mistakes mistakes;
  for (int line = 1000; line > 0; --line) mistakes.add({"f", line, 1}, "wrong");
  mistakes.add({"f", 7, 1}, "wrong");
  mistakes.add({"f", 777, 1}, "wrong");
  CHECK(mistakes.size() == 1002);
  try {
    mistakes.throw_if_any();
    FAIL("nothing was thrown");
  } catch (const ConfigError& error) {
    CHECK(error.mistakes().size() == 100);
    CHECK(error.mistakes().front().position.line == 1);
    CHECK(error.mistakes().back().position.line == 100);
    CHECK_THAT(error.what(), EndsWith("f:100:1: wrong\nand 900 more"));
  }
}

TEST_CASE("settings: a mistake about a long text is cut between two characters") {
  base::Mistakes mistakes;
  mistakes.add({"f", 1, 1}, "a" + repeated("\xc3\xa4", 2000));
  CHECK_THROWS_WITH(mistakes.throw_if_any(), "f:1:1: a" + repeated("\xc3\xa4", 999) + "...");
}

TEST_CASE("settings: a file that cannot be read is a mistake with its name") {
  CHECK_THROWS_WITH(base::load_settings("/nowhere/f.yaml"),
                    Contains("/nowhere/f.yaml: cannot be read: No such file"));
  CHECK_THROWS_WITH(base::load_settings("/tmp"), Contains("/tmp: cannot be read: Is a directory"));
  CHECK_THROWS_WITH(base::load_settings("/dev/zero"), Contains("larger than"));
}

TEST_CASE("settings: every position in a file has its name") {
  const test_support::WrittenFile file("a: 1\n");
  CHECK(base::load_settings(file.path()).find("a")->position().text() == file.path() + ":1:4");
}

TEST_CASE("settings: printing uses block style and puts short lists of words on one line") {
  const std::string text =
      "name: two words\n"
      "latency: {alpha: 30ms, beta: \"a, b\"}\n"
      "hosts: [a, b, ~]\n"
      "none: []\n"
      "stages:\n"
      "  - {kind: sum, width: 8}\n"
      "  - kind: tree\n"
      "    children: [1, 2]\n"
      "    empty: {}\n";
  CHECK(base::print_settings(parse(text)) == text);
}

TEST_CASE("settings: a list too long for one line gets one line per word") {
  const std::string printed =
      base::print_settings(parse("a: [" + repeated("twelve_chars, ", 10) + "]"));
  CHECK(printed == "a:\n" + repeated("  - twelve_chars\n", 10));
}

TEST_CASE("settings: printed settings read back as equal settings") {
  const std::uint64_t seed = Catch::rngSeed();
  CAPTURE(seed);
  Trees trees(seed);
  for (int i = 0; i < 3000; ++i) {
    const Settings tree = Settings::map({{Settings::scalar("root"), trees.tree(5)}});
    for (const Settings& settings : {tree, Settings::list({tree, trees.tree(3)})}) {
      const std::string printed = base::print_settings(settings);
      CAPTURE(printed);
      REQUIRE(same(parse(printed), settings));
    }
  }
}

TEST_CASE("settings: entries and items print alone as they print in the whole") {
  const std::uint64_t seed = Catch::rngSeed();
  CAPTURE(seed);
  Trees trees(seed);
  for (int i = 0; i < 1000; ++i) {
    std::vector<Settings> items = {trees.tree(4), trees.tree(2)};
    // Passes the first two entries of the map as plain words, and the other entries as settings.
    std::vector<std::string> texts = {"kind", trees.word(), "host", trees.word()};
    const std::vector<base::PrintedWord> words = {{texts[0], texts[1]}, {texts[2], texts[3]}};
    std::vector<Settings::Entry> entries, rest = {{Settings::scalar("more"), trees.tree(1)}};
    if (i % 3 == 0) rest.clear();
    for (const auto& [key, value] : words)
      entries.emplace_back(Settings::scalar(std::string(key)),
                           Settings::scalar(std::string(value)));
    entries.insert(entries.end(), rest.begin(), rest.end());
    const Settings whole = Settings::map(
        {{Settings::scalar("map"), Settings::map(entries)},
         {Settings::scalar("list"), Settings::list({items[0], items[1], Settings::map(entries)})}});
    std::string pieces;
    base::print_entry(pieces, "map", words, Settings::map(rest), 0);
    pieces += "list:\n  ";
    base::print_item(pieces, {}, items[0], 2);
    pieces += "  ";
    base::print_item(pieces, {}, items[1], 2);
    pieces += "  ";
    base::print_item(pieces, words, Settings::map(rest), 2);
    REQUIRE(pieces == base::print_settings(whole));
  }
}

TEST_CASE("settings: mistakes are thrown together in file order without duplicates") {
  base::Mistakes mistakes;
  CHECK_NOTHROW(mistakes.throw_if_any());
  mistakes.add({"f", 3, 1}, "third");
  mistakes.add({"f", 1, 5}, "first");
  mistakes.add({"f", 1, 9}, "second");
  mistakes.add({"f", 1, 5}, "first");
  CHECK(mistakes.size() == 4);
  CHECK_THROWS_WITH(mistakes.throw_if_any(), "f:1:5: first\nf:1:9: second\nf:3:1: third");
}
