// The table of functions in front of the driver's, made from the list that the backend makes its own of. Built into the
// plug-in for tests alone, which finds it as wrap_functions(). What fails and what is alive stands in the book.
#include "opencl/opencl_faults.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "backend/shared_library.h"
#include "opencl/call_book.h"
#include "opencl_api.h"

namespace tessera::fault {

namespace {

using opencl::OpenclApi;

/// What a function makes, by its name; "" for none. Events are made by whoever is given a place for one.
std::string_view made_by(std::string_view function) {
  if (!function.starts_with("clCreate")) return "";
  for (const std::string_view kind : {"Context", "CommandQueue", "Program", "Kernel"}) {
    if (function.substr(8).starts_with(kind)) return kind;
  }
  return "MemObject";
}
/// What a function ends.
std::string_view ended_by(std::string_view function) {
  return function.starts_with("clRelease") ? function.substr(9) : "";
}

/// Never destroyed: queues may still run while static objects die.
CallBook& faults() {
  static auto& made = *new CallBook;
  return made;
}

/// A write that blocks as little as the standard allows: the bytes are copied, and written behind an event that a
/// thread sets later.
cl_int write_late(int delay_ms, cl_command_queue queue, cl_mem memory, std::size_t offset, std::size_t size,
                  const void* host) {
  static const backend::SharedLibrary loader({real_driver().loader()});
  static decltype(&::clCreateUserEvent) create = nullptr;
  static decltype(&::clSetUserEventStatus) set = nullptr;
  static decltype(&::clGetCommandQueueInfo) ask = nullptr;
  static const bool is_there = loader.function(create, "clCreateUserEvent") &&
                               loader.function(set, "clSetUserEventStatus") &&
                               loader.function(ask, "clGetCommandQueueInfo");
  if (!is_there) std::abort();
  cl_context context = nullptr;
  cl_int code = ask(queue, CL_QUEUE_CONTEXT, sizeof(context), static_cast<void*>(&context), nullptr);
  cl_event gate = create(context, &code);
  const auto* bytes = static_cast<const char*>(host);
  auto copy = std::make_shared<std::vector<char>>(bytes, bytes + size);
  cl_event written = nullptr;
  code = real_driver().clEnqueueWriteBuffer(queue, memory, CL_FALSE, offset, size, copy->data(), 1, &gate, &written);
  if (code != CL_SUCCESS) std::abort();
  static_cast<void>(real_driver().clFlush(queue));
  std::thread([=, kept = std::move(copy)] {
    std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms));
    static_cast<void>(set(gate, CL_COMPLETE));
    static_cast<void>(real_driver().clWaitForEvents(1, &written));
    static_cast<void>(real_driver().clReleaseEvent(written));
    static_cast<void>(real_driver().clReleaseEvent(gate));
  }).detach();
  return CL_SUCCESS;
}

template <class... Args>
void notice(std::string_view function, const Args&... args) {
  const auto all = std::tie(args...);
  const auto& first = std::get<0>(all);
  const auto& last = std::get<sizeof...(Args) - 1>(all);
  if constexpr (std::is_same_v<std::remove_cvref_t<decltype(last)>, cl_event*>) {
    if (last != nullptr) faults().made("event");
  }
  if constexpr (std::is_same_v<std::remove_cvref_t<decltype(first)>, cl_command_queue>) {
    if (function == "clReleaseCommandQueue") {
      faults().queue_lives(first, false);
    } else if (function == "clFinish") {
      faults().queue_is_finished(first);
    } else if (function != "clFlush") {
      faults().queue_takes(first);
    }
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(last)>, cl_event*>) {
      if (last != nullptr) faults().event_of(*last, first);
    }
  }
  if constexpr (std::is_same_v<std::remove_cvref_t<decltype(last)>, const cl_event*>) {
    if (function == "clWaitForEvents") faults().event_is_done(*last);
  }
  if (function == "clReleaseMemObject") {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(first)>, cl_mem>) faults().mapped(first, false);
  }
  if constexpr (sizeof...(Args) > 1) {
    const auto& second = std::get<1>(all);
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(second)>, cl_mem>) {
      if (function == "clEnqueueMapBuffer") faults().mapped(second, true);
      if (function == "clEnqueueUnmapMemObject") faults().mapped(second, false);
    }
  }
  if (const std::string_view kind = made_by(function); !kind.empty()) faults().made(kind);
  if (const std::string_view kind = ended_by(function); !kind.empty()) faults().ended(kind);
}

/// A function of the table as a type, to be compared.
template <auto kMember>
struct Member {};

/// One function of the table: `kMember` of OpenclApi, of this type.
template <auto kMember, class Function>
struct Wrapped;
template <auto kMember, class Result, class... Args>
struct Wrapped<kMember, Result (*)(Args...)> {
  static inline const char* name = "";

  static Result CL_API_CALL call(Args... args) {
    if (const cl_int code = faults().before(name); code != CL_SUCCESS) return refused(code, args...);
    if constexpr (std::is_same_v<Result, cl_int>) {
      const cl_int code = through(args...);
      if (code == CL_SUCCESS) notice(name, args...);
      return code;
    } else {
      const Result made = (real_driver().*kMember)(args...);
      if (made != nullptr) notice(name, args...);
      if constexpr (std::is_same_v<Result, cl_command_queue>) {
        if (made != nullptr) faults().queue_lives(made, true);
      }
      return made;
    }
  }

 private:
  static cl_int through(Args... args) {
    if constexpr (std::is_same_v<Member<kMember>, Member<&OpenclApi::clEnqueueWriteBuffer>>) {
      const auto& [queue, memory, blocks, offset, size, host, count, list, event] = std::tie(args...);
      const int delay_ms = faults().write_delay_ms();
      if (blocks == CL_TRUE && delay_ms > 0) return write_late(delay_ms, queue, memory, offset, size, host);
    }
    return (real_driver().*kMember)(args...);
  }
  /// Answers with the code, or gives nothing and leaves the code where the last parameter points to.
  static Result refused(cl_int code, Args... args) {
    if constexpr (std::is_same_v<Result, cl_int>) {
      static_cast<void>(std::tie(args...));
      return code;
    } else {
      cl_int* const place = std::get<sizeof...(Args) - 1>(std::tie(args...));
      if (place != nullptr) *place = code;
      return nullptr;
    }
  }
};

void take_variable() {
  const char* text = std::getenv(kOpenclFaultsVariable);
  if (text == nullptr) return;
  long number = 0;
  int code = 0;
  if (std::sscanf(text, "%ld:%d", &number, &code) == 2) {
    faults().fail_call(number, code, std::strstr(text, "for_good") != nullptr);
  }
}

}  // namespace

}  // namespace tessera::fault

namespace tessera::opencl {

void wrap_functions(OpenclApi& api) {
  fault::real_driver() = api;
#define TESSERA_OPENCL_WRAP(function)                                             \
  {                                                                               \
    using Wrapper = fault::Wrapped<&OpenclApi::function, decltype(api.function)>; \
    Wrapper::name = #function;                                                    \
    api.function = &Wrapper::call;                                                \
  }
  TESSERA_OPENCL_FUNCTIONS(TESSERA_OPENCL_WRAP)
#undef TESSERA_OPENCL_WRAP
  fault::take_variable();
}

}  // namespace tessera::opencl

extern "C" [[gnu::visibility("default")]] tessera::fault::OpenclFaults* tessera_opencl_faults() {
  return &tessera::fault::faults();
}
