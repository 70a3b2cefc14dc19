// Files of volumes of every format, type and order of bytes: what is read is what stands there, and what is written
// anew is the same file.
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "support/scratch_folder.h"
#include "table_sample.h"
#include "tools/volumes/endings.h"
#include "volume_reading.h"
#include "volume_sample.h"

namespace tessera::tool {
namespace {

using namespace testing_support;

/// One type in the words of every format.
struct TypeWords {
  DataType type;
  const char* nrrd;
  const char* npy;
  std::int16_t nifti;
};
const TypeWords kTypeWords[] = {
    {DataType::int8, "signed char", "i1", 256}, {DataType::uint8, "uchar", "u1", 2},
    {DataType::int16, "short", "i2", 4},        {DataType::uint16, "unsigned short int", "u2", 512},
    {DataType::int32, "int32_t", "i4", 8},      {DataType::uint32, "unsigned int", "u4", 768},
    {DataType::int64, "long long", "i8", 1024}, {DataType::uint64, "uint64", "u8", 1280},
    {DataType::float32, "float", "f4", 16},     {DataType::float64, "Double", "f8", 64}};

/// 2 x 3 x 4 numbers that reach the ends of the type.
template <class T>
std::vector<T> numbers_to_the_ends() {
  std::vector<T> numbers;
  for (int i = 0; i < 22; ++i) numbers.push_back(static_cast<T>(i * 5 + (i % 3) / 2.0));
  numbers.push_back(std::numeric_limits<T>::lowest());
  numbers.push_back(std::numeric_limits<T>::max());
  return numbers;
}

class VolumeFileTest : public testing::Test {
 protected:
  /// Reads the file and writes it anew under the name, with the voxels that were read.
  std::string written_anew(const std::string& bytes, const std::string& name) {
    const std::string input = scratch.write("in", bytes);
    const auto file = open_volume(input);
    const auto writer = file->writer(scratch.path(name));
    for (std::int64_t frame = 0; frame < file->head().frames; ++frame) writer->write(file->read());
    writer->finish();
    return scratch.read(name);
  }

  ScratchFolder scratch;
};

TEST_F(VolumeFileTest, every_type_comes_back_in_every_format_and_order) {
  for (const TypeWords& words : kTypeWords) {
    with_type(words.type, [&](auto zero) {
      using T = decltype(zero);
      const std::vector<T> numbers = numbers_to_the_ends<T>();
      for (const bool high_first : {false, true}) {
        SCOPED_TRACE(std::string(to_string(words.type)) + (high_first ? ", big-endian" : ", little-endian"));
        const std::string data = stored_as(numbers, high_first);
        const std::string endian = high_first ? "endian: big\n" : "endian: little\n";
        const std::string letter = high_first ? ">" : "<";
        const auto bits = static_cast<std::int16_t>(8 * sizeof(T));
        const std::string files[] = {
            nrrd(words.nrrd, "2 3 4", data, endian + "encoding: raw\n"),
            npy(letter + words.npy, "(4, 3, 2)", data),
            NiftiSample(words.nifti, bits, {2, 3, 4}, high_first, "an extension 16").with(data),
        };
        for (const std::string& bytes : files) {
          const VolumeRead read = read_volume(bytes);
          EXPECT_EQ(read.head.type, words.type);
          EXPECT_EQ(read.head.size, (PerAxis{2, 3, 4}));
          EXPECT_EQ(numbers_of<T>(read), numbers) << read.head.format;
          EXPECT_EQ(written_anew(bytes, "out"), bytes) << read.head.format;
          EXPECT_EQ(numbers_of<T>(read_volume(gzip(bytes))), numbers) << read.head.format;
        }
        const std::string packed = nrrd_head(words.nrrd, "2 3 4", endian + "encoding: gzip\n") + gzip(data);
        EXPECT_EQ(numbers_of<T>(read_volume(packed)), numbers);
        const std::string anew = written_anew(packed, "out");
        EXPECT_EQ(anew.substr(0, anew.find("\n\n")), packed.substr(0, packed.find("\n\n")));
        EXPECT_EQ(numbers_of<T>(read_volume(anew)), numbers);
      }
    });
  }
}

TEST_F(VolumeFileTest, packing_follows_the_ending_and_else_the_file) {
  const std::string plain = NiftiSample(2, 8, {2, 3, 4}, false).with("abcdefghijklmnopqrstuvwx");
  EXPECT_EQ(written_anew(plain, "a.nii"), plain);
  EXPECT_EQ(written_anew(plain, "a"), plain);
  EXPECT_EQ(written_anew(gzip(plain), "b.nii"), plain);
  for (const char* name : {"c.nii.gz", "d.NII.GZ", "d"}) {
    const std::string packed = written_anew(gzip(plain), name);
    EXPECT_EQ(packed.substr(0, 2), "\x1f\x8b") << name;
    EXPECT_EQ(written_anew(packed, "e.nii"), plain) << name;
  }
  EXPECT_EQ(written_anew(plain, "f.nii.gz").substr(0, 2), "\x1f\x8b");
}

TEST_F(VolumeFileTest, an_ending_of_another_format_is_refused) {
  const std::string bytes = nrrd("uchar", "2 1 1", "ab");
  const std::string input = scratch.write("in.nrrd", bytes);
  for (const char* name : {"out.nii", "out.nii.gz", "out.NPY", "out.png", "out.tiff"}) {
    try {
      (void)open_volume(input)->writer(scratch.path(name));
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_NE(error.sentence().find("but would be NRRD as the file '" + input + "' is"), std::string::npos)
          << error.sentence();
    }
  }
  EXPECT_EQ(scratch.names(), std::set<std::string>{"in.nrrd"});
}

TEST_F(VolumeFileTest, lengths_become_axes_and_volumes) {
  const std::string data = "abcdefghijklmnopqrstuvwx";
  const auto size_of = [](const std::string& bytes) { return read_volume(bytes).head.size; };
  EXPECT_EQ(size_of(nrrd("uchar", "24", data)), (PerAxis{24, 1, 1}));
  EXPECT_EQ(size_of(nrrd("uchar", "4 6", data)), (PerAxis{4, 6, 1}));
  EXPECT_EQ(size_of(npy("|u1", "(6, 4)", data)), (PerAxis{4, 6, 1}));
  EXPECT_EQ(size_of(npy_with("{'descr': '|u1', 'fortran_order': True, 'shape': (6, 4), }", data)), (PerAxis{6, 4, 1}));
  for (const std::string& bytes : {nrrd("uchar", "2 3 1 2 2", data), npy("|u1", "(2, 2, 1, 3, 2)", data),
                                   NiftiSample(2, 8, {2, 3, 1, 2, 2}, true).with(data)}) {
    const VolumeRead read = read_volume(bytes);
    EXPECT_EQ(read.head.size, (PerAxis{2, 3, 1}));
    ASSERT_EQ(read.head.frames, 4);
    EXPECT_EQ(numbers_of<std::uint8_t>(read, 3), (std::vector<std::uint8_t>{'s', 't', 'u', 'v', 'w', 'x'}));
    EXPECT_EQ(written_anew(bytes, "out"), bytes);
  }
}

TEST_F(VolumeFileTest, three_numbers_side_by_side_are_a_colour) {
  const std::string data = "RGBrgbXYZxyz123456";
  const std::string endian = "encoding: raw\n";
  for (const std::string& bytes :
       {nrrd("uchar", "3 2 3", data, endian + "kinds: RGB-color domain domain\n"), nrrd("uchar", "3 2 3", data),
        npy("|u1", "(3, 2, 3)", data), NiftiSample(128, 24, {2, 3}, false).with(data)}) {
    const VolumeRead read = read_volume(bytes);
    EXPECT_EQ(read.head.channels, 3) << read.refusal;
    EXPECT_EQ(read.head.size, (PerAxis{2, 3, 1}));
    const std::vector<std::uint8_t> numbers = numbers_of<std::uint8_t>(read);
    EXPECT_EQ(std::string(numbers.begin(), numbers.end()), "RrXx14GgYy25BbZz36");
    EXPECT_EQ(written_anew(bytes, "out"), bytes);
  }
  const VolumeRead domain = read_volume(nrrd("uchar", "3 2 3", data, endian + "kinds: domain domain domain\n"));
  EXPECT_EQ(domain.head.channels, 1);
  EXPECT_EQ(domain.head.size, (PerAxis{3, 2, 3}));
}

TEST_F(VolumeFileTest, the_scale_of_nifti_is_told) {
  NiftiSample sample(4, 16, {2, 1, 1}, false);
  const std::string data = stored_as<std::int16_t>({-5, 7});
  EXPECT_EQ(read_volume(sample.with(data)).head.slope, 1);
  sample.set(112, 0.5F).set(116, -3.0F);
  EXPECT_EQ(read_volume(sample.with(data)).head.slope, 0.5);
  EXPECT_EQ(read_volume(sample.with(data)).head.intercept, -3);
  sample.set(112, std::numeric_limits<float>::quiet_NaN());
  EXPECT_EQ(read_volume(sample.with(data)).head.slope, 1);
  EXPECT_EQ(read_volume(sample.with(data)).head.intercept, 0);
}

TEST_F(VolumeFileTest, new_files_are_read_again) {
  const std::vector<float> numbers{1, -2.5F, 3, 4, 5, 6e30F};
  for (const char* name : {"a.nrrd", "a.nii", "a.nii.gz", "a.npy", "a.npy.gz"}) {
    const auto writer = create_volume(scratch.path(name), DataType::float32, {1, 2, 3});
    writer->write(numbers);
    writer->finish();
    const VolumeRead read = read_volume(scratch.read(name));
    EXPECT_EQ(read.head.size, (PerAxis{1, 2, 3})) << name;
    EXPECT_EQ(numbers_of<float>(read), numbers) << name;
  }
  EXPECT_EQ(scratch.read("a.npy").substr(0, 128), npy("<f4", "(3, 2, 1)", std::string()).substr(0, 128));
  for (const char* name : {"a", "a.png", "a.gz", "a.raw"}) {
    EXPECT_THROW((void)create_volume(scratch.path(name), DataType::uint8, {1, 1, 1}), Error) << name;
  }
  EXPECT_THROW((void)create_volume(scratch.path("b.nii"), DataType::uint8, {40000, 1, 1}), Error);
}

TEST_F(VolumeFileTest, what_is_not_finished_is_not_there) {
  {
    const auto writer = create_volume(scratch.path("a.nrrd"), DataType::uint8, {1, 1, 2});
    writer->write(std::vector<std::uint8_t>{1, 2});
    EXPECT_EQ(scratch.names().size(), 1U) << "the temporary file";
  }
  EXPECT_TRUE(scratch.names().empty());
}

}  // namespace
}  // namespace tessera::tool
