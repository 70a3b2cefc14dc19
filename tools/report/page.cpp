// The frame of the page: head, style, the order of the sections, and how things were measured. No script, no font, no
// picture from elsewhere.
#include "tools/report/page.h"

#include <algorithm>

#include <fmt/format.h>

#include "tools/report/svg.h"

namespace tessera::tool {

namespace {

/// Colours that stay apart for people who see few, on light and on dark ground.
constexpr const char* kStyle = R"(
:root{--ground:#fff;--text:#1d232b;--soft:#5b6673;--rule:#d5dbe2;--ours:#3d7ab8;--best:#154c82;--peer:#f3ead9;
--edge:#a4731b;--bad:#b3261e;--good:#1c6e3a;--s0:#1f6fb2;--s1:#c4590b;--s2:#2c7d4f;--s3:#a03c8c;--s4:#8a6a00;
--s5:#b3324a;--s6:#4d58b5;--s7:#3c7f8b}
@media (prefers-color-scheme:dark){:root{--ground:#14181d;--text:#e4e9ef;--soft:#9aa6b3;--rule:#39424d;--ours:#4d8fd1;
--best:#9cc9f5;--peer:#2c2617;--edge:#d8a54a;--bad:#ff8a80;--good:#79d29a;--s0:#6db3f2;--s1:#ff9d57;--s2:#6fce97;
--s3:#e58ad3;--s4:#dcbf4c;--s5:#ff8fa0;--s6:#a3abff;--s7:#79c7d4}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:960px;padding:16px 20px 48px;background:var(--ground);color:var(--text);
font:16px/1.5 system-ui,sans-serif}
h1{font-size:1.7em;margin:.4em 0}h2{margin:1.8em 0 .3em;border-bottom:1px solid var(--rule)}h3{margin:1.6em 0 .4em}
p,li{overflow-wrap:anywhere}nav ul{padding-left:1.2em}a{color:var(--s0)}
.scroll{overflow-x:auto}:focus-visible{outline:3px solid var(--s1);outline-offset:2px}
table{border-collapse:collapse;font-size:.86em;width:100%}
th,td{padding:3px 10px 3px 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--rule)}
th{white-space:nowrap}td.n,th.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
tr.quiet td{color:var(--soft)}tr.bad td{color:var(--bad)}tr.good td{color:var(--good)}
details{margin:.6em 0 1.4em}summary{cursor:pointer}
figure{margin:1.2em 0}figcaption{margin-bottom:.4em}
svg{display:block;max-width:none}
svg text{font:12px ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace;fill:var(--text)}
svg text.strong{font-weight:bold}.grid{stroke:var(--rule);stroke-width:1}
.ours{fill:var(--ours)}.best{fill:var(--best)}.peer{fill:var(--peer);stroke:var(--edge);stroke-width:1.5}
.curve{fill:none;stroke-width:2}.dash{stroke-dasharray:6 4}.plain{stroke:var(--soft);fill:none}
.mark{stroke:var(--ground);stroke-width:.7}
.curve.s0{stroke:var(--s0)}.curve.s1{stroke:var(--s1)}.curve.s2{stroke:var(--s2)}.curve.s3{stroke:var(--s3)}
.curve.s4{stroke:var(--s4)}.curve.s5{stroke:var(--s5)}.curve.s6{stroke:var(--s6)}.curve.s7{stroke:var(--s7)}
.mark.s0{fill:var(--s0)}.mark.s1{fill:var(--s1)}.mark.s2{fill:var(--s2)}.mark.s3{fill:var(--s3)}
.mark.s4{fill:var(--s4)}.mark.s5{fill:var(--s5)}.mark.s6{fill:var(--s6)}.mark.s7{fill:var(--s7)}
@media print{body{max-width:none;font-size:11pt}figure,tr{break-inside:avoid}.scroll{overflow:visible}nav{display:none}
svg{max-width:100%;height:auto}details>*{display:block}}
)";

constexpr const char* kHowMeasured = R"(<h2 id="how">How it was measured</h2>
<p>Every result was verified against an oracle, plain loops in double or exact integers, before its time was taken; what
failed has no time. A variant is warmed up and then repeated; the time is the median on the device&#39;s own clock, and
the spread is the interquartile range over the median. Speed is the least work of the problem over that time, so that an
algorithm which needs fewer operations may pass the peak; its row then says so. Peaks are measured on the device itself,
by kernels that do nothing but compute in registers, copy, or read what fits into a cache.</p>
)";

std::string one_file(const ReportInput& input, std::size_t number) {
  const auto verified =
      std::count_if(input.records.begin(), input.records.end(), [](const auto& r) { return r.is_verified(); });
  const auto wrong = std::count_if(input.records.begin(), input.records.end(), [](const auto& r) {
    return r.status != "verified" && r.status != "unsupported" && r.status != "skipped";
  });
  std::string html = fmt::format("<h2 id=\"file{}\">{}</h2>\n<p>{}<br>{}<br>{}</p>\n", number, escaped(input.name),
                                 escaped(input.machine), escaped(input.library), escaped(input.date));
  if (!input.note.empty()) html += fmt::format("<p>{}</p>\n", escaped(input.note));
  html += fmt::format(
      "<p>{} of {} records were verified and timed, {} failed; the others could not run or were left "
      "out, with the reason in their row.</p>\n",
      verified, input.records.size(), wrong);
  if (!input.missing_peers.empty()) {
    std::string list;
    for (const std::string& peer : input.missing_peers) list += (list.empty() ? "" : "; ") + escaped(peer);
    html += fmt::format("<p>Not compared with, because they were not on this machine: {}.</p>\n", list);
  }
  return html + devices_section(input) + operators_section(input) + random_section(input) + threads_section(input) +
         transfers_section(input);
}

}  // namespace

void HtmlTable::add_row(std::vector<std::string> cells, std::string of_class) {
  cells.resize(headers_.size());
  rows_.emplace_back(std::move(cells), std::move(of_class));
}

std::string HtmlTable::render() const {
  const auto is_number = [&](std::size_t column) { return headers_[column].starts_with("#"); };
  std::string html = "<div class=\"scroll\" tabindex=\"0\"><table><thead><tr>";
  for (std::size_t i = 0; i < headers_.size(); ++i) {
    const std::string header = is_number(i) ? headers_[i].substr(2) : headers_[i];
    html += fmt::format("<th scope=\"col\"{}>{}</th>", is_number(i) ? " class=\"n\"" : "", escaped(header));
  }
  html += "</tr></thead><tbody>\n";
  for (const auto& [cells, of_class] : rows_) {
    html += of_class.empty() ? "<tr>" : fmt::format("<tr class=\"{}\">", of_class);
    for (std::size_t i = 0; i < cells.size(); ++i)
      html += fmt::format("<td{}>{}</td>", is_number(i) ? " class=\"n\"" : "", escaped(cells[i]));
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

std::string HtmlTable::folded(const std::string& summary) const {
  if (rows_.empty()) return "";
  return fmt::format("<details><summary>{}</summary>\n{}</details>\n", escaped(summary), render());
}

std::string figure(const std::string& caption, const std::string& svg) {
  if (svg.empty()) return "";
  return fmt::format("<figure><figcaption>{}</figcaption>\n<div class=\"scroll\" tabindex=\"0\">{}</div></figure>\n",
                     escaped(caption), svg);
}

std::string report_page(const std::vector<ReportInput>& inputs) {
  std::string contents, body;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    contents += fmt::format("<li><a href=\"#file{}\">{}</a></li>\n", i, escaped(inputs[i].name));
    body += one_file(inputs[i], i);
  }
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\"><title>Tessera: what was "
      "measured</title>\n<style>{}</style></head>\n"
      "<body><header><h1>Tessera: what was measured</h1></header>\n"
      "<nav aria-label=\"Contents\"><ul>\n{}<li><a href=\"#how\">How it was measured</a></li></ul></nav>\n"
      "<main>{}{}{}</main></body></html>\n",
      kStyle, contents, comparison_section(inputs), body, kHowMeasured);
}

}  // namespace tessera::tool
