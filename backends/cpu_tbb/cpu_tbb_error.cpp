// The only place of this backend where foreign errors become tessera::Error.
#include "cpu_tbb_error.h"

#include <new>
#include <system_error>
#include <utility>

namespace tessera::cpu_tbb {

Error system_error(ErrorCode code, std::string sentence, int error_number) {
  return Error(code, std::move(sentence), {error_number, std::generic_category().message(error_number)});
}

Error translate(const std::exception_ptr& exception, const std::string& thrower) {
  try {
    std::rethrow_exception(exception);
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc& error) {
    return Error(ErrorCode::out_of_memory, thrower + " finds no memory left", {0, error.what()});
  } catch (const std::system_error& error) {
    return Error(ErrorCode::internal, thrower + " throws: " + error.what(), {error.code().value(), error.what()});
  } catch (const std::exception& error) {
    return Error(ErrorCode::internal, thrower + " throws: " + error.what(), {0, error.what()});
  } catch (...) {
    return Error(ErrorCode::internal, thrower + " throws something that is not a std::exception");
  }
}

}  // namespace tessera::cpu_tbb
