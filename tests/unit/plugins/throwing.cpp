// A plug-in whose driver fails when it is asked, or, by a definition, throws a number instead; or whose backend throws
// one while it is made.
#include "backend/backend.h"

namespace {

class ThrowingBackend : public tessera::backend::Backend {
 public:
#ifdef TESSERA_CONSTRUCTOR_THROWS
  ThrowingBackend() {
    throw 42;
  }
#endif
  [[nodiscard]] std::string_view name() const override {
    return "throwing";
  }
  [[nodiscard]] std::string_view device_prefix() const override {
    return "throwing";
  }
  [[nodiscard]] tessera::backend::Probe probe() override {
#ifdef TESSERA_PROBE_THROWS_NUMBER
    throw 42;
#else
    throw tessera::Error(tessera::ErrorCode::internal, "the driver answers nonsense");
#endif
  }
  [[nodiscard]] std::vector<tessera::DeviceInfo> devices() override {
    return {};
  }
  [[nodiscard]] std::unique_ptr<tessera::backend::Device> open(std::size_t,
                                                               const tessera::backend::DeviceOptions&) override {
    return nullptr;
  }
  [[nodiscard]] const tessera::backend::OperatorTable& operators() const override {
    return operators_;
  }

 private:
  tessera::backend::OperatorTable operators_;
};

}  // namespace

TESSERA_BACKEND_PLUGIN(ThrowingBackend)
