// SPDX-License-Identifier: Apache-2.0
// pastset/errors.hpp — exceptions of operations on elements
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

namespace pastset {

/// Base class of all element failures. The message names the element.
class ElementError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
/// The element was deleted before or during the operation.
class Deleted : public ElementError {
 public:
  using ElementError::ElementError;
};
/// The tuple to read was already freed, by axe() or because of keep_newest.
class Expired : public ElementError {
 public:
  using ElementError::ElementError;
};
/// The template of a tuple, or the template that was passed to Space::enter(), differs from the
/// element's template.
class TemplateMismatch : public ElementError {
 public:
  using ElementError::ElementError;
};
class DeadlinePassed : public ElementError {
 public:
  using ElementError::ElementError;
};
/// Cause of an error mark, which means that the element gets no more tuples.
enum class MarkCause : std::uint8_t {
  error,  ///< error or end of the thread that moves the tuples
  loss,   ///< host that died, froze or cannot be reached
};
/// Permanent error of an element: no more tuples will be moved into it.
struct ErrorMark {
  ErrorMark(std::string message, MarkCause reason = MarkCause::error)
      : text(std::move(message)), cause(reason) {}
  ErrorMark(const char* message) : ErrorMark(std::string(message)) {}
  std::string text;
  MarkCause cause;
};
/// The element has an error mark, so the tuple to read will never exist. what() is the text of the
/// mark.
class Marked : public ElementError {
 public:
  explicit Marked(const ErrorMark& mark) : ElementError(mark.text), cause_(mark.cause) {}
  MarkCause cause() const { return cause_; }

 private:
  MarkCause cause_;
};

}  // namespace pastset
