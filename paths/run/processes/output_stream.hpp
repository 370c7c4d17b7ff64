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

/// Stream to a descriptor whose reader may stop reading at any time. A child process calls write()
/// for this process. This process therefore never blocks, and can stop the output at any time.
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
  /// Returns false while too much output waits. The caller must then append no further lines, so
  /// that waiting output does not fill the memory.
  bool has_room() const { return waiting_bytes_ < waiting_bytes_max; }
  /// Sends waiting output to the child process, as much as fits into the socket now.
  void push();
  /// Notes that no lines follow. The child process ends when it has written all lines.
  void close();
  /// Returns whether close() was called and the child process has ended. Each line is then either
  /// written or lost.
  bool is_done();
  /// Ends the child process; unwritten output is lost.
  void abandon();
  /// Returns whether some output was lost, because the child process could not write it or was
  /// ended by abandon().
  bool is_lost() const { return is_lost_; }
  /// Returns the number of bytes that are not yet written. If two calls return the same number, the
  /// reader has read nothing in between.
  std::size_t undelivered() const;

  /// Returns a descriptor that is readable when the child process has ended; negative if no child
  /// process runs.
  int end() const { return end_.get(); }
  /// Returns a descriptor that is writable when push() has work; negative if no bytes wait to be
  /// written.
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

/// Copies the output lines of one process to an OutputStream, each with a prefix.
class LineCopier {
 public:
  LineCopier(base::Descriptor from, OutputStream& to, std::string prefix)
      : from_(std::move(from)), to_(&to), prefix_(std::move(prefix)) {}
  const OutputStream& to() const { return *to_; }
  bool is_open() const { return static_cast<bool>(from_); }
  /// Returns a descriptor that is readable when copy() has work. Negative while the output stream
  /// has no room, and after the end of the input.
  int readable() const { return to_->has_room() ? from_.get() : -1; }

  /// Copies the available input while the output stream has room. Closes the copier at the end of
  /// the input.
  void copy();
  /// Limits copying to the input that is available now, because other processes may have inherited
  /// the stream and may write to it for ever.
  void finish_soon();

 private:
  void finish();
  void append_lines();

  base::Descriptor from_;
  OutputStream* to_;
  std::string prefix_;
  std::string pending_;  // beginning of a line whose end was not read yet
  bool finishes_ = false;
  std::size_t left_bytes_ = 0;  // bytes still to read, if finishes_ is true
};

}  // namespace paths
