// The only place of this backend where foreign errors become tessera::Error.
#include "cpu_tbb_error.h"

#include <system_error>
#include <utility>

#include "backend/sentence.h"

namespace tessera::cpu_tbb {

using backend::sentence;

namespace {

Error translate_with_words(const std::exception_ptr& exception, const std::string& thrower) {
  try {
    std::rethrow_exception(exception);
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc& error) {
    return Error(ErrorCode::out_of_memory, sentence(thrower, " finds no memory left"), {0, error.what()});
  } catch (const std::system_error& error) {
    return Error(ErrorCode::internal, sentence(thrower, " throws: ", error.what()),
                 {error.code().value(), error.what()});
  } catch (const std::exception& error) {
    return Error(ErrorCode::internal, sentence(thrower, " throws: ", error.what()), {0, error.what()});
  } catch (...) {
    return Error(ErrorCode::internal, sentence(thrower, " throws something that is not a std::exception"));
  }
}

}  // namespace

Error system_error(ErrorCode code, std::string sentence, int error_number) {
  return Error(code, std::move(sentence), {error_number, std::generic_category().message(error_number)});
}

Error out_of_memory(std::size_t size_bytes, std::string_view purpose, const MemoryBudget& budget) {
  const std::string wanted = sentence(purpose, " of ", size_bytes, " bytes");
  if (size_bytes <= budget.left_bytes()) {
    return Error(ErrorCode::out_of_memory, sentence("the system does not give ", wanted));
  }
  return Error(ErrorCode::out_of_memory,
               sentence("the machine has ", budget.limit_bytes(), " bytes, of which CPU devices hold ",
                        budget.used_bytes(), ", too few are left for ", wanted));
}

Error translate(const std::exception_ptr& exception, std::string_view thrower) noexcept {
  try {
    return translate_with_words(exception, std::string(thrower));
  } catch (const std::exception&) {
    return no_memory_left();
  }
}

const Error& no_memory_left() {
  // Never destroyed: queues may still run while static objects die.
  static const Error& error =
      *new Error(ErrorCode::out_of_memory, "the process has no memory left, not even for the story of this error");
  return error;
}

}  // namespace tessera::cpu_tbb
