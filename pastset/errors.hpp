// SPDX-License-Identifier: Apache-2.0
// pastset/errors.hpp — how operations on elements fail.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>

namespace pastset {

/// Every failure of an element names the element.
class ElementError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
/// The element was deleted while or before the operation.
class Deleted : public ElementError {
 public:
  using ElementError::ElementError;
};
/// observe(n) of a tuple that axe or keep-newest has freed.
class Expired : public ElementError {
 public:
  using ElementError::ElementError;
};
/// A tuple, or an enter, whose template is not the element's.
class TemplateMismatch : public ElementError {
 public:
  using ElementError::ElementError;
};
/// The operation's deadline passed first.
class DeadlinePassed : public ElementError {
 public:
  using ElementError::ElementError;
};
/// The element carries an error mark and the wanted tuple will never come; what() is the mark.
class Marked : public ElementError {
 public:
  using ElementError::ElementError;
};

}  // namespace pastset
