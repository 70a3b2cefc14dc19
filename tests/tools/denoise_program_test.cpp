// `tessera phantom`, `denoise`, `slice` and `psnr` as a user runs them: exit codes, streams, and being asked to end.
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <initializer_list>
#include <set>
#include <string>

#include "program_run.h"

namespace {

using tessera::testing_support::Outcome;
using tessera::testing_support::run_line;

class DenoiseProgramTest : public tessera::testing_support::ProgramOnCpuTest {
 protected:
  void SetUp() override {
    ProgramOnCpuTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    ASSERT_EQ(run("phantom --size 24 --noise 20 --out in.nrrd --type uint8").exit_code, 0);
  }

  void expect_one_line(const Outcome& outcome, int exit_code, const std::string& part) {
    EXPECT_EQ(outcome.exit_code, exit_code);
    EXPECT_EQ(outcome.standard_output, "");
    EXPECT_EQ(std::count(outcome.standard_error.begin(), outcome.standard_error.end(), '\n'), 1);
    EXPECT_EQ(outcome.standard_error.rfind("tessera", 0), 0U) << outcome.standard_error;
    EXPECT_NE(outcome.standard_error.find(part), std::string::npos) << outcome.standard_error;
    EXPECT_EQ(scratch.names(), std::set<std::string>{"in.nrrd"});
  }
  static void expect_parts(const std::string& text, std::initializer_list<const char*> parts) {
    for (const char* part : parts) EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
  }
  /// The number behind `word`.
  static double number_behind(const std::string& text, const std::string& word) {
    const std::size_t found = text.find(word);
    EXPECT_NE(found, std::string::npos) << word << " in\n" << text;
    return found == std::string::npos ? 0 : std::stod(text.substr(found + word.size()));
  }
};

TEST_F(DenoiseProgramTest, help_shows_formats_and_examples) {
  expect_parts(run("denoise --help").standard_output, {"Examples:", "--sigma", "S|auto", "--method", "bm|nlm",
                                                       "fast|normal|high", "NIfTI-1", "TIFF", "--range", "--memory"});
  expect_parts(run("phantom --help").standard_output, {"Examples:", "--size", "--noise", "--clean", "128", "float32"});
  expect_parts(run("slice --help").standard_output, {"Examples:", "--axis", "--at", "--window"});
  expect_parts(run("psnr --help").standard_output, {"Example:", "--peak", "SSIM"});
  expect_parts(run("--help").standard_output, {"denoise", "phantom", "slice", "psnr"});
}

TEST_F(DenoiseProgramTest, a_phantom_comes_out_nearer_to_the_clean_one) {
  const Outcome made = run("phantom --size 40 --noise 25 --out noisy.nrrd --clean clean.nrrd --seed 3");
  EXPECT_EQ(made.standard_output, "noisy.nrrd: 40 x 40 x 40 voxels of float32, noise 25, seed 3\n");
  const Outcome denoised = run("denoise noisy.nrrd denoised.nrrd --sigma 25 -d cpu:0");
  EXPECT_EQ(denoised.exit_code, 0) << denoised.standard_error;
  EXPECT_EQ(denoised.standard_error, "");
  expect_parts(denoised.standard_output, {"NRRD, 40 x 40 x 40 float32: sigma 25, normal, cpu:0 ("});
  const Outcome before = run("psnr clean.nrrd noisy.nrrd"), after = run("psnr clean.nrrd denoised.nrrd");
  EXPECT_NEAR(number_behind(before.standard_output, "PSNR "), 20.17, 0.1);
  EXPECT_GT(number_behind(after.standard_output, "PSNR "), 29);
  EXPECT_GT(number_behind(after.standard_output, "SSIM "), number_behind(before.standard_output, "SSIM ") + 0.2);
  EXPECT_EQ(run("psnr clean.nrrd clean.nrrd").standard_output,
            "PSNR infinite: no voxel differs\nSSIM 1.0000\nlargest difference 0\n");
}

TEST_F(DenoiseProgramTest, is_the_same_through_pipes) {
  EXPECT_EQ(run("denoise in.nrrd out.nrrd --sigma 20 -d cpu:0").exit_code, 0);
  const Outcome pipe = run("denoise - - --sigma 20 -d cpu:0 <in.nrrd | cat");
  EXPECT_EQ(pipe.standard_output, scratch.read("out.nrrd"));
  expect_parts(pipe.standard_error, {"sigma 20, normal, cpu:0"});
  const Outcome packed = run_line(scratch, "gzip <in.nrrd | \"$tessera\" denoise - out2.nrrd --sigma 20 -d cpu:0");
  EXPECT_EQ(packed.exit_code, 0) << packed.standard_error;
  EXPECT_EQ(scratch.read("out2.nrrd"), scratch.read("out.nrrd"));
}

TEST_F(DenoiseProgramTest, options_reach_the_computation) {
  const auto line = [&](const std::string& options) {
    const Outcome outcome = run("denoise in.nrrd out.nrrd -d cpu:0 " + options);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.standard_error;
    return outcome.standard_output + scratch.read("out.nrrd");
  };
  expect_parts(line("--profile fast"), {"(estimated), fast, cpu:0 (fused)"});
  expect_parts(line("--variant staged"), {"normal, cpu:0 (staged)"});
  const std::string usual = line("--sigma 20").substr(200);
  EXPECT_NE(line("--sigma 20 --range 2000").substr(200), usual);
  EXPECT_EQ(line("--sigma 20 --memory 64MiB").substr(200), usual);
}

TEST_F(DenoiseProgramTest, what_passes_the_memory_comes_out_the_same) {
  ASSERT_EQ(run("phantom --size 24,22,200 --noise 20 --out long.nrrd").exit_code, 0);
  const auto file_with = [&](const std::string& memory) {
    const Outcome outcome = run("denoise long.nrrd out.nrrd -d cpu:0 --sigma 20 --memory " + memory);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.standard_error;
    expect_parts(outcome.standard_output, {"sigma 20, normal, cpu:0 (fused)"});
    return scratch.read("out.nrrd");
  };
  const std::string whole = file_with("1GiB");
  EXPECT_EQ(file_with("600KiB"), whole);
  EXPECT_EQ(file_with("300KiB"), whole);
  const Outcome refused = run("denoise long.nrrd out.nrrd -d cpu:0 --sigma 20 --memory 200KiB");
  EXPECT_EQ(refused.exit_code, 1);
  expect_parts(refused.standard_error, {"denoise with 8 of 200 planes along z and those within 19 of them, 44 with 528",
                                        "but memory_bytes is 204800"});
}

/// The library computes on as many threads as the process may run on.
TEST_F(DenoiseProgramTest, the_number_of_threads_does_not_matter) {
  cpu_set_t all, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  if (CPU_COUNT(&all) < 2) GTEST_SKIP() << "there is one processor alone";
  CPU_ZERO(&one);
  for (std::size_t cpu = 0; CPU_COUNT(&one) == 0; ++cpu) {
    if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
  }
  const auto file_of = [&](const std::string& variant) {
    EXPECT_EQ(run("denoise in.nrrd out.nrrd -d cpu:0 --sigma 20 --variant " + variant).exit_code, 0);
    return scratch.read("out.nrrd");
  };
  for (const std::string variant : {"fused", "staged"}) {
    const std::string expected = file_of(variant);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_EQ(file_of(variant), expected) << variant;
    ASSERT_EQ(sched_setaffinity(0, sizeof all, &all), 0);
  }
}

TEST_F(DenoiseProgramTest, non_local_means_is_the_other_method) {
  ASSERT_EQ(run("phantom --size 40 --noise 25 --out noisy.nrrd --clean clean.nrrd --seed 3").exit_code, 0);
  const auto psnr_of = [&](const std::string& options) {
    const Outcome outcome = run("denoise noisy.nrrd means.nrrd --sigma 25 -d cpu:0 --method nlm " + options);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.standard_error;
    expect_parts(outcome.standard_output, {"NRRD, 40 x 40 x 40 float32: sigma 25, nlm ", ", cpu:0 ("});
    return number_behind(run("psnr clean.nrrd means.nrrd").standard_output, "PSNR ");
  };
  const double usual = psnr_of("");
  const double noisy = number_behind(run("psnr clean.nrrd noisy.nrrd").standard_output, "PSNR ");
  EXPECT_GT(usual, noisy + 6);  // half the noise
  EXPECT_GT(usual, 28);
  EXPECT_LT(psnr_of("--profile fast"), usual);
  EXPECT_EQ(psnr_of("--variant sequential"), usual);
  EXPECT_EQ(psnr_of("--memory 8MiB"), usual);
}

TEST_F(DenoiseProgramTest, every_ending_is_written_and_read) {
  for (const char* name : {"a.nrrd", "a.nii", "a.nii.gz", "a.npy"}) {
    const std::string file = name;
    EXPECT_EQ(run("phantom --size 20,18,16 --noise 20 --out " + file + " --type uint16").exit_code, 0) << file;
    EXPECT_EQ(run("denoise " + file + " b" + file + " --profile fast -d cpu:0").exit_code, 0) << file;
    EXPECT_EQ(run("psnr a.nrrd " + file).standard_output, run("psnr a.nrrd a.nrrd").standard_output) << file;
    EXPECT_EQ(run("psnr ba.nrrd b" + file).standard_output, run("psnr ba.nrrd ba.nrrd").standard_output) << file;
  }
}

TEST_F(DenoiseProgramTest, an_estimate_of_no_noise_is_told) {
  ASSERT_EQ(run("phantom --size 16 --noise 0 --out flat.nrrd --type uint8").exit_code, 0);
  const Outcome outcome = run("denoise flat.nrrd out.nrrd -d cpu:0");
  EXPECT_EQ(outcome.exit_code, 0);
  expect_parts(outcome.standard_error, {"the noise was estimated as 0", "--sigma says how much"});
  EXPECT_EQ(scratch.read("out.nrrd"), scratch.read("flat.nrrd"));
  EXPECT_EQ(run("denoise flat.nrrd out.nrrd -d cpu:0 --sigma 0").standard_error, "");
}

TEST_F(DenoiseProgramTest, wrong_use_is_one_line_and_exit_code_2) {
  expect_one_line(run("denoise in.nrrd"), 2, "output is required");
  expect_one_line(run("denoise in.nrrd out.nrrd -d gpu9"), 2, "gpu9");
  for (const char* sigma : {"-1", "x", "nan", "inf", "5x", "AUTO"}) {
    expect_one_line(run(std::string("denoise in.nrrd out.nrrd -d cpu:0 --sigma ") + sigma), 2, "--sigma is '");
  }
  expect_one_line(run("denoise in.nrrd out.nrrd -d cpu:0 --range x"), 2, "--range is 'x'");
  expect_one_line(run("denoise in.nrrd out.nrrd -d cpu:0 --profile best"), 2, "--profile");
  expect_one_line(run("denoise in.nrrd out.nrrd -d cpu:0 --variant none"), 2, "none");
  expect_one_line(run("denoise in.nrrd out.nrrd -d cpu:0 --method mean"), 2, "--method");
  expect_one_line(run("denoise in.nrrd out.nrrd -d cpu:0 --method nlm --range 9"), 2, "the method nlm has none");
  expect_one_line(run("denoise in.nrrd out.nrrd -d cpu:0 --method nlm --variant fused"), 2, "fused");
  expect_one_line(run("denoise in.nrrd out.nrrd -d cpu:0 --set threads=-1"), 2, "threads");
  expect_one_line(run("phantom --size 24"), 2, "--out is required");
  expect_one_line(run("phantom --size 0 --out v.nrrd"), 2, "--size");
  expect_one_line(run("phantom --size 4,5 --out v.nrrd"), 2, "--size has two numbers");
  expect_one_line(run("phantom --size 1048576 --out v.nrrd"), 2, "--size makes 1152921504606846976 voxels");
  expect_one_line(run("phantom --noise -1 --out v.nrrd"), 2, "--noise");
  expect_one_line(run("phantom --out v.nrrd --clean v.nrrd"), 2, "both");
  expect_one_line(run("slice in.nrrd out.png --at 24"), 2, "--at is 24, but the file 'in.nrrd' has 24 planes");
  expect_one_line(run("slice in.nrrd out.png --frame 1"), 2, "--frame is 1");
  expect_one_line(run("slice in.nrrd out.png --window 3,3"), 2, "--window is 3,3");
  expect_one_line(run("slice in.nrrd out.png --axis w"), 2, "--axis");
  expect_one_line(run("psnr in.nrrd"), 2, "other is required");
  expect_one_line(run("psnr in.nrrd in.nrrd --peak 0"), 2, "--peak");
}

TEST_F(DenoiseProgramTest, other_failures_are_one_line_and_exit_code_1) {
  expect_one_line(run("denoise in.nrrd out.nrrd -d cpu:99"), 1, "cpu:99");
  expect_one_line(run("denoise no.nrrd out.nrrd -d cpu:0"), 1, "the file 'no.nrrd' cannot be read: No such file");
  expect_one_line(run("denoise in.nrrd in.nrrd -d cpu:0"), 1, "--force allows it");
  expect_one_line(run("denoise in.nrrd out.nii -d cpu:0"), 1, "'out.nii' has the ending of NIfTI-1, but would be NRRD");
  expect_one_line(run("denoise in.nrrd no/such.nrrd -d cpu:0"), 1, "cannot be written: No such file");
  expect_one_line(run("denoise in.nrrd /dev/full -d cpu:0"), 1, "No space left");
  expect_one_line(run("denoise in.nrrd out.nrrd -d cpu:0 --memory 1KiB"), 1,
                  "24 x 24 x 24 voxels, at a time needs 28672 bytes");
  expect_one_line(run("denoise in.nrrd out.nrrd -d cpu:0 --method nlm --memory 1KiB"), 1, "do not fit into 1");
  expect_one_line(run("denoise - out.nrrd -d cpu:0 </dev/null"), 1, "standard input is empty");
  expect_one_line(run("denoise . out.nrrd -d cpu:0"), 1, "is a folder");
  expect_one_line(run("phantom --size 8 --out v.raw"), 1, "'v.raw' must end in .nrrd");
  expect_one_line(run("phantom --size 8 --out v.nrrd --clean no/such.nrrd"), 1, "cannot be written");
  expect_one_line(run("psnr in.nrrd /dev/null"), 1, "is empty");
}

TEST_F(DenoiseProgramTest, files_with_markup_in_their_names_are_named_as_they_are) {
  const Outcome outcome = run("denoise '<b>%s{}\\n.nrrd' out.nrrd -d cpu:0");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.standard_error,
            "tessera: invalid_argument: the file '<b>%s{}\\n.nrrd' cannot be read: No such file or directory\n");
}

TEST_F(DenoiseProgramTest, a_volume_that_differs_in_size_is_refused) {
  ASSERT_EQ(run("phantom --size 24,24,23 --out other.nrrd").exit_code, 0);
  const Outcome outcome = run("psnr in.nrrd other.nrrd");
  EXPECT_EQ(outcome.exit_code, 1);
  expect_parts(outcome.standard_error, {"the file 'in.nrrd' has 24 x 24 x 24, 1 channel, 1 volume, but the file "
                                        "'other.nrrd' has 24 x 24 x 23, 1 channel, 1 volume"});
}

TEST_F(DenoiseProgramTest, a_build_without_libraries_says_so) {
  // What it has instead of TIFF and PNG depends on the build: either it works, or the sentence names the library.
  const Outcome tiff = run("phantom --size 8 --out v.tif");
  if (tiff.exit_code != 0) expect_parts(tiff.standard_error, {"unavailable", "built without libtiff", "libtiff-dev"});
  const Outcome png = run("slice in.nrrd v.png");
  if (png.exit_code != 0) expect_parts(png.standard_error, {"unavailable", "built without libpng", "libpng-dev"});
  EXPECT_EQ(scratch.names().contains("v.tif"), tiff.exit_code == 0);
  EXPECT_EQ(scratch.names().contains("v.png"), png.exit_code == 0);
}

class DenoiseSignalTest : public DenoiseProgramTest, public testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(each, DenoiseSignalTest, testing::Values("INT", "TERM", "HUP"));

TEST_P(DenoiseSignalTest, leaves_nothing_behind_and_does_not_wait_for_the_device) {
  ASSERT_EQ(run("phantom --size 200 --out large.nrrd --type uint8").exit_code, 0);
  const auto start = std::chrono::steady_clock::now();
  const Outcome outcome = run_line(scratch, std::string("timeout --foreground --preserve-status -s ") + GetParam() +
                                                " 3 \"$tessera\" denoise large.nrrd out.nrrd --sigma 25 -d cpu:0 "
                                                "--profile high");
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  EXPECT_GT(outcome.exit_code, 128);
  EXPECT_EQ(outcome.standard_error, std::string("tessera: interrupted by SIG") + GetParam() + "\n");
  EXPECT_EQ(outcome.standard_output, "");
  EXPECT_EQ(scratch.names(), (std::set<std::string>{"in.nrrd", "large.nrrd"}));
  EXPECT_LT(taken.count(), 20) << "its first piece alone takes longer";
}

TEST_F(DenoiseProgramTest, a_signal_ends_what_is_streamed) {
  ASSERT_EQ(run("phantom --size 200 --out large.nrrd --type uint8").exit_code, 0);
  const auto start = std::chrono::steady_clock::now();
  const Outcome outcome = run_line(scratch,
                                   "timeout --foreground --preserve-status -s TERM 3 \"$tessera\" denoise large.nrrd "
                                   "out.nrrd --sigma 25 -d cpu:0 --profile high --memory 12MiB");
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(outcome.exit_code, 143);
  EXPECT_EQ(outcome.standard_error, "tessera: interrupted by SIGTERM\n");
  EXPECT_EQ(scratch.names(), (std::set<std::string>{"in.nrrd", "large.nrrd"}));
  EXPECT_LT(taken.count(), 20) << "its first slab alone takes longer";
}

TEST_F(DenoiseProgramTest, a_signal_ends_the_wait_for_a_pipe) {
  const Outcome outcome = run_line(scratch,
                                   "mkfifo pipe && timeout --foreground --preserve-status -s TERM 1 \"$tessera\" "
                                   "denoise pipe out.nrrd -d cpu:0");
  EXPECT_EQ(outcome.exit_code, 143);
  EXPECT_EQ(outcome.standard_error, "tessera: interrupted by SIGTERM\n");
  EXPECT_EQ(scratch.names(), (std::set<std::string>{"in.nrrd", "pipe"}));
}

}  // namespace
