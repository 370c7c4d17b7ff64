// SPDX-License-Identifier: Apache-2.0
// tests/eventspace/trace_fuzz.cpp — reading of damaged traces: only records that were written may
// be read.
// Environment variables: PATHS_SEEDS=100000 runs more seeds than the default. PATHS_SEED=17 runs
// only this seed. If both are set, PATHS_SEEDS is the number of seeds and PATHS_SEED the first
// seed.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "runtime/random.hpp"
#include "tests/eventspace/trace_sample.hpp"
#include "tests/support/environment.hpp"

namespace {

using namespace eventspace;
using namespace trace_sample;

/// Calls run(random) for every seed. `run` returns a mistake, or an empty text if it finds no
/// mistake.
template <class Run>
void for_each_seed(std::uint64_t usual, const Run& run) {
  const std::uint64_t first = test_support::from_environment("PATHS_SEED", 1);
  const bool is_one = std::getenv("PATHS_SEED") != nullptr;
  const std::uint64_t last =
      first - 1 + test_support::from_environment("PATHS_SEEDS", is_one ? 1 : usual);
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    runtime::Random random(seed);
    const std::string wrong = run(random);
    INFO("again with: PATHS_SEED=" << seed);
    if (!wrong.empty()) FAIL(wrong);
  }
}

void append(std::string& bytes, const ChunkHead& head, std::span<const std::byte> payload) {
  bytes.append(reinterpret_cast<const char*>(&head), sizeof(head));
  bytes.append(reinterpret_cast<const char*>(payload.data()), payload.size());
}

/// A trace file with the records of two buffers. The records in one buffer have even numbers, the
/// records in the other buffer have odd numbers.
struct Written {
  std::string bytes;
  std::array<std::uint64_t, 2> records{};
};

Written random_trace(runtime::Random& random) {
  Written trace;
  TraceHeader head = header();
  head.command.assign(random.below(4), std::string(random.below(30), 'x'));
  trace.bytes = encode_head(head);
  for (std::uint64_t chunk = random.below(8); chunk > 0; --chunk) {
    const auto lane = static_cast<std::uint32_t>(random.below(2));
    std::vector<EventRecord> records(random.below(12));
    const std::uint64_t first = trace.records[lane];
    for (EventRecord& record : records) record = numbered(2 * trace.records[lane]++ + lane);
    const auto payload = std::as_bytes(std::span(records));
    append(trace.bytes,
           make_chunk_head(ChunkKind::records, lane, first, records.size(), 0, payload), payload);
  }
  if (random.chance(0.7)) {
    const std::array<LaneTotal, 2> totals{{{trace.records[0], 0}, {trace.records[1], 0}}};
    const auto payload = std::as_bytes(std::span(totals));
    append(trace.bytes, make_chunk_head(ChunkKind::end, 0, 2, 2, 0, payload), payload);
  }
  return trace;
}

/// Damages bytes in the ways in which disks and editors damage files.
void mutate(std::string& bytes, runtime::Random& random) {
  const std::size_t place = random.below(bytes.size() + 1);
  const std::size_t length =
      std::min<std::size_t>(random.below(1 + random.below(200)), bytes.size() - place);
  switch (random.below(8)) {
    case 0: bytes.resize(place); break;
    case 1: bytes.erase(place, length); break;
    case 2: bytes.insert(place, std::string(length, '\0')); break;
    case 3: std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(place), length, '\0'); break;
    case 4: bytes.insert(random.below(bytes.size() + 1), bytes.substr(place, length)); break;
    case 5: bytes.insert(place, chunk_mark); break;
    case 6:
      for (std::size_t i = place; i < place + length; ++i)
        bytes[i] = static_cast<char>(random.next());
      break;
    default:
      if (place < bytes.size()) bytes[place] = static_cast<char>(bytes[place] ^ (1 << length % 8));
  }
}

/// Changes the head of a chunk (a block of records) and corrects its checksum, as a faulty program
/// might do. The reader must tolerate any content of such a head.
void forge(std::string& bytes, runtime::Random& random) {
  const std::size_t at = bytes.find(chunk_mark, random.below(bytes.size()));
  if (at == std::string::npos || at + sizeof(ChunkHead) > bytes.size()) return;
  constexpr std::size_t checked = offsetof(ChunkHead, head_checksum);
  bytes[at + random.below(checked)] = static_cast<char>(random.next());
  const std::uint64_t checksum = checksum_of(std::as_bytes(std::span(bytes).subspan(at, checked)));
  std::memcpy(bytes.data() + at + checked, &checksum, sizeof(checksum));
}

std::string judge(const Written& written, const std::filesystem::path& file, bool is_whole) {
  try {
    TraceReader reader(file);
    std::vector<EventRecord> chunk;
    std::array<std::uint64_t, 2> next{};
    std::uint64_t read = 0;
    while (reader.next(chunk)) {
      for (const EventRecord& record : chunk) {
        const std::uint64_t lane = record.sequence % 2;
        if (!(record == numbered(record.sequence))) return "a wrong record";
        if (record.sequence / 2 < next[lane]) return "a record read twice or out of order";
        next[lane] = record.sequence / 2 + 1;
        ++read;
      }
    }
    const TraceLosses& losses = reader.losses();
    const std::uint64_t all = written.records[0] + written.records[1];
    if (read > all) return "more records than there were";
    if (is_whole && (read != all || !losses.has_none())) return "a whole trace with losses";
    if (reader.ended() && read + losses.records_missing != all) return "records not accounted for";
    if (!is_whole && losses.has_none() && read < all && reader.ended()) return "a silent loss";
    if (losses.bytes_unused > std::filesystem::file_size(file)) return "bytes counted twice";
    if (reader.next(chunk)) return "records after the end";
  } catch (const std::runtime_error& error) {
    const std::string_view said = error.what();
    const bool is_about_the_kind = said.find(": is no trace of PATHS") != said.npos ||
                                   said.find(": is a trace of version ") != said.npos;
    if (is_whole || !is_about_the_kind) return std::string(said);
  }
  return "";
}

constexpr std::uint64_t usual_seeds = test_support::or_fewer(20'000);

}  // namespace

TEST_CASE("trace fuzz: damaged traces return written records and account for all others") {
  const Folder folder;
  std::filesystem::create_directories(folder.path());
  const auto file = folder.path() / "alpha-0.trace";
  for_each_seed(usual_seeds, [&](runtime::Random& random) {
    Written trace = random_trace(random);
    const std::string before = trace.bytes;
    for (std::uint64_t changes = random.below(4); changes > 0; --changes)
      mutate(trace.bytes, random);
    put(file, trace.bytes);
    return judge(trace, file, trace.bytes == before);
  });
}

TEST_CASE("trace fuzz: heads that contradict their chunks do not break the reader") {
  const Folder folder;
  std::filesystem::create_directories(folder.path());
  const auto file = folder.path() / "alpha-0.trace";
  for_each_seed(usual_seeds, [&](runtime::Random& random) {
    Written trace = random_trace(random);
    for (std::uint64_t changes = 1 + random.below(3); changes > 0; --changes)
      forge(trace.bytes, random);
    if (random.chance(0.3)) mutate(trace.bytes, random);
    put(file, trace.bytes);
    try {
      const Read read = read_trace(file);
      // The same chunk may be read twice under different numbers, because its head was forged. The
      // test therefore checks only whether each record is a record that was written.
      for (const EventRecord& record : read.records)
        if (!(record == numbered(record.sequence))) return std::string("a wrong record");
    } catch (const std::runtime_error& error) {
      const std::string said = error.what();
      if (said.find(": is ") == std::string::npos) return said;
    }
    return std::string();
  });
}

TEST_CASE("trace fuzz: invalid structures are refused and valid ones are written back the same") {
  Structure structure;
  structure.clusters = {"alpha", "beta"};
  structure.hosts = {{"alpha-0", 0, 0, 2}, {"b1", 1, 2, 3}};
  structure.wrappers = {{"sum", "allreduce", 0, 2, "operation: sum", "a.yaml:1:5", {0, 1}}};
  structure.stages = {{0, 1, 0, 0}, {0, no_stage, 1, 1}};
  structure.paths = {{"sum", 0, 0, 2, 0, 0}};
  const std::string whole = to_json(structure);
  for_each_seed(usual_seeds, [&](runtime::Random& random) {
    std::string text = whole;
    for (std::uint64_t changes = 1 + random.below(3); changes > 0; --changes) mutate(text, random);
    try {
      const Structure read = structure_from_json(text);
      if (!(structure_from_json(to_json(read)) == read)) return "is read otherwise: " + text;
    } catch (const std::runtime_error&) {
    }
    return std::string();
  });
}
