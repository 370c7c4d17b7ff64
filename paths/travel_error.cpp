// SPDX-License-Identifier: Apache-2.0
// paths/travel_error.cpp — text of a travel error.
#include "paths/travel_error.hpp"

#include <fmt/format.h>

#include <utility>

namespace paths {
namespace {

std::string sentence(const std::string& host, const std::string& path, const std::string& wrapper,
                     const std::string& reason) {
  std::string where = host.empty() ? std::string() : "host " + host;
  if (!path.empty()) where += fmt::format("{}path {}", where.empty() ? "" : ", ", path);
  if (!wrapper.empty()) where += fmt::format("{}wrapper {}", where.empty() ? "" : ", ", wrapper);
  return where.empty() ? reason : where + ": " + reason;
}

}  // namespace

TravelError::TravelError(std::string host, std::string path, std::string wrapper,
                         std::string reason, FailureCause cause)
    : std::runtime_error(sentence(host, path, wrapper, reason)),
      host_(std::move(host)),
      path_(std::move(path)),
      wrapper_(std::move(wrapper)),
      reason_(std::move(reason)),
      cause_(cause) {}

pastset::ErrorMark mark_of(const std::exception& error) {
  if (const auto* mark = dynamic_cast<const pastset::Marked*>(&error))
    return {mark->what(), mark->cause()};
  const auto* failure = dynamic_cast<const TravelError*>(&error);
  const bool is_loss = failure != nullptr && failure->cause() == FailureCause::peer_gone;
  return {error.what(), is_loss ? pastset::MarkCause::loss : pastset::MarkCause::error};
}

TravelError error_of_mark(const pastset::ErrorMark& mark) {
  return {"", "", "", mark.text,
          mark.cause == pastset::MarkCause::loss ? FailureCause::peer_gone : FailureCause::other};
}

}  // namespace paths
