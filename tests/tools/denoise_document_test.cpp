// docs/denoise.md holds its word: its commands, run one after the other, print what stands there and make its pictures.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "mosaic.h"
#include "png_sample.h"
#include "program_run.h"

namespace {

using tessera::testing_support::decode;
using tessera::testing_support::Outcome;

const std::string kDocuments = TESSERA_DOCUMENTS_PATH;

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

class DenoiseDocumentTest : public tessera::testing_support::ProgramOnCpuTest {
 protected:
  /// Runs what the document says, and expects it to say what that prints.
  void follow(const std::string& command) {
    EXPECT_NE(document.find("tessera " + command + "\n"), std::string::npos) << command;
    const Outcome outcome = run(command, "TESSERA_DEVICE=cpu:0");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.standard_error;
    std::istringstream lines(outcome.standard_output);
    for (std::string line; std::getline(lines, line);) {
      // Device, variant and time differ.
      line = line.substr(0, line.find(", cpu:0 ("));
      EXPECT_NE(document.find(line), std::string::npos) << "docs/denoise.md has no: " << line;
    }
  }
  void expect_picture(const std::string& made, const std::string& name) {
    EXPECT_NE(document.find("(pictures/" + name + ")"), std::string::npos) << name;
    EXPECT_TRUE(decode(scratch.read(made)).bytes == decode(text_of(kDocuments + "/pictures/" + name)).bytes)
        << "make docs/pictures/" << name << " anew";
  }

  const std::string document = text_of(kDocuments + "/denoise.md");
};

TEST_F(DenoiseDocumentTest, its_volume_comes_out_as_it_says) {
  follow("phantom --size 128,128,32 --noise 25 --out noisy.nrrd --clean clean.nrrd");
  follow("denoise noisy.nrrd denoised.nrrd");
  follow("psnr clean.nrrd noisy.nrrd");
  follow("psnr clean.nrrd denoised.nrrd");
  ASSERT_EQ(run("denoise noisy.nrrd means.nrrd --method nlm -d cpu:0").exit_code, 0);
  const Outcome means = run("psnr clean.nrrd means.nrrd");
  const std::string decibels = means.standard_output.substr(5, means.standard_output.find(" dB") - 5);
  EXPECT_NE(document.find("comes out at " + decibels + " dB"), std::string::npos) << means.standard_output;
  follow("slice denoised.nrrd denoised.png --window 0,140");
  expect_picture("denoised.png", "phantom_denoised.png");
  for (const std::string name : {"noisy", "clean"}) {
    ASSERT_EQ(run("slice " + name + ".nrrd " + name + ".png --window 0,140").exit_code, 0);
    expect_picture(name + ".png", "phantom_" + name + ".png");
  }
}

TEST_F(DenoiseDocumentTest, its_image_comes_out_as_it_says) {
  EXPECT_TRUE(decode(text_of(kDocuments + "/pictures/mosaic_noisy.png")).bytes ==
              tessera::testing_support::draw_noisy_mosaic(25))
      << "draw it anew: draw_mosaic docs/pictures/mosaic_noisy.png 25";
  scratch.write("mosaic_noisy.png", text_of(kDocuments + "/pictures/mosaic_noisy.png"));
  scratch.write("mosaic.png", text_of(kDocuments + "/pictures/mosaic.png"));
  follow("denoise mosaic_noisy.png mosaic_denoised.png");
  follow("psnr mosaic.png mosaic_noisy.png");
  follow("psnr mosaic.png mosaic_denoised.png");
  expect_picture("mosaic_denoised.png", "mosaic_denoised.png");
}

}  // namespace
