// The module for OpenCV: the one file that includes it, and the only binary that is linked with it.
//
// What OpenCV keeps for the whole process, its number of threads, its handler of errors, whether it takes optimised
// code, belongs to the application and is neither read nor set.
#include "vendor/cpu_tbb_opencv_module.h"

#include <algorithm>
#include <exception>
#include <new>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#include <stdexcept>
#include <string>
#include <string_view>

namespace tessera::cpu_tbb {

namespace {

void tell(const OpencvReason& reason, std::string_view words) noexcept {
  if (reason.size == 0) return;
  const std::size_t count = std::min(words.size(), reason.size - 1);
  std::copy_n(words.data(), count, reason.text);
  reason.text[count] = '\0';
}

/// Runs the action; what it throws becomes an outcome.
template <class Action>
OpencvOutcome guarded(const OpencvReason& reason, const Action& action) noexcept {
  try {
    action();
    return OpencvOutcome::done;
  } catch (const std::bad_alloc&) {
    tell(reason, "there is no memory for OpenCV's rows");
    return OpencvOutcome::out_of_memory;
  } catch (const cv::Exception& exception) {
    tell(reason, exception.what());
    return exception.code == cv::Error::StsNoMem ? OpencvOutcome::out_of_memory : OpencvOutcome::failed;
  } catch (const std::exception& exception) {
    tell(reason, exception.what());
  } catch (...) {
    tell(reason, "OpenCV throws something that is no std::exception");
  }
  return OpencvOutcome::failed;
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) OpencvOutcome tessera_opencv_check(int version, OpencvReason reason) noexcept {
  return guarded(reason, [&] {
    if (version != kOpencvModuleVersion) {
      throw std::runtime_error("the module speaks version " + std::to_string(kOpencvModuleVersion) +
                               ", but the plug-in version " + std::to_string(version));
    }
    // An application's own OpenCV of another version comes first where names are looked up.
    const std::string found = cv::getVersionString();
    const std::string compiled_for = CVAUX_STR(CV_VERSION_MAJOR) "." CVAUX_STR(CV_VERSION_MINOR) ".";
    if (!std::string_view(found).starts_with(compiled_for)) {
      throw std::runtime_error("the module was compiled for OpenCV " CV_VERSION ", but the process has OpenCV " +
                               found);
    }
  });
}

__attribute__((visibility("default"))) OpencvOutcome tessera_opencv_filter2d(const OpencvStrip* strip,
                                                                             OpencvReason reason) noexcept {
  return guarded(reason, [&] {
    // A Mat around memory that is only read has no other constructor.
    const cv::Mat image(strip->image_rows, strip->image_columns, CV_32F, const_cast<float*>(strip->image));
    const cv::Mat weights(strip->filter_rows, strip->filter_columns, CV_32F, const_cast<float*>(strip->weights));
    cv::Mat output(strip->rows, strip->columns, CV_32F, strip->output);
    // Of a part of an image, filter2D reads the pixels around it too, so that only the image's own border is zeros.
    const cv::Mat part = image(cv::Rect(0, strip->first_row, strip->columns, strip->rows));
    cv::filter2D(part, output, CV_32F, weights, cv::Point(strip->anchor_column, strip->anchor_row), 0,
                 cv::BORDER_CONSTANT);
    if (output.ptr<float>() != strip->output) throw std::runtime_error("filter2D wrote to memory of its own");
  });
}

}  // extern "C"

}  // namespace tessera::cpu_tbb
