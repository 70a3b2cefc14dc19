// OpenCV through a module of ours (cpu_tbb_opencv_module.h) that is opened when the program runs, if it is there.
//
// filter2D of the versions that the module is built for computes on the thread that calls it, so nothing has to be said
// about threads: who calls it deals the work to them.
#pragma once

#include "backend/shared_library.h"
#include "backend/variant.h"
#include "vendor/cpu_tbb_opencv_module.h"

namespace tessera::cpu_tbb {

class OpencvLibrary {
 public:
  OpencvLibrary();

  /// No if the module or its OpenCV did not open, or if the two do not belong together.
  [[nodiscard]] backend::Verdict check() const;
  /// Throws what the module could not do. Only after check() said yes; from several threads at once.
  void filter2d(const OpencvStrip& strip) const;

 private:
  backend::SharedLibrary library_;
  decltype(&tessera_opencv_check) check_ = nullptr;
  decltype(&tessera_opencv_filter2d) filter2d_ = nullptr;
};

/// The one of the process, opened on first use and never closed: queues may still run while static objects die.
[[nodiscard]] const OpencvLibrary& opencv_library();

}  // namespace tessera::cpu_tbb
