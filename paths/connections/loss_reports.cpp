// SPDX-License-Identifier: Apache-2.0
// paths/connections/loss_reports.cpp — checking, storing and passing on of a reported loss
#include "paths/connections/loss_reports.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>

namespace paths {
namespace {

// Words before and after the name in the text of a loss: "host NAME is gone: STATE".
constexpr std::string_view words_before_name = "host ", words_after_name = " is gone: ";

}  // namespace

void LossReports::report(const std::string& loss) {
  {
    const runtime::Lock lock(table_.mutex());
    if (!loss_.empty() || !host_in(loss)) return;
    loss_ = loss;
    tell_all_except(table_.host());
  }
  queue_.send_posted();
}

void LossReports::receive(const Connection& from, const std::string& text,
                          runtime::DeferredWakes& wakes) {
  const auto lost = host_in(text);
  if (!lost || *lost == table_.host() || *lost == from.peer || !loss_.empty()) return;
  loss_ = text;
  quoted_ = fmt::format(" (says {})", table_.name_of(from.peer));
  tell_all_except(from.peer);
  const std::size_t state = text.find(words_after_name) + words_after_name.size();
  meeting_.note_loss(*lost, text.substr(state) + quoted_, wakes);
}

/// Returns the host whose loss `text` reports; nullopt if `text` reports no loss.
std::optional<std::uint32_t> LossReports::host_in(std::string_view text) const {
  const std::size_t end = text.find(words_after_name);
  if (!text.starts_with(words_before_name) || end == std::string_view::npos) return std::nullopt;
  const std::size_t begin = words_before_name.size();
  return table_.peers().named(text.substr(begin, end - begin));
}

/// Posts the loss to each connected peer except `source`: the peer that reported the loss.
void LossReports::tell_all_except(std::uint32_t source) {
  std::set<std::uint32_t> told = {source};
  for (const auto& [id, connection] : table_.all()) {
    const bool is_open = connection->known && connection->lost.empty() && !connection->has_closed &&
                         (!connection->is_ours || connection->is_welcome);
    if (is_open && told.insert(connection->peer).second) tell(*connection);
  }
}

void LossReports::tell(Connection& peer) {
  if (loss_.empty()) return;
  Frame frame = table_.frame_of(FrameKind::heartbeat);
  frame.text = loss_;
  sender_.post(peer, std::move(frame));
}

std::string LossReports::complete(const std::string& error) const {
  const runtime::Lock lock(table_.mutex());
  if (loss_.empty()) return error;
  const std::size_t state = loss_.find(words_after_name) + words_after_name.size();
  const bool is_named = error.find(loss_.substr(0, state)) != std::string::npos;
  return is_named ? error : fmt::format("{}; {}{}", error, loss_, quoted_);
}

}  // namespace paths
