// SPDX-License-Identifier: Apache-2.0
// paths/config/link_text.hpp — emulated links as both levels of the config write them.
#pragma once
#include "base/settings.hpp"
#include "paths/plan/ways.hpp"

namespace paths {

/// What a config says of an emulated link, checked, and kept as it was written.
struct LinkText {
  base::Settings settings;   ///< those of the link alone
  bool delays = false;       ///< it takes time of all that passes it
  bool has_streams = false;  ///< frames take more in streams of it
  /// Without those of streams, which declared paths do not take.
  base::Settings path_settings() const;
};

/// The settings of a link among those of `reader`. Those between clusters may have streams.
LinkText read_link_text(base::MapReader& reader, bool is_between_clusters);

/// A cluster's own network.
void read_network_text(const base::Settings& network, Ways::Cluster& cluster,
                       base::Mistakes& mistakes);

/// The key `uplink`, `exit` or `switch`, and `rate`, of the exit, once the network is known.
void read_uplink_text(base::MapReader& reader, const base::Settings& rate, Ways::Cluster& cluster);

}  // namespace paths
