// SPDX-License-Identifier: Apache-2.0
// base/settings.cpp — nodes of a config, and the list of its mistakes
#include "base/settings.hpp"

#include <algorithm>
#include <functional>
#include <tuple>
#include <variant>

#include "base/visible.hpp"

namespace base {

struct Settings::Node {
  Position position;
  std::variant<std::monostate, std::string, std::vector<Settings>, std::vector<Entry>> value;
};

Settings::Settings() {
  static const auto nothing = std::make_shared<const Node>();
  node_ = nothing;
}

Settings Settings::null(Position position) {
  Settings settings;
  settings.node_ = std::make_shared<const Node>(Node{std::move(position), std::monostate{}});
  return settings;
}

Settings Settings::scalar(std::string text, Position position) {
  Settings settings;
  settings.node_ = std::make_shared<const Node>(Node{std::move(position), std::move(text)});
  return settings;
}

Settings Settings::list(std::vector<Settings> items, Position position) {
  Settings settings;
  settings.node_ = std::make_shared<const Node>(Node{std::move(position), std::move(items)});
  return settings;
}

Settings Settings::map(std::vector<Entry> entries, Position position) {
  for (const Entry& entry : entries) ENSURE(entry.first.is_scalar());
  Settings settings;
  settings.node_ = std::make_shared<const Node>(Node{std::move(position), std::move(entries)});
  return settings;
}

// The types of the variant `value` have the same order as the enumerators of Kind.
Settings::Kind Settings::kind() const { return static_cast<Kind>(node_->value.index()); }

const std::string& Settings::text() const {
  static const std::string none;
  const auto* text = std::get_if<std::string>(&node_->value);
  return text != nullptr ? *text : none;
}

const std::vector<Settings>& Settings::items() const {
  static const std::vector<Settings> none;
  const auto* items = std::get_if<std::vector<Settings>>(&node_->value);
  return items != nullptr ? *items : none;
}

const std::vector<Settings::Entry>& Settings::entries() const {
  static const std::vector<Entry> none;
  const auto* entries = std::get_if<std::vector<Entry>>(&node_->value);
  return entries != nullptr ? *entries : none;
}

const Settings* Settings::find(std::string_view key) const {
  for (const auto& [name, value] : entries()) {
    if (name.text() == key) return &value;
  }
  return nullptr;
}

const Position& Settings::position() const { return node_->position; }

std::string Settings::describe() const {
  constexpr std::size_t shown_max = 40;
  switch (kind()) {
    case Kind::null: return "nothing";
    case Kind::list: return fmt::format("a list of {}", items().size());
    case Kind::map: return "a map";
    case Kind::scalar: break;
  }
  if (text().size() <= shown_max) return fmt::format("'{}'", text());
  return fmt::format("'{}...'", beginning(text(), shown_max));
}

void Mistakes::add(const Position& position, std::string message) {
  constexpr std::size_t counted_max = 1'000'000, message_bytes_max = 2000;
  const auto place = [](const Position& one) { return std::tie(one.file, one.line, one.column); };
  if (message.size() > message_bytes_max)
    message = std::string(beginning(message, message_bytes_max)) + "...";
  ++added_;
  if (seen_.size() >= counted_max) return;
  const bool is_new = seen_.insert(std::hash<std::string>()(position.text() + message)).second;
  const bool is_shown =
      shown_.size() < shown_max || place(position) < place(shown_.back().position);
  if (!is_new || !is_shown) return;
  const auto after = std::upper_bound(
      shown_.begin(), shown_.end(), position,
      [&](const Position& a, const Mistake& b) { return place(a) < place(b.position); });
  shown_.insert(after, {position, std::move(message)});
  if (shown_.size() > shown_max) shown_.pop_back();
}

void Mistakes::throw_if_any() const {
  if (!shown_.empty()) throw ConfigError(shown_, seen_.size() - shown_.size());
}

}  // namespace base
