// SPDX-License-Identifier: Apache-2.0
// paths/config/link_text.hpp — settings of emulated links, in high-level and low-level configs.
#pragma once
#include "base/settings.hpp"
#include "paths/plan/ways.hpp"

namespace paths {

/// Settings of an emulated link, checked, and stored as the user wrote them.
struct LinkText {
  base::Settings settings;   ///< settings of the link, without the other keys of its map
  bool delays = false;       ///< whether messages take time on the link
  bool has_streams = false;  ///< whether the link has settings of streams
  /// Whether the network of the link protects what hosts send (`security: network`).
  bool is_protected = false;
  /// Returns the settings for a link on a declared path. The result has no settings of streams,
  /// because declared paths do not use streams.
  base::Settings path_settings() const;
};

/// Reads the settings of a link. Only links between clusters may have streams.
LinkText read_link_text(base::MapReader& reader, bool is_between_clusters);

/// Reads the settings of the network inside a cluster, and stores them in `cluster`.
void read_network_text(const base::Settings& network, Ways::Cluster& cluster,
                       base::Mistakes& mistakes);

/// Reads the key `uplink`, whose value is `exit` or `switch`. `rate` is the bandwidth of the exit's
/// network link; null if the config does not state it. Requires: the network of the cluster was
/// read.
void read_uplink_text(base::MapReader& reader, const base::Settings& rate, Ways::Cluster& cluster);

}  // namespace paths
