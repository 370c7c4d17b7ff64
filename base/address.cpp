// SPDX-License-Identifier: Apache-2.0
// base/address.cpp — division of addresses into their parts
#include "base/address.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/units.hpp"

namespace base {
namespace {

constexpr std::string_view separator = "://";

/// Returns whether the text has only characters of machine names, interfaces and addresses.
bool is_interface(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char letter) {
    return std::isalnum(letter) != 0 ||
           std::string_view("-._:[]%*").find(static_cast<char>(letter)) != std::string_view::npos;
  });
}

}  // namespace

const TransportKind* find_transport_kind(std::string_view word) {
  const auto* const found = std::find_if(transport_kinds.begin(), transport_kinds.end(),
                                         [word](const auto& kind) { return kind.word == word; });
  return found != transport_kinds.end() ? found : nullptr;
}

std::vector<std::string_view> transport_words() {
  std::vector<std::string_view> words;
  for (const TransportKind& kind : transport_kinds) words.push_back(kind.word);
  return words;
}

std::string Address::text() const {
  if (!transport->is_network) return fmt::format("{}{}{}", transport->word, separator, place);
  return fmt::format("{}{}{}:{}", transport->word, separator, place, port);
}

std::optional<Address> parse_address(std::string_view text) {
  const auto end = text.find(separator);
  if (end == std::string_view::npos) return std::nullopt;
  const TransportKind* const kind = find_transport_kind(text.substr(0, end));
  if (kind == nullptr) return std::nullopt;
  const std::string_view rest = text.substr(end + separator.size());
  if (!kind->is_network) {
    if (rest.empty() || rest.ends_with('/')) return std::nullopt;
    return Address{kind, std::string(rest), 0};
  }
  const auto colon = rest.rfind(':');
  if (colon == std::string_view::npos || !is_interface(rest.substr(0, colon))) return std::nullopt;
  // An IPv6 address stands in brackets, so that its colons differ from that of the port.
  const std::string_view interface = rest.substr(0, colon);
  const bool has_brackets = interface.starts_with('[') && interface.ends_with(']');
  if (interface.find(':') != std::string_view::npos && !has_brackets) return std::nullopt;
  const auto port = parse_natural(rest.substr(colon + 1));
  if (!port || *port == 0) return std::nullopt;
  return Address{kind, std::string(rest.substr(0, colon)), *port};
}

std::string interface_of(std::string_view address) {
  const auto parts = parse_address(address);
  return parts && parts->transport->is_network ? parts->place : "";
}

}  // namespace base
