// oneDNN as a library that is opened when the program runs, if it is there: what every operator's variant
// "vendor_onednn" asks of it before it calls anything.
//
// oneDNN takes its number of threads from the runtime that it was built for. Distributions build it for OpenMP, whose
// number belongs to the calling thread, here a queue's own worker, so that nobody else is disturbed. Other runtimes do
// not let a caller say it, and are refused.
#pragma once

#include "backend/shared_library.h"
#include "backend/variant.h"

namespace tessera::cpu_tbb {

class OnednnLibrary {
 public:
  OnednnLibrary();

  /// No if it did not open, or if nobody can say how many threads it takes.
  [[nodiscard]] backend::Verdict check() const;
  [[nodiscard]] const backend::SharedLibrary& shared() const noexcept { return library_; }
  /// 2 or 3; 0 if it did not open.
  [[nodiscard]] int major_version() const noexcept { return major_version_; }
  /// For calls of this thread. Only after check() said yes.
  void set_threads(int threads) const { set_threads_(threads); }
  [[nodiscard]] int threads() const { return get_threads_(); }

 private:
  backend::SharedLibrary library_;
  int major_version_ = 0;
  unsigned runtime_ = 0;
  void (*set_threads_)(int) = nullptr;
  int (*get_threads_)() = nullptr;
};

/// The one of the process, opened on first use and never closed: queues may still run while static objects die.
[[nodiscard]] const OnednnLibrary& onednn_library();

}  // namespace tessera::cpu_tbb
