// SPDX-License-Identifier: Apache-2.0
// tests/support/sanitizers.cpp — suppressions for the thread sanitizer, linked into every test
// program.

#ifdef __SANITIZE_THREAD__
/// libzmq and libstdc++ are built without the sanitizer, so it reports false races in them. ZeroMQ
/// passes messages between its threads. Copies of a std::runtime_error share their text, with a
/// reference count inside the library.
extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() {
  return "called_from_lib:libzmq.so\n"
         "race:libzmq.so\n"
         "race:std::runtime_error::~runtime_error\n";
}
#endif
