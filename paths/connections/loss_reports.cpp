// SPDX-License-Identifier: Apache-2.0
// paths/connections/loss_reports.cpp — checking, storing and passing on of reports about hosts
#include "paths/connections/loss_reports.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>

namespace paths {
namespace {

// Words of a report before and after the name of the host. The state follows the words of a loss
// and of a missing host.
constexpr std::string_view words_before_name = "host ";
constexpr std::string_view words_of_loss = " is gone: ", words_of_missing = " is missing: ",
                           words_of_arrival = " has arrived";

std::string_view state_in(std::string_view text, std::string_view words) {
  return text.substr(text.find(words) + words.size());
}

}  // namespace

void LossReports::report(const std::string& loss) {
  {
    const runtime::Lock lock(table_.mutex());
    const auto host = host_in(loss, words_of_loss);
    if (loss_ || !host) return;
    loss_ = Report{*host, loss};
    tell_all_except(table_.host(), loss);
  }
  queue_.send_posted();
}

void LossReports::report_absence(std::uint32_t host, const std::string& state) {
  {
    const runtime::Lock lock(table_.mutex());
    if (loss_ || missing_) return;
    missing_ = Report{host, fmt::format("{}{}{}{}", words_before_name, table_.name_of(host),
                                        words_of_missing, state)};
    tell_all_except(table_.host(), missing_->text);
  }
  queue_.send_posted();
}

void LossReports::report_arrival(std::uint32_t host) {
  {
    const runtime::Lock lock(table_.mutex());
    if (loss_ || !missing_ || missing_->host != host) return;
    missing_.reset();
    tell_all_except(table_.host(), fmt::format("{}{}{}", words_before_name, table_.name_of(host),
                                               words_of_arrival));
  }
  queue_.send_posted();
}

void LossReports::receive(const Connection& from, const std::string& text,
                          runtime::DeferredWakes& wakes) {
  if (loss_ || !text.starts_with(words_before_name)) return;
  const auto names = [&](std::string_view words) {
    const auto host = host_in(text, words);
    return host && *host != table_.host() && *host != from.peer ? host : std::nullopt;
  };
  const std::string quoted = fmt::format(" (says {})", table_.name_of(from.peer));
  if (const auto lost = names(words_of_loss)) {
    loss_ = Report{*lost, text, quoted};
    meeting_.note_loss(*lost, std::string(state_in(text, words_of_loss)) + quoted, wakes);
  } else if (const auto missing = names(words_of_missing); missing && !missing_) {
    missing_ = Report{*missing, text, quoted};
  } else if (const auto arrived = names(words_of_arrival);
             arrived && missing_ && missing_->host == *arrived && !meeting_.awaits(*arrived)) {
    missing_.reset();
  } else {
    return;
  }
  tell_all_except(from.peer, text);
}

/// Returns the host between `words_before_name` and `words` in a text; nullopt if there is none.
std::optional<std::uint32_t> LossReports::host_in(std::string_view text,
                                                  std::string_view words) const {
  const std::size_t end = text.find(words);
  if (!text.starts_with(words_before_name) || end == std::string_view::npos) return std::nullopt;
  const std::size_t begin = words_before_name.size();
  return end < begin ? std::nullopt : table_.peers().named(text.substr(begin, end - begin));
}

/// Posts a text to each connected peer except `source`: the peer that sent the text.
void LossReports::tell_all_except(std::uint32_t source, const std::string& text) {
  std::set<std::uint32_t> told = {source};
  for (const auto& [id, connection] : table_.all()) {
    const bool is_open = connection->known && connection->lost.empty() && !connection->has_closed &&
                         (!connection->is_ours || connection->is_welcome);
    if (is_open && told.insert(connection->peer).second) post(*connection, text);
  }
}

void LossReports::tell(Connection& peer) {
  const auto& known = loss_ ? loss_ : missing_;
  if (known && known->host != peer.peer) post(peer, known->text);
}

void LossReports::post(Connection& peer, const std::string& text) {
  Frame frame = table_.frame_of(FrameKind::heartbeat);
  frame.text = text;
  sender_.post(peer, std::move(frame));
}

std::string LossReports::complete(const std::string& error) const {
  const runtime::Lock lock(table_.mutex());
  const auto& known = loss_ ? loss_ : missing_;
  if (!known) return error;
  for (const std::string_view words : {words_of_loss, words_of_missing})
    if (error.find(fmt::format("{}{}{}", words_before_name, table_.name_of(known->host), words)) !=
        std::string::npos)
      return error;
  return fmt::format("{}; {}{}", error, known->text, known->quoted);
}

}  // namespace paths
