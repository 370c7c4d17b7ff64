// SPDX-License-Identifier: Apache-2.0
// tests/support/raw_peer.hpp — a peer that encodes frames itself, as docs/reference/wire.md defines
// them.
//
// This file does not use the encoder of the library, because the encoder cannot write invalid
// bytes.
#pragma once
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "paths/plan/plan.hpp"

namespace test_support {

template <class Unsigned>
std::string little_endian(Unsigned value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

// ---- ZMTP 3 -----------------------------------------------------------------------------------

inline std::string zmtp_signature() { return "\xff" + std::string(8, '\0') + "\x7f"; }

/// Returns the bytes that announce the length of a part of a ZeroMQ message, which precede the
/// part.
inline std::string zmtp_length(std::uint64_t bytes, bool has_more) {
  const std::string size = little_endian(bytes);
  return static_cast<char>(2 | (has_more ? 1 : 0)) + std::string(size.rbegin(), size.rend());
}

/// Returns one part of a ZeroMQ message.
inline std::string zmtp_part(const std::string& bytes, bool has_more) {
  const int more = has_more ? 1 : 0;
  if (bytes.size() < 256)
    return std::string{static_cast<char>(more), static_cast<char>(bytes.size())} + bytes;
  return zmtp_length(bytes.size(), has_more) + bytes;
}

/// Returns the first bytes that a client with encryption sends: its greeting. A command HELLO
/// follows.
inline std::string zmtp_curve_greeting() {
  return zmtp_signature() + std::string("\x03\x00", 2) + "CURVE" + std::string(15 + 32, '\0');
}

/// Returns the first bytes that a DEALER socket of ZeroMQ 4 sends: its greeting and the command
/// READY.
inline std::string zmtp_greeting() {
  const std::string mechanism = "NULL" + std::string(16, '\0');
  const std::string ready = "\x05READY\x0bSocket-Type" + std::string("\0\0\0\x06", 4) + "DEALER";
  return zmtp_signature() + std::string("\x03\x00", 2) + mechanism + std::string(32, '\0') +
         "\x04" + static_cast<char>(ready.size()) + ready;
}

// ---- frames -----------------------------------------------------------------------------------

inline constexpr std::uint32_t raw_none = 0xffffffff;

/// Fields of the header that all frames have.
struct RawHeader {
  std::uint8_t kind = 0;
  std::uint64_t run_high = 0, run_low = 0;
  std::string text = {};
  std::uint32_t from_host = 0;
  std::uint32_t stage = raw_none;
  std::uint16_t version = 8;
  std::string bytes() const {
    return "PATH" + little_endian(version) + static_cast<char>(kind) + '\0' +
           little_endian(run_high) + little_endian(run_low) +
           little_endian(static_cast<std::uint16_t>(text.size())) + text +
           little_endian(from_host) + little_endian(std::uint32_t{0}) +
           little_endian(std::uint64_t{0}) + little_endian(stage);
  }
};

/// Returns the header of a hello from the second host of the plan to the first host. A peer that
/// knows the config could forge this header.
inline RawHeader header_of_second_host(const paths::Plan& plan) {
  return {.run_high = plan.digest.high,
          .run_low = plan.digest.low,
          .text = plan.hosts[1].name,
          .from_host = 1,
          .stage = plan.shares[0].entrances.at(0).stage};
}

/// Returns the header of a hello for the deployment of a config. `plan_high` and `plan_low` are the
/// halves of the plan's digest. `label` is the label of a deployment; "" = that of the config.
inline std::string raw_hello(RawHeader header, std::uint64_t plan_high, std::uint64_t plan_low,
                             const std::string& label = "") {
  header.kind = 4;
  return header.bytes() + '\1' + little_endian(static_cast<std::uint16_t>(label.size())) + label +
         little_endian(std::uint64_t{1}) + little_endian(std::uint64_t{99}) +
         little_endian(plan_high) + little_endian(plan_low);
}

/// Returns the header of a push that moves a tuple of path 0 at `slot`.
inline std::string raw_move(RawHeader header, std::uint32_t slot) {
  header.kind = 3;
  header.text = {};
  const std::uint32_t path = 0, thread = 0, segment = 0, segments = 1, time_left = 0;
  return header.bytes() + '\1' + '\1' + little_endian(path) + little_endian(thread) +
         little_endian(slot) + little_endian(segment) + little_endian(segments) +
         little_endian(time_left) + little_endian(std::uint64_t{0}) +
         little_endian(std::uint64_t{0}) + little_endian(std::uint64_t{1});
}

/// The fields of a frame of lanes, by their names in wire.md.
struct RawLane {
  std::uint8_t kind = 0;
  std::uint32_t begin = 0, end = 0;
  std::uint64_t group = 0, channel = 0, number = 0, bytes = 0, offset = 0, meaning = 0;
};

inline std::string raw_lane(RawHeader header, const RawLane& lane) {
  header.kind = 10;
  std::string all = header.bytes() + static_cast<char>(lane.kind) + '\0' +
                    little_endian(lane.begin) + little_endian(lane.end);
  for (const std::uint64_t field :
       {lane.group, lane.channel, lane.number, lane.bytes, lane.offset, lane.meaning,
        std::uint64_t{0}, std::uint64_t{0}, std::uint64_t{0}})
    all += little_endian(field);
  return all;
}

/// Returns all bytes of the refusal that a stranger gets, with the reason `word`.
inline std::string raw_refusal(const std::string& word) {
  return "PATH" + std::string("\x08\0\6\0", 4) + std::string(16, '\0') +
         static_cast<char>(word.size()) + '\0' + word + "\xff\xff\xff\xff" + std::string(12, '\0') +
         "\xff\xff\xff\xff" + '\0';
}

// ---- connections ------------------------------------------------------------------------------

class RawPeer {
 public:
  /// Connects to a port of this machine and sends `bytes`.
  explicit RawPeer(int port, const std::string& bytes = zmtp_greeting())
      : descriptor_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const auto* to = reinterpret_cast<const sockaddr*>(&address);
    is_there_ = connect(descriptor_, to, sizeof address) == 0;
    if (is_there_) send_bytes(bytes);
  }
  RawPeer(RawPeer&& from) noexcept
      : descriptor_(std::exchange(from.descriptor_, -1)),
        is_there_(from.is_there_),
        is_greeted_(from.is_greeted_),
        is_ready_(from.is_ready_),
        arrived_(std::move(from.arrived_)) {}
  ~RawPeer() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  bool is_there() const { return is_there_; }
  void send_bytes(const std::string& bytes) {
    // The send fails if the other end has closed the connection.
    if (send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0) is_there_ = false;
  }
  /// Reads the greeting and the READY of the other end. Must be called before messages are sent,
  /// because ZeroMQ ends a connection if messages arrive before ZeroMQ has sent its greeting and
  /// READY. Returns false if the other end closes or stays silent.
  bool shake_hands() {
    constexpr std::size_t greeting_bytes = 64;
    constexpr int milliseconds = 20'000;
    while (!is_greeted_) {
      if (arrived_.size() >= greeting_bytes) {
        arrived_.erase(0, greeting_bytes);
        is_greeted_ = true;
      } else if (!read_more(milliseconds)) {
        return false;
      }
    }
    while (!is_ready_) {
      is_ready_ = take_part().has_value();
      if (!is_ready_ && !read_more(milliseconds)) return false;
    }
    return true;
  }
  void send_frame(const std::string& header, const std::string& body = "") {
    shake_hands();
    send_bytes(zmtp_part(header, true) + zmtp_part(body, false));
  }
  /// Sends the header of a frame and the first part of its large body.
  void send_first_part(const std::string& header, const std::string& part, std::uint64_t total) {
    shake_hands();
    send_bytes(zmtp_part(header, true) + zmtp_part(part, true) +
               zmtp_part(little_endian(std::uint64_t{0}) + little_endian(total), false));
  }
  /// Sends up to `bytes` bytes. Returns the number of bytes that were sent before the other end
  /// closed.
  std::uint64_t flood(std::uint64_t bytes) {
    const std::string some(64 << 10, 'x');
    std::uint64_t sent = 0;
    for (; is_there_ && sent < bytes; sent += some.size()) send_bytes(some);
    return sent;
  }
  /// Returns whether the other end closes within `milliseconds`.
  bool is_closed(int milliseconds = 20'000) {
    const timeval patience{milliseconds / 1000, milliseconds % 1000 * 1000};
    setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    char some[4096];
    for (;;) {
      const ssize_t size = recv(descriptor_, some, sizeof some, 0);
      if (size <= 0) return size == 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
    }
  }
  /// Reads and discards bytes until the other end closes or is silent for `milliseconds`.
  void listen(int milliseconds) {
    while (read_more(milliseconds)) arrived_.clear();
  }
  /// Returns the header of the next frame; nullopt if the other end closes or is silent for
  /// `milliseconds`. Requires: the connection began with zmtp_greeting().
  std::optional<std::string> next_header(int milliseconds = 20'000) {
    if (!shake_hands()) return std::nullopt;
    for (bool is_first = true;;) {
      const auto part = take_part();
      if (!part) {
        if (!read_more(milliseconds)) return std::nullopt;
        continue;
      }
      const auto& [flags, bytes] = *part;
      if ((flags & 4) != 0) continue;  // a ZMTP command, not a part of a frame
      if (std::exchange(is_first, (flags & 1) == 0)) header_ = bytes;
      if ((flags & 1) == 0) return header_;
    }
  }

 private:
  bool read_more(int milliseconds) {
    const timeval patience{milliseconds / 1000, milliseconds % 1000 * 1000};
    setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    char some[4096];
    const ssize_t size = recv(descriptor_, some, sizeof some, 0);
    if (size <= 0) return false;
    arrived_.append(some, static_cast<std::size_t>(size));
    return true;
  }
  std::optional<std::pair<int, std::string>> take_part() {
    if (arrived_.size() < 2) return std::nullopt;
    const int flags = arrived_[0];
    const std::size_t before = (flags & 2) != 0 ? 9 : 2;
    if (arrived_.size() < before) return std::nullopt;
    std::size_t size = 0;
    for (std::size_t at = 1; at < before; ++at)
      size = size << 8 | static_cast<unsigned char>(arrived_[at]);
    if (arrived_.size() < before + size) return std::nullopt;
    std::string bytes = arrived_.substr(before, size);
    arrived_.erase(0, before + size);
    return std::pair(flags, std::move(bytes));
  }

  int descriptor_;
  bool is_there_ = false;
  bool is_greeted_ = false, is_ready_ = false;
  std::string arrived_;
  std::string header_;
};

}  // namespace test_support
