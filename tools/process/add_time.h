// How long a stage of the work takes, added up over all the times that it is done.
#pragma once

#include <chrono>

namespace tessera::tool {

/// Adds the host's seconds from its making to its end to `seconds`.
class AddTime {
 public:
  explicit AddTime(double& seconds) : seconds_(seconds) {}
  AddTime(const AddTime&) = delete;
  AddTime& operator=(const AddTime&) = delete;
  ~AddTime() { seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  double& seconds_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace tessera::tool
