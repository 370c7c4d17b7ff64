// SPDX-License-Identifier: Apache-2.0
// paths/wire/frame.cpp — encoding and decoding of frames, field by field
#include "paths/wire/frame.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstring>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>

#include "base/errors.hpp"
#include "base/visible.hpp"

namespace paths {
namespace {

// docs/reference/wire.md describes the layout of frames. A change of the layout must change both
// the code here and that page.
constexpr std::uint32_t mark = 0x48544150;  // the letters PATH, in the byte order of frames
// Maximum size in bytes of each text in a header or in a failure.
constexpr std::size_t text_bytes_max = 4096;
constexpr std::uint8_t flag_failure = 1;  // set if the body is the four texts of a failure
constexpr int cause_shift = 1;            // position of the failure's cause, above flag_failure
constexpr std::uint8_t flag_one_way = 1;  // flags of an operation
constexpr std::uint8_t flag_kept = 2;
constexpr std::uint8_t flag_proved = 1;  // flags of a result
constexpr std::uint8_t flag_returns_moved = 2;
constexpr std::size_t prelude_bytes = 26;  // size of a header's first part, without its text
constexpr std::size_t common_bytes = 20;
constexpr std::size_t operation_bytes = 50;
constexpr std::size_t result_bytes = 47;
constexpr std::size_t lane_bytes = 82;
constexpr std::uint8_t flag_granted = 1;  // flags of a lane frame
constexpr std::uint8_t flag_at_once = 2;
constexpr std::size_t has_deployment_bytes = 1;
constexpr std::size_t deployment_bytes = 34;  // size of a DeploymentId, without its label

bool is_greeting(FrameKind kind) {
  return kind == FrameKind::hello || kind == FrameKind::welcome || kind == FrameKind::refuse;
}

bool carries_operation(FrameKind kind) {
  return kind == FrameKind::request || kind == FrameKind::one_way;
}

static_assert(std::endian::native == std::endian::little);  // the byte order of frames

class ByteWriter {
 public:
  explicit ByteWriter(std::span<std::byte> bytes) : at_(bytes.data()) {}
  template <class Unsigned>
  void put(Unsigned value) {
    std::memcpy(at_, &value, sizeof value);
    at_ += sizeof value;
  }
  void put_text(std::string_view text) {
    text = base::beginning(text, text_bytes_max);
    put(static_cast<std::uint16_t>(text.size()));
    std::memcpy(at_, text.data(), text.size());
    at_ += text.size();
  }

  const std::byte* at() const { return at_; }

 private:
  std::byte* at_;  // next byte to write; the caller provides enough memory
};

/// Reads the fields of a frame from bytes. If too few bytes are left for a field, this field and
/// all later fields are zero, and good() returns false.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : at_(bytes.data()), left_(bytes.size()) {}
  bool good() const { return good_; }
  void refuse() { good_ = false; }
  bool at_end() const { return good_ && left_ == 0; }

  template <class Unsigned>
  Unsigned get() {
    Unsigned value = 0;
    if (const std::byte* const from = take(sizeof value)) std::memcpy(&value, from, sizeof value);
    return value;
  }
  /// Reads an enumerator. good() becomes false if the value is greater than `last`.
  template <class Enum>
  Enum known(std::uint8_t value, Enum last) {
    good_ = good_ && value <= static_cast<std::uint8_t>(last);
    return good_ ? static_cast<Enum>(value) : Enum{};
  }
  /// Returns the flags. good() becomes false if `flags` contains bits that are not in `known`.
  std::uint8_t known_flags(std::uint8_t flags, int known) {
    good_ = good_ && (flags & ~known) == 0;
    return good_ ? flags : std::uint8_t{0};
  }
  /// Returns the next `size` bytes; nullptr if fewer bytes are left.
  const std::byte* take(std::size_t size) {
    good_ = good_ && size <= left_;
    if (!good_) return nullptr;
    left_ -= size;
    return std::exchange(at_, at_ + size);
  }
  /// Reads a text and escapes unprintable characters.
  /// Why: without the escapes, a foreign host could control a terminal or forge lines of a log.
  std::string get_text() {
    const auto size = get<std::uint16_t>();
    if (size > text_bytes_max) good_ = false;
    const std::byte* const from = take(size);
    if (from == nullptr || size == 0) return {};
    return base::visible({reinterpret_cast<const char*>(from), size});
  }

 private:
  const std::byte* at_;
  std::size_t left_;
  bool good_ = true;
};

/// Reads several fields of `size` bytes in total, with one check of the remaining bytes. If fewer
/// than `size` bytes are left, all fields are zero.
template <std::size_t size>
class Fields {
 public:
  explicit Fields(ByteReader& reader) {
    if (const std::byte* const from = reader.take(size)) at_ = from;
  }
  template <class Unsigned>
  Unsigned get() {
    Unsigned value = 0;
    std::memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    return value;
  }

 private:
  static constexpr std::array<std::byte, size> zeros{};
  const std::byte* at_ = zeros.data();
};

/// Returns `time_left` (duration until a deadline) in milliseconds, rounded down. Returns 0 only if
/// `time_left` is 0, which means that there is no deadline.
std::int32_t milliseconds_left(base::Nanos time_left) {
  if (time_left == base::Nanos(0)) return 0;
  const auto whole = std::chrono::floor<std::chrono::milliseconds>(time_left).count();
  using Limits = std::numeric_limits<std::int32_t>;
  return static_cast<std::int32_t>(
      std::clamp<std::int64_t>(whole == 0 ? 1 : whole, Limits::min(), Limits::max()));
}

void put_operation(ByteWriter& writer, const Frame& frame) {
  const Operation& operation = frame.operation;
  ENSURE(operation.segment < operation.segments);
  writer.put(static_cast<std::uint8_t>(operation.kind));
  writer.put(static_cast<std::uint8_t>((operation.one_way ? flag_one_way : 0) |
                                       (operation.kept ? flag_kept : 0)));
  writer.put(operation.path);
  writer.put(operation.thread);
  writer.put(operation.slot);
  writer.put(operation.segment);
  writer.put(operation.segments);
  writer.put(milliseconds_left(frame.time_left));
  writer.put(operation.sequence);
  writer.put(operation.number);
  writer.put(operation.contributions);
}

void get_operation(ByteReader& reader, Frame& frame) {
  Operation& operation = frame.operation;
  Fields<operation_bytes> fields(reader);
  operation.kind = reader.known(fields.get<std::uint8_t>(), OperationKind::withdraw);
  const auto flags = reader.known_flags(fields.get<std::uint8_t>(), flag_one_way | flag_kept);
  operation.one_way = (flags & flag_one_way) != 0;
  operation.kept = (flags & flag_kept) != 0;
  operation.path = fields.get<std::uint32_t>();
  operation.thread = fields.get<std::uint32_t>();
  operation.slot = fields.get<std::uint32_t>();
  operation.segment = fields.get<std::uint32_t>();
  operation.segments = fields.get<std::uint32_t>();
  frame.time_left = std::chrono::milliseconds(fields.get<std::int32_t>());
  operation.sequence = fields.get<std::uint64_t>();
  operation.number = fields.get<std::uint64_t>();
  operation.contributions = fields.get<std::uint64_t>();
  if (operation.segment >= operation.segments) reader.refuse();
}

void put_result(ByteWriter& writer, const Frame& frame) {
  const Result& result = frame.result;
  writer.put(static_cast<std::uint8_t>(result.condition));
  writer.put(static_cast<std::uint8_t>((result.proved ? flag_proved : 0) |
                                       (frame.returns_moved ? flag_returns_moved : 0)));
  writer.put(result.number);
  writer.put(result.sequence);
  writer.put(result.contributions);
  writer.put(static_cast<std::uint8_t>(result.origin.kind));
  writer.put(result.origin.cluster);
  writer.put(result.origin.sequence);
  writer.put(static_cast<std::uint64_t>(result.origin.nanos));
}

void get_result(ByteReader& reader, Frame& frame) {
  Result& result = frame.result;
  Fields<result_bytes> fields(reader);
  result.condition = reader.known(fields.get<std::uint8_t>(), Condition::fails);
  const auto flags =
      reader.known_flags(fields.get<std::uint8_t>(), flag_proved | flag_returns_moved);
  result.proved = (flags & flag_proved) != 0;
  frame.returns_moved = (flags & flag_returns_moved) != 0;
  result.number = fields.get<std::uint64_t>();
  result.sequence = fields.get<std::uint64_t>();
  result.contributions = fields.get<std::uint64_t>();
  result.origin.kind = reader.known(fields.get<std::uint8_t>(), Origin::Kind::waited);
  result.origin.cluster = fields.get<std::uint32_t>();
  result.origin.sequence = fields.get<std::uint64_t>();
  result.origin.nanos = static_cast<std::int64_t>(fields.get<std::uint64_t>());
}

void put_lane(ByteWriter& writer, const LaneFrame& lane) {
  writer.put(static_cast<std::uint8_t>(lane.kind));
  writer.put(static_cast<std::uint8_t>((lane.is_granted ? flag_granted : 0) |
                                       (lane.is_at_once ? flag_at_once : 0)));
  writer.put(lane.source);
  writer.put(lane.target);
  for (const std::uint64_t number :
       {lane.group, lane.channel, lane.ordinal, lane.bytes, lane.offset, lane.signature_digest,
        static_cast<std::uint64_t>(lane.lag.count()), static_cast<std::uint64_t>(lane.late.count()),
        static_cast<std::uint64_t>(lane.head.count())})
    writer.put(number);
}

/// Reads a duration. Rejects a value that is impossibly large.
base::Nanos get_span(ByteReader& reader) {
  const auto nanos = reader.get<std::uint64_t>();
  if (nanos > static_cast<std::uint64_t>(base::time_max.count())) reader.refuse();
  return reader.good() ? base::Nanos(static_cast<std::int64_t>(nanos)) : base::Nanos(0);
}

/// Reads the difference of two times, which may be negative.
base::Nanos get_difference(ByteReader& reader) {
  const auto nanos = static_cast<std::int64_t>(reader.get<std::uint64_t>());
  if (nanos > base::time_max.count() || nanos < -base::time_max.count()) reader.refuse();
  return base::Nanos(reader.good() ? nanos : 0);
}

LaneFrame get_lane(ByteReader& reader) {
  LaneFrame lane;
  lane.kind = reader.known(reader.get<std::uint8_t>(), last_lane_kind);
  const auto flags = reader.known_flags(reader.get<std::uint8_t>(), flag_granted | flag_at_once);
  lane.is_granted = (flags & flag_granted) != 0;
  lane.is_at_once = (flags & flag_at_once) != 0;
  lane.source = reader.get<std::uint32_t>();
  lane.target = reader.get<std::uint32_t>();
  for (std::uint64_t* number : {&lane.group, &lane.channel, &lane.ordinal, &lane.bytes,
                                &lane.offset, &lane.signature_digest})
    *number = reader.get<std::uint64_t>();
  lane.lag = get_span(reader);
  lane.late = get_difference(reader);
  lane.head = get_span(reader);
  return lane;
}

std::size_t greeting_bytes(const Frame& frame) {
  return has_deployment_bytes +
         (frame.deployment
              ? deployment_bytes + base::beginning(frame.deployment->label, text_bytes_max).size()
              : 0);
}

void put_greeting(ByteWriter& writer, const Frame& frame) {
  writer.put(static_cast<std::uint8_t>(frame.deployment ? 1 : 0));
  if (!frame.deployment) return;
  writer.put_text(frame.deployment->label);
  writer.put(frame.deployment->number);
  writer.put(frame.deployment->incarnation);
  writer.put(frame.deployment->plan.high);
  writer.put(frame.deployment->plan.low);
}

void get_greeting(ByteReader& reader, Frame& frame) {
  if (reader.known_flags(reader.get<std::uint8_t>(), 1) == 0) return;
  DeploymentId call;
  call.label = reader.get_text();
  call.number = reader.get<std::uint64_t>();
  call.incarnation = reader.get<std::uint64_t>();
  call.plan.high = reader.get<std::uint64_t>();
  call.plan.low = reader.get<std::uint64_t>();
  frame.deployment = std::make_shared<const DeploymentId>(std::move(call));
}

base::Payload failure_body(const TravelError& failure) {
  const std::array<const std::string*, 4> texts = {&failure.host(), &failure.path(),
                                                   &failure.wrapper(), &failure.reason()};
  std::size_t size = 0;
  for (const std::string* text : texts)
    size += sizeof(std::uint16_t) + base::beginning(*text, text_bytes_max).size();
  return base::Payload::filled(size, [&texts](std::span<std::byte> bytes) {
    ByteWriter writer(bytes);
    for (const std::string* text : texts) writer.put_text(*text);
  });
}

std::uint8_t failure_flags(const Failure& failure) {
  if (failure == nullptr) return 0;
  return static_cast<std::uint8_t>(flag_failure | static_cast<unsigned>(failure->cause())
                                                      << cause_shift);
}

bool are_failure_flags(std::uint8_t flags) {
  if ((flags & flag_failure) == 0) return flags == 0;
  return flags >> cause_shift <= static_cast<unsigned>(FailureCause::ended);
}

/// Decodes a failure from a body. Returns nullptr if the body is not a failure.
Failure read_failure(std::uint8_t flags, const base::Payload& body) {
  ByteReader reader(body.bytes());
  std::array<std::string, 4> texts;
  for (std::string& text : texts) text = reader.get_text();
  if (!reader.at_end()) return nullptr;
  return std::make_shared<const TravelError>(std::move(texts[0]), std::move(texts[1]),
                                             std::move(texts[2]), std::move(texts[3]),
                                             static_cast<FailureCause>(flags >> cause_shift));
}

/// Moves the body to the member of `frame` that frames of its kind use for the body. Returns false
/// if frames of this kind must not have such a body.
bool place_body(Frame& frame, std::uint8_t flags, base::Payload&& body) {
  if ((flags & flag_failure) != 0) {
    frame.operation.failure = read_failure(flags, body);
    return frame.operation.failure != nullptr;
  }
  if (carries_operation(frame.kind)) {
    frame.operation.payload = std::move(body);
    return true;
  }
  if (frame.kind == FrameKind::reply) {
    frame.result.payload = std::move(body);
    return !frame.returns_moved || frame.result.payload.empty();
  }
  if (frame.kind == FrameKind::lane && frame.lane->kind == LaneKind::data) {
    frame.lane->payload = std::move(body);
    return true;
  }
  return body.empty() && frame.kind != FrameKind::error;
}

}  // namespace

bool is_control(FrameKind kind) { return kind >= FrameKind::hello && kind != FrameKind::lane; }

std::size_t header_bytes(const Frame& frame) {
  return prelude_bytes + base::beginning(frame.text, text_bytes_max).size() + common_bytes +
         (carries_operation(frame.kind) ? operation_bytes : 0) +
         (frame.kind == FrameKind::reply ? result_bytes : 0) +
         (frame.kind == FrameKind::lane ? lane_bytes : 0) +
         (is_greeting(frame.kind) ? greeting_bytes(frame) : 0);
}

std::vector<std::byte> encode_header(const Frame& frame) {
  std::vector<std::byte> bytes(header_bytes(frame));
  write_header(frame, bytes);
  return bytes;
}

void write_header(const Frame& frame, std::span<std::byte> bytes) {
  ENSURE(frame.kind != FrameKind::error || frame.operation.failure != nullptr);
  ByteWriter writer(bytes);
  writer.put(mark);
  writer.put(frame.version);
  writer.put(static_cast<std::uint8_t>(frame.kind));
  writer.put(failure_flags(frame.operation.failure));
  writer.put(frame.run_high);
  writer.put(frame.run_low);
  writer.put_text(frame.text);
  writer.put(frame.from_host);
  writer.put(frame.credits);
  writer.put(frame.call);
  writer.put(frame.stage);
  if (carries_operation(frame.kind)) put_operation(writer, frame);
  if (frame.kind == FrameKind::reply) put_result(writer, frame);
  if (frame.kind == FrameKind::lane) put_lane(writer, *frame.lane);
  if (is_greeting(frame.kind)) put_greeting(writer, frame);
  ENSURE(writer.at() == bytes.data() + bytes.size());
}

base::Payload encode_body(const Frame& frame) {
  if (frame.operation.failure != nullptr) return failure_body(*frame.operation.failure);
  if (carries_operation(frame.kind)) return frame.operation.payload;
  if (frame.kind == FrameKind::reply) return frame.result.payload;
  if (frame.kind == FrameKind::lane) return frame.lane->payload;
  return {};
}

bool read_frame(std::span<const std::byte> header, base::Payload&& body, Frame& frame) {
  ByteReader reader(header);
  Fields<prelude_bytes - sizeof(std::uint16_t)> prelude(reader);
  if (prelude.get<std::uint32_t>() != mark) return false;
  frame.version = prelude.get<std::uint16_t>();
  frame.kind = reader.known(prelude.get<std::uint8_t>(), FrameKind::lane);
  const auto flags = prelude.get<std::uint8_t>();
  frame.run_high = prelude.get<std::uint64_t>();
  frame.run_low = prelude.get<std::uint64_t>();
  frame.text = reader.get_text();
  if (!reader.good()) return false;
  if (frame.version != protocol_version) return true;

  Fields<common_bytes> common(reader);
  frame.from_host = common.get<std::uint32_t>();
  frame.credits = common.get<std::uint32_t>();
  frame.call = common.get<std::uint64_t>();
  frame.stage = common.get<std::uint32_t>();
  if (carries_operation(frame.kind)) get_operation(reader, frame);
  if (frame.kind == FrameKind::reply) get_result(reader, frame);
  if (frame.kind == FrameKind::lane) frame.lane = std::make_shared<LaneFrame>(get_lane(reader));
  if (is_greeting(frame.kind)) get_greeting(reader, frame);
  if (!reader.at_end() || !are_failure_flags(flags)) return false;
  return place_body(frame, flags, std::move(body));
}

std::optional<Frame> decode_frame(std::span<const std::byte> header, base::Payload body) {
  std::optional<Frame> frame(std::in_place);
  if (!read_frame(header, std::move(body), *frame)) frame.reset();
  return frame;
}

}  // namespace paths
