// SPDX-License-Identifier: Apache-2.0
// base/settings.cpp — the nodes of a config, and the list of its mistakes.
#include "base/settings.hpp"

#include <algorithm>
#include <tuple>
#include <variant>

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

// The variant lists its types in the order of Kind.
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
  std::size_t end = shown_max;
  while (end > 0 && (static_cast<unsigned char>(text()[end]) & 0xC0) == 0x80) --end;
  return fmt::format("'{}...'", std::string_view(text()).substr(0, end));
}

void Mistakes::add(const Position& position, std::string message) {
  mistakes_.push_back({position, std::move(message)});
}

void Mistakes::throw_if_any() const {
  if (mistakes_.empty()) return;
  std::vector<Mistake> sorted = mistakes_;
  const auto place = [](const Mistake& mistake) {
    const Position& position = mistake.position;
    return std::tie(position.file, position.line, position.column);
  };
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const Mistake& a, const Mistake& b) { return place(a) < place(b); });
  // What an alias stands for is read several times, but a person can only mend it once.
  const auto same = [&](const Mistake& a, const Mistake& b) {
    return place(a) == place(b) && a.message == b.message;
  };
  sorted.erase(std::unique(sorted.begin(), sorted.end(), same), sorted.end());
  throw ConfigError(std::move(sorted));
}

}  // namespace base
