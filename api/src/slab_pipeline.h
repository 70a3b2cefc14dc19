// Slabs on their way through a device: while one is computed, the next is uploaded and the one before downloaded, on
// three queues. At most two slabs are under way, so two sets of buffers, used in turn, are enough. With one set slabs
// follow each other.
//
//   uploads     | 0 | 1 |     | 2 |     | 3 |     Upload i begins when slab i - 2 is done altogether: the host waits
//   runs            |   0   |   1   |   2   |     for that, tells of the progress and queues the next. On the device
//   downloads               |0|     |1|     |2|   runs wait for their upload, downloads for their run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include <tessera/host_operand.h>
#include <tessera/queue.h>
#include <tessera/stream.h>

namespace tessera::detail {

/// What a slab has to do; any of it may be empty.
struct SlabWork {
  std::function<void(Queue&)> upload;
  std::function<void(Queue&)> run;
  std::function<void(Queue&)> download;
};

class SlabPipeline {
 public:
  SlabPipeline(const Device& device, std::function<void(const StreamProgress&)> progress);

  /// Takes the largest workspace that a slab will need. Without this one that grows stands beside the smaller one for
  /// as long as a run uses that.
  void reserve_workspace(std::size_t size_bytes);

  /// Runs so many slabs, each made when its turn comes, on so many sets of buffers: slab i on number i % sets. What
  /// `work_of` makes use of must outlive the pipeline, whose queues may still use it when an error is thrown.
  [[nodiscard]] std::vector<SlabTimes> run(std::int64_t slabs,
                                           const std::function<SlabWork(std::int64_t slab)>& work_of,
                                           std::int64_t sets = 2);

 private:
  /// A slab that has been queued.
  struct UnderWay {
    Event upload_begin, upload_end, run_begin, run_end, download_end;
  };

  [[nodiscard]] UnderWay queue(const SlabWork& work);
  [[nodiscard]] SlabTimes wait_for(const UnderWay& slab);

  std::function<void(const StreamProgress&)> progress_;
  Queue uploads_;
  Queue runs_;
  Queue downloads_;
  Event begin_;
};

/// Elements [from, from + count) of the host's memory into a view, from its element `to` on; and back.
void upload_part(Queue& queue, const UntypedView& view, std::int64_t to, const HostMemory& host, std::int64_t from,
                 std::int64_t count);
void download_part(Queue& queue, const UntypedView& view, const HostMemory& host, std::int64_t to, std::int64_t count);

}  // namespace tessera::detail
