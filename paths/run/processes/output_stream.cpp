// SPDX-License-Identifier: Apache-2.0
// paths/run/processes/output_stream.cpp — child process that writes output, and lines that are sent
// to the child.
#include "paths/run/processes/output_stream.hpp"

#include <linux/sockios.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <system_error>
#include <utility>

namespace paths {
namespace {

constexpr std::size_t line_bytes_max = 65536;  // a longer line is copied in parts
constexpr std::size_t message_bytes_max = 2 * line_bytes_max;
constexpr int reads_in_a_row = 16;  // number of reads of 16 KiB; enough to empty a pipe

/// Writes all bytes. Returns false if a write fails.
bool write_all(int descriptor, const char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t written = write(descriptor, bytes, size);
    if (written >= 0) {
      bytes += written;
      size -= static_cast<std::size_t>(written);
    } else if (errno == EAGAIN) {
      pollfd room{descriptor, POLLOUT, 0};
      poll(&room, 1, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

/// Function of the child process after fork(), which must use only system calls. The child process
/// blocks all signals, because the launcher ends the child process itself. Signals that a terminal
/// sends to the process group are meant for the launcher.
[[noreturn]] void write_messages(int from, int to, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  dup2(to, STDOUT_FILENO);
  dup2(from, STDIN_FILENO);
  // Closes inherited descriptors. Some of them are ends of other pipes. The readers of these pipes
  // would otherwise wait for the end of this process.
  syscall(SYS_close_range, STDERR_FILENO, ~0u, 0);
  static char message[message_bytes_max];
  bool is_lost = false;
  for (;;) {
    const ssize_t size = recv(STDIN_FILENO, message, sizeof message, 0);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) _exit(is_lost ? 1 : 0);
    // After a failed write the loop continues to read messages and discards them. Otherwise the
    // launcher would wait for room in the socket.
    if (!is_lost && !write_all(STDOUT_FILENO, message, static_cast<std::size_t>(size)))
      is_lost = true;
  }
}

/// Returns how many bytes of `lines` to send in one message. The message has whole lines of at most
/// PIPE_BUF bytes in total, so that one write to a pipe is enough. If the first line alone is
/// longer, the message has only this line, cut after message_bytes_max bytes.
std::size_t message_bytes(std::string_view lines) {
  if (lines.size() <= PIPE_BUF) return lines.size();
  const auto last = lines.rfind('\n', PIPE_BUF - 1);
  const auto end = last != std::string_view::npos ? last : lines.find('\n');
  return std::min({lines.size(), message_bytes_max, end == lines.npos ? lines.npos : end + 1});
}

}  // namespace

// ---- streams ---------------------------------------------------------------------------------

void OutputStream::start() {
  int ends[2];
  const auto check = [](bool is_right, const char* what) {
    if (!is_right) throw std::system_error(errno, std::generic_category(), what);
  };
  check(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0, "socketpair");
  socket_ = base::Descriptor(ends[0]);
  const base::Descriptor theirs(ends[1]);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  check(pid >= 0, "fork");
  if (pid == 0) write_messages(theirs.get(), to_, parent);
  pid_ = pid;
  end_ = base::Descriptor(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  check(static_cast<bool>(end_), "pidfd_open");
}

void OutputStream::append(std::string_view lines) {
  if (lines.empty() || is_closed_) return;
  if (pid_ == 0 && !is_lost_) start();
  while (!lines.empty()) {
    const std::size_t bytes = message_bytes(lines);
    waiting_.emplace_back(lines.substr(0, bytes));
    waiting_bytes_ += bytes;
    lines.remove_prefix(bytes);
  }
  push();
}

void OutputStream::push() {
  while (!waiting_.empty()) {
    const std::string& message = waiting_.front();
    const ssize_t sent =
        send(socket_.get(), message.data(), message.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && (errno == EAGAIN || errno == ENOBUFS)) return;
    if (sent < 0) is_lost_ = true;  // send() fails if the child process was killed
    waiting_bytes_ -= message.size();
    waiting_.pop_front();
  }
  if (is_closed_) socket_.close();
}

void OutputStream::close() {
  is_closed_ = true;
  push();
}

bool OutputStream::is_done() {
  if (pid_ != 0) collect(WNOHANG);
  return is_closed_ && pid_ == 0;
}

void OutputStream::abandon() {
  if (pid_ == 0) return;
  is_lost_ = true;
  kill(pid_, SIGKILL);
  collect(0);
}

void OutputStream::collect(int options) {
  int status = 0;
  if (waitpid(pid_, &status, options) != pid_) return;
  pid_ = 0;
  is_lost_ = is_lost_ || status != 0 || !waiting_.empty();
  waiting_.clear();
  waiting_bytes_ = 0;
  end_.close();
  socket_.close();
}

std::size_t OutputStream::undelivered() const {
  int queued = 0;
  if (socket_) ioctl(socket_.get(), SIOCOUTQ, &queued);
  return waiting_bytes_ + static_cast<std::size_t>(std::max(queued, 0));
}

// ---- lines -----------------------------------------------------------------------------------

void LineCopier::copy() {
  char bytes[16384];
  for (int i = 0; i < reads_in_a_row && is_open() && to_->has_room(); ++i) {
    const std::size_t wanted = finishes_ ? std::min(left_bytes_, sizeof bytes) : sizeof bytes;
    if (wanted == 0) return finish();
    const ssize_t count = read(from_.get(), bytes, wanted);
    if (count > 0) {
      pending_.append(bytes, static_cast<std::size_t>(count));
      left_bytes_ -= std::min(left_bytes_, static_cast<std::size_t>(count));
      append_lines();
    } else if (count < 0 && errno == EINTR) {
      continue;
    } else {
      if (count == 0 || errno != EAGAIN || finishes_) finish();
      return;
    }
  }
}

void LineCopier::finish_soon() {
  if (!is_open()) return;
  int there = 0;
  ioctl(from_.get(), FIONREAD, &there);
  finishes_ = true;
  left_bytes_ = static_cast<std::size_t>(std::max(there, 0));
}

void LineCopier::finish() {
  if (!pending_.empty()) {
    pending_ += '\n';
    append_lines();
  }
  from_.close();
}

void LineCopier::append_lines() {
  std::string lines;
  std::size_t begin = 0;
  for (;;) {
    const std::size_t end = pending_.find('\n', begin);
    if (end == std::string::npos) break;
    lines += prefix_;
    lines.append(pending_, begin, end + 1 - begin);
    begin = end + 1;
  }
  pending_.erase(0, begin);
  if (pending_.size() >= line_bytes_max) lines += prefix_ + std::exchange(pending_, {}) + '\n';
  to_->append(lines);
}

}  // namespace paths
