// Files of volumes that are cut off, damaged, lie or are something else: one clear sentence with the place, no harm,
// and no memory on the word of a head.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <random>
#include <string>
#include <vector>

#include "table_sample.h"
#include "volume_reading.h"
#include "volume_sample.h"

namespace tessera::tool {
namespace {

using namespace testing_support;

const std::string kData = stored_as<std::int16_t>({1, -2, 3, -4, 5, -6, 7, -8, 9, -10, 11, 12});
const std::string kNrrdFile = nrrd("short", "2 3 2", kData);
const std::string kNpyFile = npy("<i2", "(2, 3, 2)", kData);

NiftiSample nifti() {
  return {4, 16, {2, 3, 2}, false, "extension"};
}

/// With the fields as they are but one.
std::string nrrd_with(const std::string& fields) {
  return "NRRD0001\n" + fields + "\n" + kData;
}

TEST(HostileVolumeTest, cuts_are_refused_wherever_they_are) {
  const std::string packed_voxels = nrrd_head("short", "2 3 2", "endian: little\nencoding: gzip\n") + gzip(kData);
  for (const std::string& plain : {kNrrdFile, kNpyFile, nifti().with(kData), packed_voxels}) {
    EXPECT_EQ(volume_refusal(plain), "");
    EXPECT_EQ(volume_refusal(gzip(kNpyFile)), "");
    for (std::size_t size = 0; size < plain.size(); ++size) {
      ASSERT_NE(volume_refusal(plain.substr(0, size)), "") << size;
      ASSERT_NE(volume_refusal(gzip(plain.substr(0, size))), "") << size;
    }
    const std::string packed = gzip(plain);
    for (std::size_t size = 0; size < packed.size(); ++size) {
      ASSERT_NE(volume_refusal(packed.substr(0, size)), "") << size;
    }
  }
}

TEST(HostileVolumeTest, says_where_a_file_is_cut_off_or_goes_on) {
  EXPECT_EQ(volume_refusal(""), "is empty");
  EXPECT_EQ(volume_refusal(gzip("")), "is empty");
  EXPECT_EQ(volume_refusal("12"), "is neither PNG, NPY, NRRD, NIfTI-1 nor TIFF: it begins with 0x31 0x32");
  EXPECT_EQ(volume_refusal(kNrrdFile.substr(0, 30)), "ends at byte 30, in its head");
  EXPECT_EQ(volume_refusal(nifti().with("").substr(0, 100)), "ends at byte 100, in its head");
  EXPECT_EQ(volume_refusal(nifti().with("").substr(0, 355)),
            "ends at byte 355, before its first voxel, which its head promises at byte 361");
  EXPECT_EQ(volume_refusal(kNpyFile.substr(0, 140)),
            "has 140 bytes, but its head promises 2 x 3 x 2 voxels of int16, which make 152");
  EXPECT_EQ(volume_refusal(kNpyFile + "x"),
            "has 153 bytes, but its head promises 2 x 3 x 2 voxels of int16, which make 152");
  EXPECT_EQ(volume_refusal(gzip(kNpyFile.substr(0, 140))),
            "ends at byte 140 of what it unpacks to, but its head promises 2 x 3 x 2 voxels of int16, which make 152 "
            "bytes");
  EXPECT_EQ(volume_refusal(gzip(kNpyFile + "xy")),
            "goes on at byte 152 of what it unpacks to, where its head promises its end");
  const std::string packed = nrrd_head("short", "2 3 2", "endian: little\nencoding: gzip\n");
  EXPECT_EQ(volume_refusal(packed + gzip(kData.substr(3))),
            "ends at byte 21 of what it unpacks to, but its head promises 2 x 3 x 2 voxels of int16, which make 24 "
            "bytes");
  EXPECT_EQ(
      volume_refusal(packed + gzip(kData).substr(0, 25)),
      "is packed with gzip, but is cut off at byte " + std::to_string(packed.size() + 25) + " of the packed file");
  EXPECT_EQ(volume_refusal(gzip(packed + gzip(kData))),
            "is packed with gzip, and says that what it unpacks to is packed again");
}

TEST(HostileVolumeTest, nrrd_heads_that_are_not_meant_are_refused) {
  const std::string rest = "type: short\ndimension: 3\nsizes: 2 3 2\nendian: little\nencoding: raw\n";
  EXPECT_EQ(volume_refusal(nrrd_with(rest)), "");
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string fields = rest;
    fields.replace(fields.find(from), from.size(), to);
    return volume_refusal(nrrd_with(fields));
  };
  EXPECT_EQ(changed("type: short\n", ""), "has a head that does not say 'type'");
  EXPECT_EQ(changed("short", "block"),
            "says 'type: block' in its head, but must be an integer of 8 to 64 bits, float or double");
  EXPECT_EQ(changed("dimension: 3", "dimension: 2"), "says 'dimension: 2' in its head, but names 3 sizes");
  EXPECT_EQ(changed("2 3 2", "2 0 2"), "says in its head that its length 1 is 0");
  EXPECT_EQ(changed("2 3 2", "2 -3 2"), "says 'sizes: 2 -3 2' in its head, but must name whole numbers below 2^64");
  EXPECT_EQ(changed("2 3 2", "2 3 99999999999999999999"),
            "says 'sizes: 2 3 99999999999999999999' in its head, but must name whole numbers below 2^64");
  EXPECT_EQ(changed("2 3 2", ""), "says 'sizes: ' in its head, but must name 1 to 16 lengths");
  EXPECT_EQ(changed("endian: little\n", ""), "has a head that does not say 'endian'");
  EXPECT_EQ(changed("little", "middle"), "says 'endian: middle' in its head, but must be little or big");
  EXPECT_EQ(changed("raw", "ascii"), "says 'encoding: ascii' in its head, but must be raw or gzip");
  EXPECT_EQ(changed("raw\n", "raw\ndata file: <b>x</b>.raw\n"),
            "says 'data file: <b>x</b>.raw' in its head, and has its voxels there; put both into one file");
  EXPECT_EQ(changed("raw\n", "raw\nbyteskip: -1\n"), "says 'byte skip: -1' in its head, but must skip nothing");
  EXPECT_EQ(changed("raw\n", "raw\nkinds: domain\n"), "says 'kinds: domain' in its head, but has 3 axes");
  EXPECT_EQ(
      changed("raw\n", "raw\nkinds: vector domain domain\n"),
      "says 'kinds: vector domain domain' in its head, but axis 0 must be a domain: of what stands side by side in "
      "a voxel only RGB-color is read");
  EXPECT_EQ(changed("raw\n", "raw\nencoding: raw\n"), "says 'encoding' twice in the line of its head at byte 76");
  EXPECT_EQ(changed("raw\n", "raw\n\x1b[31m\x80\n"),
            "says '\\x1b[31m\\x80', which is no field, in the line of its head at byte 76");
  EXPECT_EQ(volume_refusal("NRRD5\n\n"),
            "begins with 'NRRD5', but must with NRRD and four digits, in the line of its "
            "head at byte 0");
  EXPECT_EQ(volume_refusal("NRRD0001\n" + std::string(2'000'000, '#')),
            "has no empty line, which would end its head, in its first 1048576 bytes");
}

TEST(HostileVolumeTest, nifti_heads_that_are_not_meant_are_refused) {
  EXPECT_EQ(volume_refusal(nifti().with(kData)), "");
  EXPECT_EQ(volume_refusal(nifti().set<std::int16_t>(40, 0).with(kData)),
            "says at byte 40 that it has 0 dimensions, but it must have 1 to 7");
  EXPECT_EQ(volume_refusal(nifti().set<std::int16_t>(44, -3).with(kData)),
            "says at byte 44 that its length 2 is -3, but it must be at least 1");
  EXPECT_EQ(
      volume_refusal(nifti().set<std::int16_t>(70, 32).with(kData)),
      "has voxels of NIfTI's type 32 (byte 70), but they must be integers of 8 to 64 bits, float32, float64 or RGB "
      "of 8 bits");
  EXPECT_EQ(volume_refusal(nifti().set<std::int16_t>(72, 8).with(kData)),
            "says that a voxel of its type, 4, has 8 bits at byte 72, but it has 16");
  EXPECT_EQ(
      volume_refusal(nifti().set(108, 3.5F).with(kData)),
      "says at byte 108 that its voxels begin at byte 3.5, but they must at a whole number from 348 to 268435456");
  EXPECT_NE(volume_refusal(nifti().set(108, std::numeric_limits<float>::quiet_NaN()).with(kData)), "");
  EXPECT_NE(volume_refusal(nifti().set(108, -1e30F).with(kData)), "");
  EXPECT_EQ(volume_refusal(nifti().set<std::int32_t>(344, 0x0031696e).with(kData)),
            "is a head alone, whose voxels are in an .img file; put both into one .nii file");
  EXPECT_NE(volume_refusal(nifti().set<std::int32_t>(344, 0).with(kData)).find("Analyze"), std::string::npos);
  EXPECT_EQ(volume_refusal(nifti().set<std::int32_t>(0, 540).with(kData)), "is NIfTI-2, but only NIfTI-1 is read");
}

TEST(HostileVolumeTest, heads_that_promise_much_take_no_memory) {
  const auto peak_kib = [] {
    rusage usage = {};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
  };
  const std::string many = "9223372036854775807";  // 2^63 - 1
  const std::string endian = "endian: little\nencoding: ";
  const long before = peak_kib();
  for (const std::string& sizes : {many, many + " 1 1", "1 1 1 " + many, "2 " + many, many + " " + many,
                                   std::string("4294967296 4294967296"), std::string("18446744073709551615")}) {
    const std::string refused = volume_refusal(nrrd("short", sizes, kData));
    EXPECT_NE(refused.find("more bytes than 63 bits count"), std::string::npos) << refused;
    EXPECT_NE(volume_refusal(nrrd_head("uchar", sizes, "encoding: gzip\n") + gzip(kData)), "");
  }
  EXPECT_NE(volume_refusal(nrrd("uchar", many, kData, "encoding: raw\n")).find(" bytes, but its head promises " + many),
            std::string::npos);
  EXPECT_NE(
      volume_refusal(nrrd_head("double", "1000000 1000000", endian + "gzip\n") + gzip(kData)).find("ends at byte 24"),
      std::string::npos);
  EXPECT_NE(volume_refusal(gzip(npy("<f8", "(1000000, 1000000)", kData))).find("ends at byte 152"), std::string::npos);
  EXPECT_NE(volume_refusal(npy("<f8", "(" + many + ", 2)", kData)).find("63 bits"), std::string::npos);
  NiftiSample large(64, 64, {32767, 32767, 32767, 32767}, true);
  EXPECT_NE(volume_refusal(gzip(large.with(kData))).find("ends at byte 376"), std::string::npos);
  EXPECT_NE(volume_refusal(gzip(nifti().set(108, 268435456.0F).with(kData))).find("before its first voxel"),
            std::string::npos);
  EXPECT_LT(peak_kib() - before, 64 * 1024);
}

TEST(HostileVolumeTest, random_bytes_do_no_harm) {
  std::minstd_rand random(1);
  const std::string whole[] = {kNrrdFile, kNpyFile, nifti().with(kData),
                               nrrd_head("short", "2 3 2", "endian: big\nencoding: gzip\n") + gzip(kData)};
  int refused = 0;
  for (int round = 0; round < 8000; ++round) {
    std::string bytes = whole[round % 4];
    if (round % 8 > 3) bytes = gzip(bytes);
    for (int flips = 1 + round % 5; flips > 0; --flips) {
      bytes[random() % bytes.size()] = static_cast<char>(random() >> 8);
    }
    refused += volume_refusal(bytes).empty() ? 0 : 1;
  }
  EXPECT_GT(refused, 4000);  // what is not refused hit what is carried over unread
}

}  // namespace
}  // namespace tessera::tool
