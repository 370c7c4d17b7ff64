// SPDX-License-Identifier: Apache-2.0
// tests/support/sanitizers.cpp — what the thread sanitizer cannot know, told to every test program.

#ifdef __SANITIZE_THREAD__
/// libzmq and libstdc++ are not built with the sanitizer, which so does not see how they
/// synchronise: ZeroMQ hands messages between its threads, and copies of a std::runtime_error share
/// their text, counted inside the library.
extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() {
  return "called_from_lib:libzmq.so\n"
         "race:libzmq.so\n"
         "race:std::runtime_error::~runtime_error\n";
}
#endif
