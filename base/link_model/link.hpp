// SPDX-License-Identifier: Apache-2.0
// base/link_model/link.hpp — one direction of a link between two clusters, as set in the config
#pragma once
#include <cstddef>

#include "base/link_model/link_model.hpp"

namespace tuning {

/// One direction of a link. Frames queue for the link. If the config sets streams, each frame also
/// occupies a stream of its pair of hosts.
struct Link {
  LinkModel model;
  double stream_rate = 0;   ///< bits per second of one stream; 0 = rate of the link
  std::size_t streams = 0;  ///< maximum number of streams that send at the same time; 0 = unlimited
  bool has_streams() const { return stream_rate > 0; }
  friend bool operator==(const Link&, const Link&) = default;
};

}  // namespace tuning
