// SPDX-License-Identifier: Apache-2.0
// paths/thread.hpp — what one thread of the application is given.
#pragma once
#include <cstdint>
#include <exception>
#include <string_view>
#include <vector>

#include "paths/path.hpp"
#include "runtime/random.hpp"

namespace paths {

/// A thread's place in the program, its paths and its clock. The application is one function of
/// this, the same for both clocks: it must block through this and its paths only.
///
/// Sharing: the thread's own.
class Thread {
 public:
  Thread(Host& host, std::uint32_t index, std::uint64_t seed);
  ~Thread();  ///< releases every path
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;

  std::uint32_t rank() const;     ///< in the whole program, by hosts in config order
  std::uint32_t threads() const;  ///< of the whole program
  std::uint32_t index() const { return index_; }  ///< among the threads of its host
  Host& host() const { return *host_; }
  const std::string& cluster() const { return host_->plan().cluster_of(host_->index()); }
  double speed() const { return host_->plan().hosts[host_->index()].speed; }

  /// The thread's path of a collective or to an element, by its name in the config. Throws
  /// TravelError when this thread has none, saying which it has.
  Path& path(std::string_view graph);
  bool has_path(std::string_view graph) const;

  runtime::Nanos now() const { return host_->runtime().now(); }
  void sleep_for(runtime::Nanos span) { host_->runtime().sleep_for(span); }
  /// Of the program's seed; each thread its own stream.
  runtime::Random& random() { return random_; }

  /// Tells everyone who would wait for this thread in its next round that it failed.
  void fail(const std::string& reason);

 private:
  Host* host_;
  std::uint32_t index_;
  std::vector<Path> paths_;
  runtime::Random random_;
};

}  // namespace paths
