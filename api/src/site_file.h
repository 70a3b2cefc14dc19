// The machine's site file: variants that are forbidden or forced here, each with a sentence why. Whoever runs the
// machine writes it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tessera/device.h>

namespace tessera::detail {

struct SiteRule {
  bool forbids = false;  ///< or forces
  std::string operator_name;
  std::string variant;
  std::string device;  ///< pattern of the device's id or name; "" for every device
  std::string because;
  std::size_t line = 0;
};

struct SiteRules {
  std::string path;
  std::vector<SiteRule> rules;
  bool is_there = false;

  /// The first rule that forbids the variant on this device, or forces one; null if none does.
  [[nodiscard]] const SiteRule* forbids(std::string_view operator_name, std::string_view variant,
                                        const DeviceInfo& device) const;
  [[nodiscard]] const SiteRule* forces(std::string_view operator_name, const DeviceInfo& device) const;
  /// "the site file /etc/tessera/site.jsonl forbids it: the driver's dot product is wrong"
  [[nodiscard]] std::string words(const SiteRule& rule) const;
};

/// Read on the first call: $TESSERA_SITE_FILE, or /etc/tessera/site.jsonl, in one stat() where that is not there. Error
/// invalid_argument, with the line, for a file that is not right, and for a $TESSERA_SITE_FILE that names none.
[[nodiscard]] const SiteRules& site_rules();

/// True if `text` is `pattern`, in which * stands for any letters.
[[nodiscard]] bool matches_pattern(std::string_view pattern, std::string_view text);

/// For site_rules(), and for tests: the rules of a file's text.
[[nodiscard]] std::vector<SiteRule> parse_site_rules(std::string_view text, const std::string& path);

}  // namespace tessera::detail
