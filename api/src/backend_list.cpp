// Finds the plug-ins, loads those that are asked for, and asks each what it has.
#include "backend_list.h"

#include <dirent.h>
#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "backend/sentence.h"
#include "environment.h"
#include "fork.h"
#include "known_backends.h"
#include "plugin.h"
#include "printable.h"
#include "watch.h"

namespace tessera::detail {
namespace {

using backend::enumerate;
using backend::sentence;
namespace fs = std::filesystem;

constexpr std::string_view kPluginPrefix = "libtessera_";
constexpr std::string_view kPluginSuffix = ".so";

fs::path folder_of_this_library() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&folder_of_this_library), &info) == 0 || info.dli_fname == nullptr) {
    return {};
  }
  std::error_code failure;
  const fs::path path = fs::weakly_canonical(info.dli_fname, failure);
  return failure ? fs::path{} : path.parent_path();
}

/// Never the current directory: every folder is absolute.
std::vector<fs::path> plugin_folders() {
  std::vector<fs::path> folders = backend_search_path();
  if (const fs::path beside = folder_of_this_library(); !beside.empty()) folders.push_back(beside / "tessera");
  const fs::path installed(TESSERA_INSTALL_PLUGIN_DIR);
  if (installed.is_absolute() && std::find(folders.begin(), folders.end(), installed) == folders.end()) {
    folders.push_back(installed);
  }
  return folders;
}

/// Whatever else a file in $TESSERA_BACKEND_PATH is called, it is not loaded.
bool is_backend_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') ||
           letter == '_' || letter == '-';
  });
}

/// The names of what is in a folder; none if it cannot be read. Not by the iterator of std::filesystem: the form of it
/// that throws for no folder ends the program where it finds no memory.
std::vector<std::string> names_in(const fs::path& folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> opened(::opendir(folder.c_str()), ::closedir);
  std::vector<std::string> names;
  if (opened == nullptr) return names;
  while (const dirent* const entry = ::readdir(opened.get())) names.emplace_back(entry->d_name);
  return names;
}

/// Ours first, then whatever else stands in $TESSERA_BACKEND_PATH.
std::vector<std::string> backend_names() {
  std::vector<std::string> names;
  for (const KnownBackend& known : kKnownBackends) names.emplace_back(known.name);
  std::set<std::string> others;
  for (const fs::path& folder : backend_search_path()) {
    for (const std::string& file : names_in(folder)) {
      if (!file.starts_with(kPluginPrefix) || !file.ends_with(kPluginSuffix)) continue;
      std::string name = file.substr(kPluginPrefix.size(), file.size() - kPluginPrefix.size() - kPluginSuffix.size());
      if (std::find(names.begin(), names.end(), name) == names.end()) others.insert(std::move(name));
    }
  }
  names.insert(names.end(), others.begin(), others.end());
  return names;
}

/// $TESSERA_BACKENDS, every name checked; nothing if all are asked for.
std::optional<std::vector<std::string>> requested_backends(const std::vector<std::string>& names) {
  auto requested = environment_list("TESSERA_BACKENDS", ',');
  if (!requested) return requested;
  std::vector<std::string> printable_names;
  for (const std::string& name : names) printable_names.push_back(printable(name));
  for (const std::string& name : *requested) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      throw Error(ErrorCode::invalid_argument, sentence("$TESSERA_BACKENDS asks for the backend '", printable(name),
                                                        "', but the backends are ", enumerate(printable_names)));
    }
  }
  return requested;
}

void set_state(ListedBackend& listed, BackendState state, const std::string& reason) {
  listed.info.state = state;
  listed.info.reason = printable(reason);
}

void probe_backend(ListedBackend& listed, backend::Backend& backend) {
  try {
    const backend::Probe probe = backend.probe();
    if (!probe.ready) return set_state(listed, BackendState::unavailable, probe.reason);
    listed.device_prefix = backend.device_prefix();
    listed.devices = backend.devices();
    if (listed.devices.empty()) return set_state(listed, BackendState::unavailable, "it has no device");
    for (std::size_t i = 0; i < listed.devices.size(); ++i) {
      listed.devices[i].id = listed.device_prefix + ":" + std::to_string(i);
      listed.devices[i].backend = listed.info.name;
      listed.info.devices.push_back(listed.devices[i].id);
    }
    listed.backend = &backend;
    set_state(listed, BackendState::ready, probe.reason);
  } catch (...) {
    throw_if_memory_is_short();
    listed.devices.clear();
    listed.info.devices.clear();
    set_state(listed, BackendState::unavailable, sentence("asking its driver fails: ", words_of_exception()));
  }
}

ListedBackend look_for(const std::string& name, const std::vector<fs::path>& folders, bool asked_for) {
  ListedBackend listed;
  listed.info.name = printable(name);
  listed.device_prefix = listed.info.name;
  for (const KnownBackend& known : kKnownBackends) {
    if (name == known.name) listed.device_prefix = known.device_prefix;
  }
  if (!asked_for) {
    set_state(listed, BackendState::disabled, "$TESSERA_BACKENDS does not ask for it");
    return listed;
  }
  std::vector<std::string> searched;
  for (const fs::path& folder : folders) {
    // Not by sentence(), whose stream leaves words out where there is no memory: a name must be whole.
    const fs::path file = folder / (std::string(kPluginPrefix) + name + std::string(kPluginSuffix));
    std::error_code failure;
    if (fs::exists(file, failure)) {
      listed.info.plugin = printable(file.string());
      if (!is_backend_name(name)) {
        set_state(listed, BackendState::refused,
                  sentence("the plug-in's name is '", listed.info.name,
                           "', but a backend's name consists of letters, digits, '_' and '-'"));
        return listed;
      }
      const LoadedPlugin loaded = load_plugin(file);
      if (loaded.backend == nullptr) {
        set_state(listed, BackendState::refused, loaded.refusal);
      } else {
        listed.made = loaded.backend;
        listed.build_id = loaded.build_id;
        probe_backend(listed, *loaded.backend);
      }
      return listed;
    }
    searched.push_back(folder.string());
  }
  set_state(listed, BackendState::not_found,
            sentence("there is no ", kPluginPrefix, name, kPluginSuffix, " in ", enumerate(searched, "any folder")));
  return listed;
}

std::vector<ListedBackend>* look_for_all() {
  watch_from_environment();
  const std::vector<std::string> names = backend_names();
  const auto requested = requested_backends(names);
  const std::vector<fs::path> folders = plugin_folders();
  auto list = std::make_unique<std::vector<ListedBackend>>();
  // From the last to the first: opencl's driver for a CPU may bring a newer oneTBB than the one that cpu_tbb was linked
  // with. Loaded first, it serves both; behind an older one the driver does not load, as Intel's does not.
  for (auto name = names.rbegin(); name != names.rend(); ++name) {
    const bool asked_for = !requested || std::find(requested->begin(), requested->end(), *name) != requested->end();
    list->push_back(look_for(*name, folders, asked_for));
  }
  std::reverse(list->begin(), list->end());
  return list.release();
}

struct Found {
  Birthplace birthplace;
  std::unique_ptr<const std::vector<ListedBackend>> list{look_for_all()};
};

const Found& found() {
  count_forks();
  // Never destroyed: plug-ins stay loaded, and no driver is called from a static destructor.
  static const Found* const found = new Found;
  return *found;
}

}  // namespace

const std::vector<ListedBackend>& listed_backends() {
  return *found().list;
}

bool backends_are_elsewhere() {
  return found().birthplace.is_elsewhere();
}

std::vector<DeviceInfo> devices_by_preference() {
  std::vector<DeviceInfo> devices;
  for (const ListedBackend& listed : listed_backends()) {
    devices.insert(devices.end(), listed.devices.begin(), listed.devices.end());
  }
  // A GPU or the like before a CPU; for the rest the list of backends is in the order of preference.
  std::stable_partition(devices.begin(), devices.end(),
                        [](const DeviceInfo& device) { return device.kind != DeviceKind::cpu; });
  return devices;
}

}  // namespace tessera::detail
