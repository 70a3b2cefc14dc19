// Choosing a device: names are taken apart and checked here, and an error for a device that is absent lists the devices
// that are there.
#include <tessera/device.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "backend/sentence.h"
#include "backend_list.h"
#include "boundary.h"
#include "device_core.h"
#include "environment.h"
#include "making.h"
#include "printable.h"

namespace tessera {
namespace {

using backend::enumerate;
using backend::sentence;
using detail::ListedBackend;

struct DeviceName {
  std::string prefix;
  std::size_t index = 0;
  backend::DeviceOptions options;
  [[nodiscard]] std::string id() const { return sentence(prefix, ":", index); }
};

[[noreturn]] void refuse_name(std::string_view name, std::string_view why) {
  throw Error(ErrorCode::invalid_argument,
              sentence("the device name '", detail::printable(name), "' ", detail::printable(why),
                       "; names look like cuda:0, opencl:1 or cpu:0?threads=4"));
}

std::vector<std::string> ids_present() {
  std::vector<std::string> ids;
  for (const DeviceInfo& device : detail::devices_by_preference()) ids.push_back(device.id);
  return ids;
}

void parse_options(std::string_view name, std::string_view text, backend::DeviceOptions& options) {
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      refuse_name(name, sentence("has the option '", part, "', which is not of the form key=value"));
    }
    const auto [position, fresh] =
        options.emplace(std::string(part.substr(0, equals)), std::string(part.substr(equals + 1)));
    if (!fresh) refuse_name(name, sentence("gives the option '", position->first, "' twice"));
  }
}

DeviceName parse(std::string_view name) {
  DeviceName parsed;
  const std::size_t question = std::min(name.find('?'), name.size());
  const std::string_view place = name.substr(0, question);
  const std::size_t colon = place.find(':');
  if (colon == std::string_view::npos || colon == 0) refuse_name(name, "has no index");
  parsed.prefix = place.substr(0, colon);
  const std::string_view digits = place.substr(colon + 1);
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), parsed.index);
  if (digits.empty() || failure != std::errc{} || end != digits.data() + digits.size()) {
    refuse_name(name, sentence("has the index '", digits, "', which is not a number from 0 up"));
  }
  if (question < name.size()) parse_options(name, name.substr(question + 1), parsed.options);
  return parsed;
}

const ListedBackend& find_backend(std::string_view name, const DeviceName& parsed) {
  const auto& backends = detail::listed_backends();
  const auto found = std::find_if(backends.begin(), backends.end(),
                                  [&](const ListedBackend& listed) { return listed.device_prefix == parsed.prefix; });
  if (found == backends.end()) {
    std::vector<std::string> prefixes;
    for (const ListedBackend& listed : backends) prefixes.push_back(listed.device_prefix);
    refuse_name(name, sentence("begins with '", parsed.prefix, "', but the kinds of device are ", enumerate(prefixes)));
  }
  return *found;
}

void check_options(const ListedBackend& listed, const DeviceName& parsed) {
  const auto known = listed.backend->device_options();
  for (const auto& [key, value] : parsed.options) {
    const auto is_it = [&name = key](const backend::DeviceOption& option) { return option.name == name; };
    if (std::any_of(known.begin(), known.end(), is_it)) continue;
    std::vector<std::string> names;
    for (const backend::DeviceOption& option : known) names.push_back(option.name);
    throw Error(ErrorCode::invalid_argument, sentence("the device option '", detail::printable(key), "' is unknown to ",
                                                      parsed.id(), "; its options are: ", enumerate(names)));
  }
}

struct Choice {
  std::string name;
  std::string because;  ///< "" when the caller named the device
};

Choice choose(std::string_view name) {
  if (!name.empty()) return {std::string(name), {}};
  if (auto wanted = detail::environment_value("TESSERA_DEVICE")) return {*wanted, "$TESSERA_DEVICE names it"};
  const auto devices = detail::devices_by_preference();
  if (devices.empty()) {
    std::string reasons;
    for (const ListedBackend& listed : detail::listed_backends()) {
      reasons += sentence(reasons.empty() ? "" : "; ", listed.info.name, ": ", listed.info.reason);
    }
    throw Error(ErrorCode::unavailable, sentence("no device is present: ", reasons));
  }
  return {devices.front().id, sentence("no device was named and $TESSERA_DEVICE is not set; it is the first of ",
                                       enumerate(ids_present()), " in order of preference (GPUs, then CPUs)")};
}

std::shared_ptr<detail::DeviceCore> open_core(std::string_view name) {
  const Choice choice = choose(name);
  const bool from_environment = name.empty() && choice.because.starts_with('$');
  try {
    const DeviceName parsed = parse(choice.name);
    const ListedBackend& listed = find_backend(choice.name, parsed);
    if (listed.backend == nullptr) {
      throw Error(ErrorCode::unavailable, sentence(parsed.id(), " is not present: backend ", listed.info.name, " is ",
                                                   to_string(listed.info.state), ": ", listed.info.reason,
                                                   "; devices present: ", enumerate(ids_present())));
    }
    if (parsed.index >= listed.devices.size()) {
      throw Error(ErrorCode::unavailable,
                  sentence(parsed.id(), " is not present: backend ", listed.info.name, " has ", listed.devices.size(),
                           " device(s); devices present: ", enumerate(ids_present())));
    }
    if (detail::backends_are_elsewhere() && !listed.backend->works_after_fork()) {
      throw Error(ErrorCode::unavailable, sentence("the backend ", listed.info.name,
                                                   " was loaded before fork(): its driver stayed in the parent "
                                                   "process, so the child cannot open ",
                                                   parsed.id(), "; fork before the first use of Tessera"));
    }
    check_options(listed, parsed);
    const std::string id = parsed.id();
    const detail::Making making(id);
    auto device = listed.backend->open(parsed.index, parsed.options);
    return detail::DeviceCore::make(*listed.backend, std::move(device), {id, choice.because, listed.build_id});
  } catch (const Error& error) {
    throw error.while_doing(sentence("opening the device '", detail::printable(choice.name), "'",
                                     from_environment ? " that $TESSERA_DEVICE names" : ""));
  }
}

}  // namespace

std::vector<BackendInfo> backends() {
  return detail::at_boundary([] {
    std::vector<BackendInfo> list;
    for (const ListedBackend& listed : detail::listed_backends()) list.push_back(listed.info);
    return list;
  });
}

std::vector<DeviceInfo> devices() {
  return detail::at_boundary([] { return detail::devices_by_preference(); });
}

Device open(std::string_view name) {
  return Device(detail::at_boundary([&] { return open_core(name); }));
}

}  // namespace tessera
