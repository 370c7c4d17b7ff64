// SPDX-License-Identifier: Apache-2.0
// paths/wire/refusal.hpp — refusals of peers that have not shown that they belong to the run
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "paths/wire/frame.hpp"

namespace paths {

/// The check that a refused peer did not pass. A stranger (a peer that has not shown that it
/// belongs to the run) receives only this word.
enum class RefusalWord : std::uint8_t {
  version,  ///< the peer has a different protocol version
  run,      ///< the peer belongs to a different run
  plan,     ///< the peer has a different config or plan
  place,    ///< no such host or connection, a second connection, or no hello as first frame
  busy,     ///< too many hellos wait for the same call of deploy()
};

/// Result of the check of a peer: the word that a refused peer receives, and the full reason for
/// the log.
struct Rejection {
  RefusalWord word = RefusalWord::place;
  std::string reason = {};  ///< "" if the peer is not refused
};

std::string_view text_of(RefusalWord word);
/// Returns the frame that refuses a stranger. The frame names no run, host, stage or deployment.
/// Its bytes depend only on `word`.
Frame refusal_of_stranger(RefusalWord word);
/// Returns the word of a frame that refusal_of_stranger() made on another host; nullopt for all
/// other frames.
std::optional<RefusalWord> word_of_refusal(const Frame& frame);
/// Returns the text for the error messages of this host, which was refused. `peer` is the host that
/// has sent the frame `refusal`. `plan` describes the plan of this host, such as "config 17ab".
std::string text_of_refusal(const std::string& peer, const std::string& plan, const Frame& refusal);

}  // namespace paths
