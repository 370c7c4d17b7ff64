// SPDX-License-Identifier: Apache-2.0
// paths/wire/lane_frame.hpp — what crosses between hosts for lanes.
#pragma once
#include <cstdint>
#include <string>

#include "base/payload.hpp"
#include "base/units.hpp"

namespace paths {

enum class LaneKind : std::uint8_t {
  data,    ///< a piece of a message, or all of it
  credit,  ///< the target may send so many bytes more
  grant,   ///< the target may send all of one message
  ask,     ///< requests credit; with a meaning, asks if what the source awaits can still come
  left,    ///< the source is in the group no more, having sent so many messages; the text says why,
           ///< or with a meaning what it took part in
  refused,  ///< the target did what it may not; the text says what
  failed,   ///< some channels carry nothing more; the text says why
  lost,     ///< a host is gone; the text says why
  done,     ///< threads have ended, those of the source, of its cluster or all: bytes 0, 1, 2
  look,     ///< nothing: opens the connection, which tells when the target is gone
  // Of a connection:
  hello,    ///< first on it; the text is the host's name, the meaning the identity of its clock
  welcome,  ///< the answer; bytes: how far the host has got with ending
            ///< (MessageEndpoint::end_progress())
  goodbye,  ///< nothing more will come on it (bytes 1), or from this host at all (0), and all
            ///< before it has arrived; answered by one
  // Counted like `done`:
  here,  ///< hosts have arrived: the source, its cluster or all: bytes 0, 1, 2
};
inline constexpr LaneKind last_lane_kind = LaneKind::here;

/// A value. It names the hosts where it began and ends; those between pass it on as it is.
struct LaneFrame {
  LaneKind kind = LaneKind::data;
  bool is_granted = false;    ///< of data: a grant pays for it, not credit
  bool is_at_once = false;    ///< of a grant: emulated links do not delay it
  std::uint32_t source = 0;   ///< host, as the run's plan counts them
  std::uint32_t target = 0;   ///< likewise
  std::uint64_t group = 0;    ///< its id
  std::uint64_t channel = 0;  ///< of data and grant; of failed: the first; of
                              ///< left: how many the source took part in
  std::uint64_t ordinal = 0;  ///< of the message in its channel, likewise
  std::uint64_t bytes = 0;    ///< of data: the whole message's; of credit: how many; of left: how
                              ///< many messages; of failed: the last channel; of lost: the host
  std::uint64_t offset = 0;   ///< of data: where in the message the payload belongs
  std::uint64_t signature_digest =
      0;                  ///< of data and grant: what its sender takes the message for; of
                          ///< left: what it took part in, 0: not said. Of failed: 1 if
                          ///< hosts take the first channel for different things
  base::Nanos lag{0};     ///< how long the tail comes behind the head
  base::Nanos late{0};    ///< how long after its head's moment it was written; negative: before
  base::Nanos head{0};    ///< its head's moment by the steady clock of the machine where it was
                          ///< written, if an emulated link carried it; 0: none did
  std::string text = {};  ///< why
  base::Payload payload = {};  ///< of data
};

}  // namespace paths
