// SPDX-License-Identifier: Apache-2.0
// tests/commands/readers_fuzz.cpp — damaged files that users write or hand on: configs, measured
// networks, schedules, decision tables and recordings of links. Traces and structures are damaged
// in tests/eventspace/.
//
// Environment variables: PATHS_SEEDS=100000 runs more seeds than the default. PATHS_SEED=17 runs
// only this seed.
#include <fmt/format.h>
#include <sys/stat.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/errors.hpp"
#include "base/link_model/link_trace.hpp"
#include "base/link_model/measured_network.hpp"
#include "base/text_file.hpp"
#include "collectives/planner/schedule_file.hpp"
#include "collectives/tuner/decision_table.hpp"
#include "paths/config/config.hpp"
#include "runtime/random.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/folder.hpp"
#include "wrappers/all.hpp"

namespace {

using test_support::Folder;

struct Reader {
  std::string name;
  std::string valid;  ///< content of a valid file
  std::function<void(const std::string& file)> read;
};

void read_link_trace(const std::string& file) {
  base::Mistakes mistakes;
  tuning::parse_link_trace(base::load_text(file, base::table_bytes_max), file, 1e9, mistakes);
  mistakes.throw_if_any();
}

void read_schedule(const std::string& file) {
  const std::vector<std::string> hosts = {"a-0", "a-1"};
  const auto counts = collectives::Counts::each(1000, hosts.size());
  const planning::Blocks blocks{hosts, counts};
  planning::print(planning::load_schedule(file, blocks), blocks);
}

const std::vector<Reader> readers = {
    {"config",
     "network: {port: 7700, security: plain}\n"
     "clusters: {a: {hosts: 2, threads: 2}, b: {hosts: [x, y], threads: 1}}\n"
     "links: [{between: [a, b], latency: 10ms, bandwidth: 10Mbit}]\n"
     "elements: {work: {host: a-0, template: \"u64, f64[4]\", keep_newest: 3, reach: all}}\n"
     "collectives: {sum: {operation: sum, template: f64, algorithm: \"conditional:demand\",\n"
     "  condition: {less: 5}, contributions: non_negative}}\n",
     [](const std::string& file) { paths::load_plan(file, wrappers::all_kinds()); }},
    {"measured network",
     "clusters:\n"
     "  a: {latency: 60us, bandwidth: 940Mbit}\n"
     "  b: {}\n"
     "links:\n"
     "  - {from: a, to: b, latency: 50ms, bandwidth: 10Mbit, streams: 8}\n"
     "  - {from: b, to: a, latency: 50ms, bandwidth: 10Mbit, streams_at_least: 16}\n",
     [](const std::string& file) { tuning::load_measured_network(file); }},
    {"schedule",
     "name: min3\n"
     "ports: {sending: 1, receiving: 1, in_order: true}\n"
     "blocks: {a-0: 1000, a-1: 1000}\n"
     "pieces:\n"
     "  - [a-0, 0, 1000]\n"
     "  - [a-1, 0, 1000]\n"
     "transfers:\n"
     "  - [a-0, a-1, 0, 0, 50000]\n"
     "  - [a-1, a-0, 1, 0, 50000]\n",
     read_schedule},
    {"decision table",
     "decisions: 1\n"
     "allreduce:\n"
     "  - shape: {clusters: 2, hosts: 5..16}\n"
     "    transport: tcp\n"
     "    order: in order\n"
     "    rows:\n"
     "      - {up_to: 2KiB, use: recursive_doubling}\n"
     "      - {up_to: inf, use: \"multilevel:shapes=flat/chain\", segment: 32KiB}\n",
     [](const std::string& file) { tuner::load_decision_table(file); }},
    {"recording of a link", "0.0 9.1 100\n0.5 12.75\n1.25 9 50\n", read_link_trace},
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Replaces the number that contains the byte `at`, or else the next number after it, with an
/// extreme number.
void change_number(std::string& text, std::size_t at, runtime::Random& random) {
  constexpr std::array<std::string_view, 12> extreme = {"0",
                                                        "-1",
                                                        "1e308",
                                                        "1e999",
                                                        "nan",
                                                        "9223372036854775807",
                                                        "18446744073709551615",
                                                        "4294967296",
                                                        "0.5",
                                                        "-0",
                                                        "2147483648",
                                                        "999999999999999999999999"};
  const std::size_t first = text.find_first_of("0123456789", at);
  if (first == std::string::npos) return;
  std::size_t last = first;
  while (last < text.size() && is_digit(text[last])) ++last;
  text.replace(first, last - first, extreme[random.below(extreme.size())]);
}

void damage(std::string& text, runtime::Random& random) {
  constexpr std::array<std::string_view, 6> hostile = {
      "\x1b[2J", "\xe2\x80\xae", std::string_view("\0", 1), "\xff", "\r", "{[*&!"};
  const std::size_t at = random.below(text.size());
  switch (random.below(5)) {
    case 0: return change_number(text, at, random);
    case 1: text[at] = static_cast<char>(random.next()); return;
    case 2: text.insert(at, hostile[random.below(hostile.size())]); return;
    case 3: text.erase(at, 1 + random.below(20)); return;
    default: text.insert(at, text.substr(random.below(text.size()), random.below(40)));
  }
}

/// Returns whether the text contains only characters that a terminal shows, and no control
/// characters except ends of lines.
bool is_visible(std::string_view text) {
  if (text.find("\xe2\x80\xae") != std::string_view::npos) return false;
  for (const char c : text)
    if ((static_cast<unsigned char>(c) < ' ' && c != '\n') || c == '\x7f' || c == '\xff')
      return false;
  return true;
}

/// Reads a file. Returns the error message of the reader; "" if the file is valid.
std::string mistakes_in(const Reader& reader, const std::string& file) {
  try {
    reader.read(file);
  } catch (const base::ConfigError& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("readers fuzz: a damaged file of any kind is read or refused in visible words") {
  const Folder folder;
  const std::uint64_t first = test_support::from_environment("PATHS_SEED", 1);
  const bool is_one = std::getenv("PATHS_SEED") != nullptr;
  const std::uint64_t seeds = test_support::from_environment("PATHS_SEEDS", is_one ? 1 : 300);
  for (const Reader& reader : readers) {
    CHECK(mistakes_in(reader, folder.write("valid", reader.valid)) == "");
    for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
      runtime::Random random(seed);
      std::string text = reader.valid;
      for (std::uint64_t time = 1 + random.below(3); time > 0 && !text.empty(); --time)
        damage(text, random);
      INFO(reader.name << ", again with: PATHS_SEED=" << seed);
      const std::string said = mistakes_in(reader, folder.write("damaged", text));
      CHECK(is_visible(said));
    }
  }
}

TEST_CASE("readers fuzz: a folder, a pipe without a writer and an endless device are refused") {
  const Folder folder;
  const std::string pipe = folder.file("pipe");
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  for (const Reader& reader : readers) {
    INFO(reader.name);
    for (const std::string& file : {folder.path().string(), pipe, std::string("/dev/zero")})
      CHECK(mistakes_in(reader, file) != "");
  }
}
