// SPDX-License-Identifier: Apache-2.0
// base/link_model/read_link_model.cpp — constant links, and recorded traces in files
#include "base/link_model/read_link_model.hpp"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <system_error>

#include "base/link_model/link_trace.hpp"
#include "base/text_file.hpp"

namespace tuning {
namespace {

LinkModel read_trace(base::MapReader& reader, const std::string& name, double bits_per_second) {
  const std::string file = base::file_beside(name, reader.position_of("trace").file);
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) {
    reader.mistake("trace", fmt::format("expected a file that can be read, found '{}'", file));
    return {};
  }
  try {
    const std::string text = base::load_text(file, base::table_bytes_max);
    return parse_link_trace(text, file, bits_per_second, reader.mistakes()).value_or(LinkModel());
  } catch (const base::ConfigError& error) {
    for (const auto& [position, message] : error.mistakes())
      reader.mistakes().add(position, message);
    return {};
  }
}

}  // namespace

LinkModel read_link_model(base::MapReader& reader) {
  const auto latency = reader.time("latency");
  const double bits_per_second = reader.bits_per_second("bandwidth", 0);
  const auto trace = reader.word("trace");
  if (!trace) return {latency.value_or(base::Nanos(0)), bits_per_second};
  if (latency) reader.mistake("trace", "expected either latency or trace, found both");
  return read_trace(reader, *trace, bits_per_second);
}

Link read_link(base::MapReader& reader, std::optional<base::Nanos> latency_back) {
  constexpr std::int64_t streams_most = 1'000'000;
  Link link{.model = read_link_model(reader)};
  link.stream_rate = reader.bits_per_second("stream_rate", 0);
  link.streams = static_cast<std::size_t>(reader.integer("streams", 0, 1, streams_most));
  if (!reader.has("window")) return link;
  const base::Nanos latency = link.model.at(base::Nanos(0)).latency;
  const std::chrono::duration<double> round_trip = latency + latency_back.value_or(latency);
  link.stream_rate = static_cast<double>(reader.bytes("window", 0)) * 8 / round_trip.count();
  return link;
}

}  // namespace tuning
