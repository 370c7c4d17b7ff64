// SPDX-License-Identifier: Apache-2.0
// base/errors.hpp — reports of bad input and of bugs
#pragma once
#include <fmt/format.h>

#include <compare>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace base {

/// A file name that is stored once per process, because very many positions of a config share it.
class FileName {
 public:
  constexpr FileName() = default;  ///< the empty name
  FileName(std::string_view name) : kept_(keep(name)) {}
  FileName(const std::string& name) : kept_(keep(name)) {}
  FileName(const char* name) : kept_(keep(name)) {}

  const std::string& text() const;
  operator const std::string&() const { return text(); }
  bool empty() const { return text().empty(); }
  friend bool operator==(FileName a, FileName b) {
    return a.kept_ == b.kept_ || a.text() == b.text();
  }
  friend auto operator<=>(FileName a, FileName b) { return a.text() <=> b.text(); }

 private:
  static const std::string* keep(std::string_view name);
  const std::string* kept_ = nullptr;  ///< stored name; nullptr = empty name
};

/// A position in a text file. `line` and `column` count from 1; 0 = unknown.
struct Position {
  FileName file;
  int line = 0;
  int column = 0;
  std::string text() const;  ///< "file:line:column", as compilers print it
};

/// One error in an input: its position, and a sentence that states what was expected and found.
struct Mistake {
  Position position;
  std::string message;
};

/// All mistakes of an input, in the order of the file. what() has one line "file:line:column:
/// message" for each mistake. `more` is the number of further mistakes whose messages were not
/// kept. The last line of what() reports that number.
class ConfigError : public std::runtime_error {
 public:
  explicit ConfigError(std::vector<Mistake> mistakes, std::size_t more = 0);
  const std::vector<Mistake>& mistakes() const { return mistakes_; }

 private:
  std::vector<Mistake> mistakes_;
};

/// Function that describes the running thread or fiber in bug reports; runtime/ sets it once.
using ContextLine = std::string (*)();
void set_context_line(ContextLine line);

/// Selects what report_bug() does. If `on` is false (default), report_bug() prints the bug and
/// aborts. If `on` is true (for tests), report_bug() throws std::logic_error.
void set_bugs_throw(bool on);
[[noreturn]] void report_bug(const char* file, int line, const std::string& message);

}  // namespace base

/// Stops the program if an internal assumption is false. Do not use it for bad input or a failing
/// environment, because these are not bugs.
#define ENSURE(claim)                                                          \
  do {                                                                         \
    if (!(claim)) ::base::report_bug(__FILE__, __LINE__, "not true: " #claim); \
  } while (false)

/// Like ENSURE(a == b), and prints both values.
#define ENSURE_EQ(a, b)                                                                        \
  do {                                                                                         \
    const auto& ensure_a = (a);                                                                \
    const auto& ensure_b = (b);                                                                \
    if (!(ensure_a == ensure_b))                                                               \
      ::base::report_bug(__FILE__, __LINE__,                                                   \
                         ::fmt::format(#a " == " #b " fails: {} and {}", ensure_a, ensure_b)); \
  } while (false)
