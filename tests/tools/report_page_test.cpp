// The page as a browser lays it out, narrow and wide: no text on another, none cut off. A script that only this test
// adds looks at the boxes of all texts. Skipped where there is no Chromium.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include <fmt/format.h>

#include "report_sample.h"
#include "support/scratch_folder.h"
#include "tools/report/page.h"

namespace tessera::tool {
namespace {

using testing_support::report_sample;
using testing_support::ScratchFolder;

std::string browser() {
  for (const char* name : {"chromium", "chromium-browser", "google-chrome"}) {
    if (std::system(fmt::format("command -v {} >/dev/null 2>&1", name).c_str()) == 0) return name;
  }
  return "";
}

/// Its findings become the title of the page, "found:" and a line each.
constexpr const char* kLook = R"(<script>
const found = [];
for (const svg of document.querySelectorAll('svg')) {
  const frame = svg.getBoundingClientRect();
  const texts = [...svg.querySelectorAll('text')].map(t => [t.textContent, t.getBoundingClientRect()]);
  texts.forEach(([words, a], i) => {
    if (a.left < frame.left - 1 || a.right > frame.right + 1 || a.top < frame.top - 1 || a.bottom > frame.bottom + 1)
      found.push('cut off: ' + words);
    for (const [others, b] of texts.slice(i + 1))
      if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
          Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3)
        found.push('overlap: ' + words + ' | ' + others);
  });
}
if (document.documentElement.scrollWidth > document.documentElement.clientWidth + 1)
  found.push('the page is wider than the window: ' + document.documentElement.scrollWidth);
if (document.querySelectorAll('svg').length < 5) found.push('charts are missing');
document.title = 'found:' + found.join(';') + ':end';
</script></body>)";

class ReportPageTest : public testing::Test {
 protected:
  void SetUp() override {
    browser_ = browser();
    if (browser_.empty()) GTEST_SKIP() << "no Chromium is installed (chromium, chromium-browser or google-chrome)";
  }
  /// What the script found in this page, "" for nothing.
  [[nodiscard]] std::string findings(std::string page, int width) const {
    page.replace(page.find("</body>"), 7, kLook);
    scratch_.write("page.html", page);
    const std::string line = fmt::format(
        "HOME='{0}' {1} --headless --no-sandbox --disable-gpu --window-size={2},900 --virtual-time-budget=2000 "
        "--dump-dom "
        "'file://{0}/page.html' >'{0}/dom.html' 2>'{0}/messages'",
        scratch_.path(""), browser_, width);
    if (std::system(line.c_str()) != 0) return "the browser failed: " + scratch_.read("messages");
    const std::string dom = scratch_.read("dom.html");
    const std::size_t begin = dom.find("<title>found:"), end = dom.find(":end</title>");
    if (begin == std::string::npos || end == std::string::npos) return "the script did not end";
    return dom.substr(begin + 13, end - begin - 13);
  }
  [[nodiscard]] static std::string page_of(const Json& result) {
    return report_page({report_input_of(result, "a.json"), report_input_of(result, "b.json")});
  }

  ScratchFolder scratch_;
  std::string browser_;
};

TEST_F(ReportPageTest, texts_neither_overlap_nor_are_cut_off) {
  for (const int width : {500, 1400}) EXPECT_EQ(findings(page_of(report_sample()), width), "") << width;
}

TEST_F(ReportPageTest, nor_do_long_names) {
  Json result = report_sample();
  const std::string name(90, 'W');
  for (Json& device : result["devices"]) device["name"] = name;
  for (Json& record : result["records"]) record["variant"] = record["variant"].get<std::string>() + name;
  for (Json& transfer : result["transfers"]) transfer["device"] = name;
  for (const int width : {500, 1400}) EXPECT_EQ(findings(page_of(result), width), "") << width;
}

TEST_F(ReportPageTest, what_it_looks_for_is_found) {
  std::string page = page_of(report_sample());
  page.replace(page.find("</main>"), 7,
               "<svg width=\"90\" height=\"20\"><text x=\"0\" y=\"15\">first</text><text x=\"2\" y=\"15\">second</text>"
               "<text x=\"80\" y=\"15\">outside</text></svg></main>");
  const std::string found = findings(page, 1400);
  EXPECT_NE(found.find("overlap: first | second"), std::string::npos) << found;
  EXPECT_NE(found.find("cut off: outside"), std::string::npos) << found;
}

}  // namespace
}  // namespace tessera::tool
