// The book that a plug-in with faults keeps of its driver's calls: which ones are to fail, and what those that went
// through have made, ended, queued and mapped.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "opencl/opencl_faults.h"
#include "opencl_api.h"

namespace tessera::fault {

/// The driver's own functions; never destroyed.
[[nodiscard]] opencl::OpenclApi& real_driver();

class CallBook final : public OpenclFaults {
 public:
  void fail_call(long number, int code, bool for_good) override;
  void fail_function(std::string_view function, int code, long first, long count) override;
  void delay_function(std::string_view function, int milliseconds) override;
  void delay_blocking_writes(int milliseconds) override;
  void lose_device() override;
  void clear() override;

  [[nodiscard]] long calls() const override { return locked(calls_); }
  [[nodiscard]] long failures() const override { return locked(failures_); }
  [[nodiscard]] std::string last_failed() const override { return locked(last_failed_); }
  [[nodiscard]] long calls_of(std::string_view function) const override;
  [[nodiscard]] std::map<std::string, long> alive() const override;
  [[nodiscard]] long unconfirmed_queues() const override;

  /// The code that a call fails with, or CL_SUCCESS to let it through.
  [[nodiscard]] cl_int before(std::string_view function);

  void made(std::string_view kind);
  void ended(std::string_view kind);
  void queue_lives(cl_command_queue queue, bool lives);
  void queue_takes(cl_command_queue queue);
  void queue_is_finished(cl_command_queue queue);
  /// An event of a queue's newest command; and that the driver has said that it is done.
  void event_of(cl_event event, cl_command_queue queue);
  void event_is_done(cl_event event);
  void mapped(cl_mem memory, bool is_mapped);
  [[nodiscard]] int write_delay_ms() const { return locked(write_delay_ms_); }

 private:
  void forget_counts();
  template <class Value>
  [[nodiscard]] Value locked(const Value& value) const {
    const std::lock_guard lock(mutex_);
    return value;
  }

  mutable std::mutex mutex_;
  long fails_at_ = 0;  ///< 0: none
  cl_int fails_with_ = CL_SUCCESS;
  bool for_good_ = false;
  struct Failing {
    cl_int code = CL_SUCCESS;
    long first = 0;
    long end = 0;  ///< the first one that succeeds again; 0: none
  };
  std::map<std::string, Failing, std::less<>> failing_;
  std::map<std::string, int, std::less<>> delays_;
  int write_delay_ms_ = 0;
  bool is_lost_ = false;
  long calls_ = 0;
  long failures_ = 0;
  std::string last_failed_;
  std::map<std::string, long, std::less<>> calls_of_;
  std::map<std::string, long> alive_;
  struct Commands {
    long newest = 0;
    long done = 0;  ///< as far as the driver has told
  };
  std::map<cl_command_queue, Commands> queues_;
  std::map<cl_event, std::pair<cl_command_queue, long>> events_;
  std::set<cl_mem> mapped_;  ///< until it is unmapped, or released as it is
};

}  // namespace tessera::fault
