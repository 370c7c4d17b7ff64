// SPDX-License-Identifier: Apache-2.0
// paths/wire/refusal.cpp — the words of refusals, their frames, and the texts for refused hosts
#include "paths/wire/refusal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace paths {
namespace {

constexpr std::array<std::string_view, 5> words = {"version", "run", "plan", "place", "busy"};

}  // namespace

std::string_view text_of(RefusalWord word) { return words[static_cast<std::size_t>(word)]; }

Frame refusal_of_stranger(RefusalWord word) {
  Frame frame;
  frame.kind = FrameKind::refuse;
  frame.from_host = no_host;
  frame.text = text_of(word);
  return frame;
}

std::optional<RefusalWord> word_of_refusal(const Frame& frame) {
  const bool names_run = frame.run_high != 0 || frame.run_low != 0;
  const auto* const found = std::find(words.begin(), words.end(), frame.text);
  if (frame.kind != FrameKind::refuse || names_run || found == words.end()) return std::nullopt;
  return static_cast<RefusalWord>(found - words.begin());
}

std::string text_of_refusal(const std::string& peer, const std::string& plan,
                            const Frame& refusal) {
  if (refusal.version != protocol_version)
    return fmt::format("host {0} refused: version; it speaks protocol version {1}, this host {2}",
                       peer, refusal.version, protocol_version);
  const auto word = word_of_refusal(refusal);
  if (!word) return refusal.text;
  std::string more = fmt::format("the log of {} has the reason", peer);
  if (*word == RefusalWord::plan)
    more = fmt::format("this host has {}; the log of {} has the other", plan, peer);
  if (*word == RefusalWord::run) more = "its run key differs, or it belongs to an earlier run";
  return fmt::format("host {} refused: {}; {}", peer, text_of(*word), more);
}

}  // namespace paths
