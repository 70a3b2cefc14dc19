// `tessera classify`: images by kernel regression. The command line; what it asks for is done in classification.cpp.
#include <CLI/CLI.hpp>
#include <charconv>
#include <iostream>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "tools/classify/classification.h"
#include "tools/classify/classification_text.h"
#include "tools/command.h"
#include "tools/output/output_file.h"
#include "tools/process/usage_error.h"
#include "tools/selection.h"

namespace tessera::tool {

namespace {

constexpr const char* kClassifyFooter =
    "A test image's value is the mean of the training labels, weighed by exp(-order^2 |difference|^2 / 2), or with\n"
    "|difference| where --distance says euclidean. The answer is the value rounded to the nearest whole number, as in "
    "the\n"
    "study of this classifier; with --vote it is the label with the most weight, for labels that are mere names.\n\n"
    "Files, told apart by their first bytes, each plain or packed with gzip:\n"
    "  IDX    MNIST's: any of its types, the first length counts the rows\n"
    "  NPY    numpy.save's: integers, float32 or float64 in C order\n"
    "  text   a row on each line, its numbers apart by blanks or commas; labels one a line\n"
    "Labels are whole numbers, at most 1023 apart.\n\n"
    "--scale: every number counts as so many times itself. Bytes (stored as uint8, or with --type uint8) are run as\n"
    "they are and count 1/255 each, so that white is 1, for which order 10 is made; other numbers count 1 unless\n"
    "--scale says otherwise: give --scale 1/255 where a text or floats hold 0 to 255.\n\n"
    "Examples:\n"
    "  tessera digits --out digits && cd digits\n"
    "  tessera classify --train train-images-idx3-ubyte train-labels-idx1-ubyte --test t10k-images-idx3-ubyte \\\n"
    "    t10k-labels-idx1-ubyte\n"
    "  tessera classify --train x.npy y.npy --test x_test.npy y_test.npy --vote --device cuda:0 --json result.json\n"
    "  tessera classify --train x.txt y.txt --test x_test.txt y_test.txt --type uint8 --queries 1000\n";

/// "0.5" or "1/255"; nothing if it is neither.
std::optional<double> ratio_in(const std::string& text) {
  const auto whole = [](std::string_view part) -> std::optional<double> {
    double number = 0;
    const auto parsed = std::from_chars(part.data(), part.data() + part.size(), number);
    if (parsed.ec != std::errc() || parsed.ptr != part.data() + part.size()) return {};
    return number;
  };
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) return whole(text);
  const std::optional<double> top = whole(std::string_view(text).substr(0, slash));
  const std::optional<double> bottom = whole(std::string_view(text).substr(slash + 1));
  if (!top || !bottom) return {};
  return *top / *bottom;
}

class ClassifyCommand : public Command {
 public:
  CLI::App* declare(CLI::App& program) override {
    CLI::App* command = program.add_subcommand("classify", "Classify images by kernel regression");
    Classification& c = request_;
    const auto add_files = [&](const char* name, std::vector<std::string>& files, const char* meaning) {
      command->add_option(name, files, meaning)->type_name("IMAGES LABELS")->expected(2)->required();
    };
    add_files("--train", training_, "The images to learn from, and their labels");
    add_files("--test", test_, "The images to classify, and the labels that they should get");
    command->add_option("-m,--order", c.order, "The larger, the more do near images outweigh far ones")
        ->type_name("M")
        ->capture_default_str();
    command->add_option("--distance", distance_, "What weights fall off with: squared is a Gaussian")
        ->check(CLI::IsMember(kDistances).description(""))
        ->type_name("squared|euclidean")
        ->capture_default_str();
    command->add_flag("--vote", c.by_vote,
                      "Answer with the label that has the most weight, not with the rounded value");
    command->add_option("--scale", scale_, "What every number is multiplied with, see below")->type_name("NUMBER|A/B");
    command->add_option("--type", type_, "Compare in this type; otherwise in that of the training images")
        ->check(CLI::IsMember(kTypes).description(""))
        ->type_name("uint8|float32|float64");
    add_count(*command, "-r,--rows", c.most_training, "Learn from the first N training images alone");
    add_count(*command, "-q,--queries", c.most_test, "Classify the first N test images alone");
    add_count(*command, "--batch", c.batch,
              "Test images on the device at once; otherwise 1024 on a GPU, 64 elsewhere, all in slabs");
    command
        ->add_option("--memory", c.memory_bytes,
                     "Stream the training set through so much of the device's memory; otherwise only one that does not "
                     "fit is streamed")
        ->transform(CLI::AsSizeValue(false).description(""))
        ->type_name("SIZE");
    add_count(*command, "--doubtful", c.doubtful, "List so many of the most doubtful images")->capture_default_str();
    command
        ->add_option(
            "-d,--device", c.device,
            "Device as `tessera devices` names it; without it that of $TESSERA_DEVICE, or the best one present")
        ->type_name("D");
    command->add_option("-v,--variant", c.kernel.variant, "Force this variant of kernel_regression")->type_name("V");
    command->add_option("-s,--set", settings_, "Tuning value of the variant")
        ->type_name("KEY=VALUE")
        ->delimiter(',')
        ->allow_extra_args(false);
    command->add_option("--answers", answers_, "Write the answers, one a line, - for standard output")->type_name("F");
    command->add_option("-j,--json", json_, "Write the result as JSON, - for standard output")->type_name("F");
    command->footer(kClassifyFooter);
    return command;
  }

  int run() override {
    read_options();
    ResultFile result(json_);
    std::optional<OutputFile> answers;
    if (!answers_.empty()) answers.emplace(answers_, "the file of answers");
    const ClassificationReport report = classify(request_);
    std::ostream& text = answers_ == "-" ? std::cerr : result.text();
    text << classification_text(request_, report) << std::flush;
    if (answers) write_answers(*answers, report);
    result.write(classification_json(request_, report));
    return kExitSuccess;
  }

 private:
  static inline const std::map<std::string, Distance> kDistances{{"squared", Distance::squared},
                                                                 {"euclidean", Distance::euclidean}};
  static inline const std::map<std::string, DataType> kTypes{
      {"uint8", DataType::uint8}, {"float32", DataType::float32}, {"float64", DataType::float64}};

  static CLI::Option* add_count(CLI::App& command, const char* name, std::int64_t& count, const char* meaning) {
    return command.add_option(name, count, meaning)->check(CLI::PositiveNumber)->type_name("N");
  }

  void read_options() {
    if (json_ == "-" && answers_ == "-") throw UsageError("--json and --answers cannot both be standard output");
    request_.training_images = training_.at(0);
    request_.training_labels = training_.at(1);
    request_.test_images = test_.at(0);
    request_.test_labels = test_.at(1);
    request_.distance = kDistances.at(distance_);
    if (!type_.empty()) request_.type = kTypes.at(type_);
    if (!scale_.empty()) {
      request_.scale = ratio_in(scale_);
      if (!request_.scale) throw UsageError(fmt::format("--scale is '{}', but must be a number or A/B", scale_));
    }
    request_.kernel.tuning = parse_settings(settings_);
  }

  static void write_answers(OutputFile& file, const ClassificationReport& report) {
    for (const std::optional<std::int64_t>& answer : report.answers) {
      const std::string line = answer ? fmt::format("{}\n", *answer) : "none\n";
      if (!file.write(reinterpret_cast<const std::uint8_t*>(line.data()), line.size())) file.fail();
    }
    file.commit();
  }

  Classification request_;
  std::vector<std::string> training_;
  std::vector<std::string> test_;
  std::string distance_ = "squared";
  std::string type_;
  std::string scale_;
  std::vector<std::string> settings_;
  std::string answers_;
  std::string json_;
};

}  // namespace

std::unique_ptr<Command> make_classify_command() {
  return std::make_unique<ClassifyCommand>();
}

}  // namespace tessera::tool
