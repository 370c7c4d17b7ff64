// SPDX-License-Identifier: Apache-2.0
// paths/run/output_stream.hpp — the output of several processes on one stream, without blocking.
#pragma once
#include <sys/types.h>

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>

#include "base/descriptor.hpp"

namespace paths {

/// Writes to a descriptor whose reader may stop reading at any time. A child process does the
/// writing, so the caller never blocks in write() and can end the writing at any moment.
///
/// Why:    other processes share the descriptor, so it cannot be made non-blocking.
/// Owns:   the child process, which ends with the stream and with the calling thread.
/// Throws: std::system_error when the system refuses the child process or its socket.
class OutputStream {
 public:
  explicit OutputStream(int to) : to_(to) {}
  ~OutputStream() { abandon(); }
  OutputStream(const OutputStream&) = delete;
  OutputStream& operator=(const OutputStream&) = delete;

  /// Adds whole lines. The first call starts the child process.
  void append(std::string_view lines);
  /// False while so much waits for the reader that more would only fill memory.
  bool has_room() const { return waiting_bytes_ < waiting_bytes_max; }
  /// Hands over what the child process can take now.
  void push();
  /// Nothing more is appended: the child process ends when it has written everything.
  void close();
  /// Everything was written or is lost; the child process has ended.
  bool is_done();
  /// Ends the child process, whatever it has not written is lost.
  void abandon();
  /// Some of the output was lost: it could not be written, or was abandoned.
  bool is_lost() const { return is_lost_; }
  /// Changes whenever the reader takes something.
  std::size_t undelivered() const;

  /// Readable when the child process has ended; negative: none runs.
  int end() const { return end_.get(); }
  /// Writable when push() has something to do; negative: push() has nothing to do.
  int room() const { return waiting_.empty() ? -1 : socket_.get(); }

 private:
  static constexpr std::size_t waiting_bytes_max = std::size_t{256} << 10;
  void start();
  void collect(int options);

  const int to_;
  base::Descriptor socket_;  // to the child process, one message for each write
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
  /// Readable when copy() has something to do; negative: copy() has nothing to do.
  int readable() const { return to_->has_room() ? from_.get() : -1; }

  /// Copies what is there now and finds room. The end of the stream closes the copier.
  void copy();
  /// From now on copies only what is there already: processes that outlive theirs may write on.
  void finish_soon();

 private:
  void finish();
  void append_lines();

  base::Descriptor from_;
  OutputStream* to_;
  std::string prefix_;
  std::string pending_;  // the beginning of a line
  bool finishes_ = false;
  std::size_t left_bytes_ = 0;  // to be read, if it finishes
};

}  // namespace paths
