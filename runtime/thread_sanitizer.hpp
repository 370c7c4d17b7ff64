// SPDX-License-Identifier: Apache-2.0
// runtime/thread_sanitizer.hpp — annotations for the thread sanitizer
#pragma once
#include <atomic>
#include <cstddef>
#include <cstring>

#if defined(PATHS_TSAN) && defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

/// These functions report runtime::Mutex to the thread sanitizer, which otherwise recognises only
/// atomics and the mutexes of libraries. The sanitizer then knows which thread or fiber holds which
/// mutex, and in which order mutexes are locked. In other builds they do nothing, except
/// order_all() and copy_unseen().
namespace runtime::thread_sanitizer {

#if defined(PATHS_TSAN) && defined(__SANITIZE_THREAD__)
inline void lock_mutex(void* mutex) { __tsan_mutex_pre_lock(mutex, 0); }
inline void locked_mutex(void* mutex) { __tsan_mutex_post_lock(mutex, 0, 0); }
inline void try_mutex(void* mutex) { __tsan_mutex_pre_lock(mutex, __tsan_mutex_try_lock); }
inline void tried_mutex(void* mutex, bool is_taken) {
  const unsigned failed = is_taken ? 0 : __tsan_mutex_try_lock_failed;
  __tsan_mutex_post_lock(mutex, __tsan_mutex_try_lock | failed, 0);
}
inline void unlock_mutex(void* mutex) { __tsan_mutex_pre_unlock(mutex, 0); }
inline void unlocked_mutex(void* mutex) { __tsan_mutex_post_unlock(mutex, 0); }
inline void forget_mutex(void* mutex) { __tsan_mutex_destroy(mutex, 0); }
/// Acts as a full fence. Uses an atomic addition, because the sanitizer does not understand fences.
inline void order_all() {
  static std::atomic<int> all{0};
  all.fetch_add(0, std::memory_order_seq_cst);
}
/// Whether this build is for the thread sanitizer.
inline constexpr bool is_on = true;
/// Copies bytes that a thread of a library wrote. If a library is not built for the sanitizer, the
/// sanitizer does not see how the library orders its threads. It would therefore report a race for
/// each word that is read. The reads of this function are hidden from the sanitizer.
__attribute__((noinline, no_sanitize_thread)) inline void copy_unseen(std::byte* to,
                                                                      const std::byte* from,
                                                                      std::size_t size) {
  // Without `volatile`, the compiler would call memcpy(), whose reads the sanitizer sees.
  const volatile std::byte* const unseen = from;
  for (std::size_t i = 0; i < size; ++i) to[i] = unseen[i];
}
#else
inline void lock_mutex(void*) {}
inline void locked_mutex(void*) {}
inline void try_mutex(void*) {}
inline void tried_mutex(void*, bool) {}
inline void unlock_mutex(void*) {}
inline void unlocked_mutex(void*) {}
inline void forget_mutex(void*) {}
inline void order_all() { std::atomic_thread_fence(std::memory_order_seq_cst); }
inline constexpr bool is_on = false;
inline void copy_unseen(std::byte* to, const std::byte* from, std::size_t size) {
  if (size != 0) std::memcpy(to, from, size);
}
#endif

}  // namespace runtime::thread_sanitizer
