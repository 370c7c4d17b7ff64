// SPDX-License-Identifier: Apache-2.0
// bench/sor/part.cpp — results of a thread as CBOR, which stores numbers exactly
#include "bench/sor/part.hpp"

#include <cstring>
#include <nlohmann/json.hpp>
#include <span>
#include <type_traits>

#include "pastset/tuple.hpp"
#include "paths/host/host.hpp"

namespace bench {
namespace {

using base::Nanos;

/// Returns the bytes of plain values, one value after another.
template <class T>
nlohmann::json::binary_t binary(const std::vector<T>& values) {
  static_assert(std::is_trivially_copyable_v<T>);
  const auto bytes = std::as_bytes(std::span(values));
  const auto* first = reinterpret_cast<const std::uint8_t*>(bytes.data());
  return nlohmann::json::binary_t(std::vector<std::uint8_t>(first, first + bytes.size()));
}

template <class T>
std::vector<T> values_of(const nlohmann::json& binary) {
  const auto& bytes = binary.get_binary();
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

using TrafficByHost = std::map<std::uint32_t, paths::Traffic>;

nlohmann::json wan_to_json(const TrafficByHost& by_host) {
  nlohmann::json all = nlohmann::json::array();
  for (const auto& [host, traffic] : by_host)
    all.push_back({host, traffic.messages, traffic.bytes});
  return all;
}

TrafficByHost traffic_of(const nlohmann::json& all) {
  TrafficByHost by_host;
  for (const auto& entry : all) by_host[entry.at(0)] = {entry.at(1), entry.at(2), 0};
  return by_host;
}

}  // namespace

const pastset::Template& part_template() {
  static const pastset::Template bytes = *pastset::Template::parse("bytes");
  return bytes;
}

base::Payload encode_part(const SorPart& part) {
  const ThreadFigures& one = part.figures;
  const nlohmann::json all = {
      {"times",
       {one.compute.count(), one.allreduce.count(), part.exchange.count(), one.elapsed.count(),
        one.spread.p50.count(), one.spread.p99.count(), one.spread.max.count()}},
      {"counts",
       {one.rank, one.proved, one.conditions.high, one.conditions.low, part.iterations,
        part.stop_iteration.value_or(0), part.half_rows, part.redundant_half_rows, part.rows.begin,
        part.rows.end, part.halo}},
      {"decided", to_json(one.decisions)},
      {"row_digests", binary(part.row_digests)},
      {"decisions", binary(part.decisions)},
      {"durations", binary(part.durations)},
      {"changes", binary(part.changes)},
      {"cells", binary(part.cells)},
      {"exchange_wan", wan_to_json(part.exchange_wan)},
      {"collective_wan", wan_to_json(part.collective_wan)}};
  const std::vector<std::uint8_t> bytes = nlohmann::json::to_cbor(all);
  pastset::TupleWriter tuple(part_template());
  return tuple.put_bytes(std::as_bytes(std::span(bytes))).payload();
}

SorPart decode_part(const base::Payload& tuple) {
  const pastset::TupleReader reader(part_template(), tuple);
  const auto bytes = reader.bytes(0);
  const auto* first = reinterpret_cast<const std::uint8_t*>(bytes.data());
  const nlohmann::json all = nlohmann::json::from_cbor(first, first + bytes.size());
  const auto times = all.at("times").get<std::vector<std::int64_t>>();
  const auto counts = all.at("counts").get<std::vector<std::uint64_t>>();
  SorPart part;
  part.figures = {static_cast<std::uint32_t>(counts.at(0)),
                  Nanos(times.at(0)),
                  Nanos(times.at(1)),
                  Nanos(times.at(3)),
                  {Nanos(times.at(4)), Nanos(times.at(5)), Nanos(times.at(6))},
                  counts.at(1),
                  base::Digest{counts.at(2), counts.at(3)},
                  decisions_from_json(all.at("decided"))};
  part.exchange = Nanos(times.at(2));
  part.iterations = counts.at(4);
  if (counts.at(5) > 0) part.stop_iteration = counts.at(5);
  part.half_rows = counts.at(6);
  part.redundant_half_rows = counts.at(7);
  part.rows = {counts.at(8), counts.at(9)};
  part.halo = counts.at(10);
  part.row_digests = values_of<base::Digest>(all.at("row_digests"));
  part.decisions = values_of<SorDecision>(all.at("decisions"));
  part.durations = values_of<Nanos>(all.at("durations"));
  part.changes = values_of<double>(all.at("changes"));
  part.cells = values_of<double>(all.at("cells"));
  part.exchange_wan = traffic_of(all.at("exchange_wan"));
  part.collective_wan = traffic_of(all.at("collective_wan"));
  return part;
}

}  // namespace bench
