// Lines are read strictly: one that was skipped could let run what is forbidden.
#include "site_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <tessera/error.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <system_error>
#include <variant>

#include "backend/sentence.h"
#include "environment.h"
#include "json_line.h"
#include "loaded_once.h"
#include "printable.h"

namespace tessera::detail {
namespace {

constexpr const char* kSiteFile = "/etc/tessera/site.jsonl";
constexpr std::size_t kMostBytesOfSiteFile = std::size_t{1} << 20;
constexpr std::array<std::string_view, 5> kSiteFields{"action", "operator", "variant", "device", "because"};

[[noreturn]] void refuse_site_file(const std::string& path, std::string_view why) {
  throw Error(ErrorCode::invalid_argument, backend::sentence("the site file ", printable(path), " ", why));
}

[[noreturn]] void refuse_site_line(const std::string& path, std::size_t line, std::string_view why) {
  refuse_site_file(path, backend::sentence("is not right in line ", line, ": ", why));
}

SiteRule rule_of(const JsonObject& object, const std::string& path, std::size_t line) {
  for (const JsonField& field : object) {
    if (std::find(kSiteFields.begin(), kSiteFields.end(), field.name) == kSiteFields.end())
      refuse_site_line(
          path, line,
          backend::sentence("there is no field '", printable(field.name), "', but ", backend::enumerate(kSiteFields)));
  }
  const auto text = [&](std::string_view name, bool is_required) {
    const JsonValue* const value = find_field(object, name);
    if (value == nullptr && !is_required) return std::string();
    const auto* const words = value != nullptr ? std::get_if<std::string>(value) : nullptr;
    if (words == nullptr || words->empty())
      refuse_site_line(path, line, backend::sentence("'", name, "' must be a text, and not empty"));
    return printable(*words);
  };
  SiteRule rule;
  const std::string action = text("action", true);
  if (action != "forbid" && action != "force")
    refuse_site_line(path, line, backend::sentence("'action' is '", action, "', but must be forbid or force"));
  rule.forbids = action == "forbid";
  rule.operator_name = text("operator", true);
  rule.variant = text("variant", true);
  rule.device = text("device", false);
  rule.because = text("because", true);
  rule.line = line;
  return rule;
}

bool is_of_device(const SiteRule& rule, const DeviceInfo& device) {
  return rule.device.empty() || matches_pattern(rule.device, device.id) || matches_pattern(rule.device, device.name);
}

/// Of a file that is there.
std::string site_text(const std::string& path) {
  // O_NONBLOCK: a FIFO must not hold the program up.
  const int file = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (file < 0) refuse_site_file(path, "cannot be read: " + std::generic_category().message(errno));
  std::string text;
  struct stat facts = {};
  const bool is_file = ::fstat(file, &facts) == 0 && S_ISREG(facts.st_mode);
  ssize_t count = 1;
  while (is_file && text.size() <= kMostBytesOfSiteFile && (count > 0 || errno == EINTR)) {
    std::array<char, 4096> part{};
    count = ::read(file, part.data(), part.size());
    if (count == 0) break;
    if (count > 0) text.append(part.data(), static_cast<std::size_t>(count));
  }
  const int failure = errno;
  ::close(file);
  if (!is_file) refuse_site_file(path, "must be a regular file");
  if (count < 0) refuse_site_file(path, "cannot be read: " + std::generic_category().message(failure));
  if (text.size() > kMostBytesOfSiteFile)
    refuse_site_file(path, backend::sentence("is larger than ", kMostBytesOfSiteFile, " bytes"));
  return text;
}

SiteRules load_site_rules(const std::string& path, bool is_named) {
  SiteRules rules;
  rules.path = path;
  struct stat facts = {};
  if (::stat(path.c_str(), &facts) != 0 && (errno == ENOENT || errno == ENOTDIR)) {
    if (is_named) refuse_site_file(path, "that $TESSERA_SITE_FILE names is not there");
    return rules;
  }
  rules.is_there = true;
  rules.rules = parse_site_rules(site_text(path), path);
  return rules;
}

}  // namespace

bool matches_pattern(std::string_view pattern, std::string_view text) {
  std::size_t p = 0;
  std::size_t star = std::string_view::npos;  // the last * seen, and how far its letters reach
  std::size_t reach = 0;
  for (std::size_t t = 0; t < text.size();) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      reach = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++reach;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

std::vector<SiteRule> parse_site_rules(std::string_view text, const std::string& path) {
  std::vector<SiteRule> rules;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::string_view words = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), words.size() + 1));
    if (words.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const JsonLine parsed = parse_json_line(words);
    if (const auto* const why = std::get_if<std::string>(&parsed)) refuse_site_line(path, line, *why);
    rules.push_back(rule_of(std::get<JsonObject>(parsed), path, line));
  }
  return rules;
}

const SiteRule* SiteRules::forbids(std::string_view operator_name, std::string_view variant,
                                   const DeviceInfo& device) const {
  const auto found = std::find_if(rules.begin(), rules.end(), [&](const SiteRule& rule) {
    return rule.forbids && rule.operator_name == operator_name && rule.variant == variant && is_of_device(rule, device);
  });
  return found == rules.end() ? nullptr : &*found;
}

const SiteRule* SiteRules::forces(std::string_view operator_name, const DeviceInfo& device) const {
  const auto found = std::find_if(rules.begin(), rules.end(), [&](const SiteRule& rule) {
    return !rule.forbids && rule.operator_name == operator_name && is_of_device(rule, device);
  });
  return found == rules.end() ? nullptr : &*found;
}

std::string SiteRules::words(const SiteRule& rule) const {
  return backend::sentence("the site file ", printable(path),
                           rule.forbids ? " forbids it: " : " forces it: ", rule.because);
}

const SiteRules& site_rules() {
  static LoadedOnce<SiteRules> loaded;
  const auto named = environment_value("TESSERA_SITE_FILE");
  if (named && !std::filesystem::path(*named).is_absolute())
    throw Error(ErrorCode::invalid_argument,
                backend::sentence("$TESSERA_SITE_FILE is '", printable(*named), "', but must be an absolute path"));
  const std::string path = named.value_or(kSiteFile);
  return loaded.get(path, [&](const std::string&) { return load_site_rules(path, named.has_value()); });
}

}  // namespace tessera::detail
