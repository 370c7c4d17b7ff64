// SPDX-License-Identifier: Apache-2.0
// commands/paper_parameters.hpp — measured costs as parameters of Vadhiyar, Fagg and Dongarra 2004.
#pragma once
#include <cstdint>
#include <string>

#include "base/link_model/host_costs.hpp"
#include "base/link_model/measured_network.hpp"
#include "base/units.hpp"

namespace commands {

/// Parameters of messages of one size from one host to another. They are only printed; predictions
/// use the costs from which they are derived.
///
/// If a host sends many messages without pauses, the first `initial_interval` sends take `os_start`
/// each. In the paper, each further send takes `os_spike` or, for `mid_interval` sends between two
/// spikes, `os_mid`. Here a sender has a window of fixed size, so `mid_interval` is always 0.
///
/// Units: the names are those of the paper; times are of one message.
/// Paper: Vadhiyar, Fagg and Dongarra 2004, parameters of point-to-point communication.
struct PaperParameters {
  base::Nanos os_g_or{0};   ///< time until the receiver has the message
  base::Nanos or_time{0};   ///< time of the receiver for a message that has arrived ("or")
  base::Nanos os_start{0};  ///< time of the sender for a message, if its window has room
  base::Nanos g{0};         ///< os_g_or - os_start - or; contains the latency
  base::Nanos os_spike{0};  ///< time of a send if the window is full
  std::uint64_t initial_interval = 0;  ///< number of messages that fit into an empty window

  /// Returns whether the paper would call the sends blocking: the receiver is busy for at least 0.8
  /// of `os_g_or`.
  bool is_blocking() const;
};

/// Returns the parameters of messages of `bytes` bytes, at most `frame_bytes`.
PaperParameters paper_parameters(const tuning::FrameCosts& costs, const tuning::MeasuredLink& link,
                                 std::uint64_t frame_bytes, std::uint64_t bytes);
/// Returns lines for messages of three sizes, the largest of which is a frame. `name` names the
/// network or link.
std::string paper_lines(const std::string& name, const tuning::FrameCosts& costs,
                        const tuning::MeasuredLink& link, std::uint64_t frame_bytes);

}  // namespace commands
