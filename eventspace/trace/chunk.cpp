// SPDX-License-Identifier: Apache-2.0
// eventspace/trace/chunk.cpp — encoding and validation of trace bytes.
#include "eventspace/trace/chunk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/digest.hpp"
#include "eventspace/record.hpp"

namespace eventspace {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t checked_head_bytes = offsetof(ChunkHead, head_checksum);

template <class Number>
Number number_at(std::span<const std::byte> bytes, std::size_t place) {
  Number number;
  std::memcpy(&number, bytes.data() + place, sizeof(number));
  return number;
}

template <class Number>
void append_number(std::string& bytes, Number number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

Json json_of(const TraceHeader& header) {
  Json json;
  json["host"] = header.host;
  json["host_number"] = header.host_number;
  json["plan"] = header.plan;
  json["clock"] = header.clock;
  json["resolution_nanos"] = header.resolution_nanos;
  if (header.origin_utc_nanos) json["origin_utc_nanos"] = *header.origin_utc_nanos;
  json["seed"] = header.seed;
  json["command"] = header.command;
  json["paths_version"] = header.version;
  json["started"] = header.started;
  return json;
}

TraceHeader header_from(const Json& json) {
  TraceHeader header;
  json.at("host").get_to(header.host);
  json.at("host_number").get_to(header.host_number);
  json.at("plan").get_to(header.plan);
  json.at("clock").get_to(header.clock);
  json.at("resolution_nanos").get_to(header.resolution_nanos);
  if (json.contains("origin_utc_nanos"))
    header.origin_utc_nanos = json.at("origin_utc_nanos").get<std::int64_t>();
  json.at("seed").get_to(header.seed);
  json.at("command").get_to(header.command);
  json.at("paths_version").get_to(header.version);
  json.at("started").get_to(header.started);
  return header;
}

bool contradicts_itself(const ChunkHead& head) {
  // The maximum is so small that sums of numbers up to it do not overflow.
  constexpr std::uint64_t number_max = std::uint64_t{1} << 56;
  if (head.payload_bytes > chunk_payload_bytes_max) return true;
  if (head.is(ChunkKind::records))
    return head.first > number_max || head.payload_bytes != head.count * sizeof(EventRecord);
  if (head.is(ChunkKind::end)) return head.payload_bytes != head.count * sizeof(LaneTotal);
  return false;
}

}  // namespace

std::uint64_t checksum_of(std::span<const std::byte> bytes) { return base::digest_of(bytes).low; }

std::string encode_head(const TraceHeader& header) {
  // Command lines may be invalid UTF-8; such bytes are replaced.
  const std::string json = json_of(header).dump(2, ' ', false, Json::error_handler_t::replace);
  if (json.size() > header_bytes_max) throw std::runtime_error("a trace's header is too long");
  std::string head(trace_mark);
  append_number(head, trace_version);
  append_number(head, static_cast<std::uint32_t>(json.size()));
  head += json;
  append_number(head, checksum_of(std::as_bytes(std::span(head))));
  return head;
}

std::uint32_t trace_version_in(std::span<const std::byte> prefix) {
  return number_at<std::uint32_t>(prefix, trace_mark.size());
}

std::uint32_t header_bytes_in(std::span<const std::byte> prefix) {
  return number_at<std::uint32_t>(prefix, trace_mark.size() + sizeof(trace_version));
}

std::optional<TraceHeader> decode_head(std::span<const std::byte> head) {
  const auto checked = head.first(head.size() - checksum_bytes);
  if (checksum_of(checked) != number_at<std::uint64_t>(head, checked.size())) return std::nullopt;
  const auto json = checked.subspan(trace_prefix_bytes);
  const auto* text = reinterpret_cast<const char*>(json.data());
  try {
    return header_from(Json::parse(text, text + json.size()));
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

ChunkHead make_chunk_head(ChunkKind kind, std::uint32_t lane, std::uint64_t first,
                          std::size_t count, std::uint64_t dropped,
                          std::span<const std::byte> payload) {
  ChunkHead head;
  std::copy(chunk_mark.begin(), chunk_mark.end(), head.mark.begin());
  head.version = chunk_version;
  head.kind = static_cast<std::uint16_t>(kind);
  head.payload_bytes = static_cast<std::uint32_t>(payload.size());
  head.lane = lane;
  head.count = static_cast<std::uint32_t>(count);
  head.first = first;
  head.dropped = dropped;
  head.payload_checksum = checksum_of(payload);
  head.head_checksum = checksum_of(std::as_bytes(std::span(&head, 1)).first(checked_head_bytes));
  return head;
}

std::optional<ChunkHead> decode_chunk_head(std::span<const std::byte, sizeof(ChunkHead)> bytes) {
  const auto head = number_at<ChunkHead>(bytes, 0);
  if (std::string_view(head.mark.data(), head.mark.size()) != chunk_mark) return std::nullopt;
  if (head.head_checksum != checksum_of(bytes.first(checked_head_bytes))) return std::nullopt;
  if (contradicts_itself(head)) return std::nullopt;
  return head;
}

std::string trace_file_name(std::string_view host) {
  if (host.empty() || host.front() == '.' || host.find('/') != std::string_view::npos)
    throw std::runtime_error(fmt::format("a host named '{}' can have no trace file", host));
  return fmt::format("{}{}", host, trace_file_ending);
}

}  // namespace eventspace
