// SPDX-License-Identifier: Apache-2.0
// base/link_model/link.hpp — one direction between two clusters, as a config has it.
#pragma once
#include <cstddef>

#include "base/link_model/link_model.hpp"

namespace tuning {

/// Frames queue for the link; each also takes a stream of its pair of hosts, if there are such.
struct Link {
  LinkModel model;
  double stream_rate = 0;   ///< bits per second of one stream; 0: what the link has
  std::size_t streams = 0;  ///< that may send at once; 0: any number
  bool has_streams() const { return stream_rate > 0; }
  friend bool operator==(const Link&, const Link&) = default;
};

}  // namespace tuning
