// Tables for the terminal.
#include "tools/classify/classification_text.h"

#include <set>

#include <fmt/format.h>

#include "tools/output/table.h"

namespace tessera::tool {

namespace {

constexpr std::size_t kMostLabelsInTable = 20;

std::string number_or_none(const std::optional<std::int64_t>& number) {
  return number ? std::to_string(*number) : "none";
}

std::string head(const Classification& request, const ClassificationReport& r) {
  return fmt::format(
      "{} test images among {} training images of {} numbers, {}, scale {:.4g}, order {}, distance {}\n"
      "{} ({}), {}{}\n\n",
      r.test_rows, r.training_rows, r.columns, to_string(r.type), r.scale, request.order, to_string(request.distance),
      r.device.id, r.device.name, r.kernel.variant,
      r.slabs == 0 ? "" : fmt::format(", in {} slabs through {}", r.slabs, format_bytes(r.memory_bytes)));
}

std::string accuracy(const Classification& request, const ClassificationReport& r) {
  const auto line = [&](const char* how, std::int64_t right, bool decides) {
    return fmt::format("{} {:6.2f} % right: {} of {}{}\n", how, 100 * r.share(right), right, r.test_rows,
                       decides           ? ""
                       : request.by_vote ? " (not asked for)"
                                         : " (--vote)");
  };
  std::string text = line("rounded value ", r.right_by_value, !request.by_vote) +
                     line("largest vote  ", r.right_by_vote, request.by_vote);
  if (!r.unanswered.empty()) {
    text += fmt::format("no answer for {} images, the first is {}: every training image is infinitely far\n",
                        r.unanswered.size(), r.unanswered.front());
  }
  return text;
}

/// Rows are labels, columns answers.
std::string confusion(const ClassificationReport& r) {
  std::set<std::int64_t> names;
  for (const auto& [pair, count] : r.counts) names.insert({pair.first, pair.second});
  if (names.size() > kMostLabelsInTable) {
    return fmt::format("\n{} labels: how often each got which answer is in --json\n", names.size());
  }
  std::vector<Table::Column> columns{{"label"}};
  for (const std::int64_t name : names) columns.push_back({std::to_string(name), Align::right});
  columns.push_back({"right", Align::right});
  Table table(columns);
  for (const std::int64_t label : names) {
    std::vector<std::string> cells{std::to_string(label)};
    std::int64_t all = 0, right = 0;
    for (const std::int64_t answer : names) {
      const auto found = r.counts.find({label, answer});
      const std::int64_t count = found == r.counts.end() ? 0 : found->second;
      all += count;
      right += label == answer ? count : 0;
      cells.push_back(count == 0 ? "." : std::to_string(count));
    }
    cells.push_back(all == 0 ? ""
                             : fmt::format("{:.2f} %", 100 * static_cast<double>(right) / static_cast<double>(all)));
    table.add_row(cells);
  }
  return fmt::format("\nanswers (columns) to each label (rows)\n{}", table.render());
}

std::string doubtful(const ClassificationReport& r) {
  if (r.doubtful.empty()) return "";
  Table table({{"image", Align::right},
               {"label", Align::right},
               {"answer", Align::right},
               {"value", Align::right},
               {"margin", Align::right},
               {"neighbours", Align::right},
               {"nearest row", Align::right},
               {"its label", Align::right},
               {"distance", Align::right},
               {""}});
  for (const DoubtfulImage& image : r.doubtful) {
    const Judgement& j = image.judgement;
    table.add_row({std::to_string(image.index), std::to_string(image.label), number_or_none(image.answer),
                   fmt::format("{:.3f}", j.value), fmt::format("{:.4f}", image.margin),
                   fmt::format("{:.1f}", j.neighbours), number_or_none(j.nearest_row),
                   number_or_none(image.nearest_label), format_number(j.nearest_distance),
                   image.answer == image.label ? "" : "wrong"});
  }
  return fmt::format(
      "\nthe most doubtful images; the margin is the answer's share of the weight less the best other's\n{}",
      table.render());
}

std::string times(const ClassificationReport& r) {
  Table table({{"stage"}, {"time", Align::right}, {"share", Align::right}, {""}});
  const auto add = [&](const char* stage, double seconds, const std::string& note = "") {
    table.add_row({stage, format_seconds(seconds), fmt::format("{:.1f} %", 100 * seconds / r.total_s), note});
  };
  add("opening the device", r.open_s);
  add("reading training images", r.read_training_s);
  add("compiling", r.times.compile_s);
  const double classifying_s = r.slabs == 0 ? r.times.compute_s : r.times.stream_s;
  const std::string speed =
      classifying_s > 0 ? fmt::format("{} images/s", format_number(static_cast<double>(r.test_rows) / classifying_s))
                        : "";
  if (r.slabs == 0) {
    add("training set to the device", r.times.upload_training_s, "transfer");
    add("preparing it", r.times.prepare_s);
    add("reading test images", r.read_test_s);
    add("test images to the device", r.times.upload_images_s, "transfer");
    add("classifying", classifying_s, speed);
    add("answers back", r.times.download_s, "transfer");
  } else {
    add("reading test images", r.read_test_s);
    add("streaming", classifying_s, speed);
    add("- slabs to the device", r.times.upload_training_s, "transfer, beside classifying");
    add("- classifying", r.times.compute_s);
    add("- answers back", r.times.download_s, "transfer");
  }
  add("all of it", r.total_s);
  return fmt::format("\n{}", table.render());
}

}  // namespace

std::string classification_text(const Classification& request, const ClassificationReport& report) {
  return head(request, report) + accuracy(request, report) + confusion(report) + doubtful(report) + times(report);
}

}  // namespace tessera::tool
