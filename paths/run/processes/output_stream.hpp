// SPDX-License-Identifier: Apache-2.0
// paths/run/processes/output_stream.hpp — nonblocking output of several processes to one stream.
#pragma once
#include <sys/types.h>

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>

#include "base/descriptor.hpp"

namespace paths {

/// Writes to a descriptor whose reader may stop reading at any time. A child process calls write()
/// for the caller. The caller therefore never blocks, and can stop the output at any time.
///
/// Why:    Other processes share the descriptor, so it cannot be made nonblocking.
/// Owns:   the child process, which ends with the stream and with the calling thread.
/// Throws: std::system_error if the system refuses the child process or its socket.
class OutputStream {
 public:
  explicit OutputStream(int to) : to_(to) {}
  ~OutputStream() { abandon(); }
  OutputStream(const OutputStream&) = delete;
  OutputStream& operator=(const OutputStream&) = delete;

  /// Adds whole lines. The first call starts the child process.
  void append(std::string_view lines);
  /// Returns false while too much output waits. The caller must then not append more, so that
  /// waiting output does not fill the memory.
  bool has_room() const { return waiting_bytes_ < waiting_bytes_max; }
  /// Sends waiting output to the child process, as much as fits into the socket now.
  void push();
  /// Notes that no lines follow. The child process ends when it has written everything.
  void close();
  /// Returns whether close() was called and the child process has ended. Each line is then either
  /// written or lost.
  bool is_done();
  /// Ends the child process; unwritten output is lost.
  void abandon();
  /// Returns whether some output was lost, because it could not be written or was abandoned.
  bool is_lost() const { return is_lost_; }
  /// Returns the number of bytes that are not yet written. If two calls return the same number, the
  /// reader has read nothing in between.
  std::size_t undelivered() const;

  /// Returns a descriptor that is readable when the child process has ended; negative if none runs.
  int end() const { return end_.get(); }
  /// Returns the descriptor to watch until it is writable. push() then has work. Negative if no
  /// bytes wait to be written.
  int room() const { return waiting_.empty() ? -1 : socket_.get(); }

 private:
  static constexpr std::size_t waiting_bytes_max = std::size_t{256} << 10;
  void start();
  void collect(int options);

  const int to_;
  base::Descriptor socket_;  // socket to the child process; one message per write
  base::Descriptor end_;
  pid_t pid_ = 0;
  std::deque<std::string> waiting_;
  std::size_t waiting_bytes_ = 0;
  bool is_closed_ = false;
  bool is_lost_ = false;
};

/// Copies lines of one stream of one process, each with a prefix.
class LineCopier {
 public:
  LineCopier(base::Descriptor from, OutputStream& to, std::string prefix)
      : from_(std::move(from)), to_(&to), prefix_(std::move(prefix)) {}
  const OutputStream& to() const { return *to_; }
  bool is_open() const { return static_cast<bool>(from_); }
  /// Returns a descriptor that is readable when copy() has work; negative if copy() has none.
  int readable() const { return to_->has_room() ? from_.get() : -1; }

  /// Copies the available input, while the output stream has room. The end of the input closes the
  /// copier.
  void copy();
  /// Limits copying to input that is available now. Other processes may still hold the stream and
  /// write to it for ever.
  void finish_soon();

 private:
  void finish();
  void append_lines();

  base::Descriptor from_;
  OutputStream* to_;
  std::string prefix_;
  std::string pending_;  // beginning of a line whose end was not read yet
  bool finishes_ = false;
  std::size_t left_bytes_ = 0;  // if finishes_: number of bytes still to read
};

}  // namespace paths
