// Three queues and the events between them.
#include "slab_pipeline.h"

#include <algorithm>
#include <deque>
#include <span>
#include <utility>

#include "core_of.h"
#include "queue_core.h"

namespace tessera::detail {
namespace {

/// The same elements, as bytes.
UntypedView bytes_of(const UntypedView& view, std::int64_t first, std::int64_t count) {
  const std::size_t each = size_bytes(view.type());
  const UntypedView part = view.part(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
  return {part.block(), DataType::uint8, part.offset_bytes(), part.size() * each, part.writable()};
}

}  // namespace

void upload_part(Queue& queue, const UntypedView& view, std::int64_t to, const HostMemory& host, std::int64_t from,
                 std::int64_t count) {
  const auto each = static_cast<std::int64_t>(size_bytes(host.type));
  const auto* const bytes = static_cast<const std::uint8_t*>(host.data) + from * each;
  queue.upload(bytes_of(view, to, count), std::span(bytes, static_cast<std::size_t>(count * each)));
}

void download_part(Queue& queue, const UntypedView& view, const HostMemory& host, std::int64_t to, std::int64_t count) {
  const auto each = static_cast<std::int64_t>(size_bytes(host.type));
  // A HostOperand was made from elements that may be written.
  auto* const bytes = const_cast<std::uint8_t*>(static_cast<const std::uint8_t*>(host.data)) + to * each;
  queue.download(bytes_of(view, 0, count), std::span(bytes, static_cast<std::size_t>(count * each)));
}

SlabPipeline::SlabPipeline(const Device& device, std::function<void(const StreamProgress&)> progress)
    : progress_(std::move(progress)),
      uploads_(device, {.label = "uploads of a stream"}),
      runs_(device, {.label = "runs of a stream"}),
      downloads_(device, {.label = "downloads of a stream"}),
      begin_(uploads_.record()) {}

void SlabPipeline::reserve_workspace(std::size_t size_bytes) {
  static_cast<void>(core_of(runs_.core(), "queue").workspace(size_bytes));
}

SlabPipeline::UnderWay SlabPipeline::queue(const SlabWork& work) {
  const auto between = [](Queue& queue, const std::function<void(Queue&)>& part) {
    Event begin = queue.record();
    if (!part) return std::pair(begin, begin);
    part(queue);
    return std::pair(std::move(begin), queue.record());
  };
  auto [upload_begin, upload_end] = between(uploads_, work.upload);
  runs_.wait(upload_end);
  auto [run_begin, run_end] = between(runs_, work.run);
  downloads_.wait(run_end);
  Event download_end = between(downloads_, work.download).second;
  return {std::move(upload_begin), std::move(upload_end), std::move(run_begin), std::move(run_end),
          std::move(download_end)};
}

SlabTimes SlabPipeline::wait_for(const UnderWay& slab) {
  // Each throws what its own queue has to tell: the first is where it began.
  for (const Event* event : {&slab.upload_end, &slab.run_end, &slab.download_end}) event->wait();
  const auto since_begin = [&](const Event& event) { return seconds_between(begin_, event); };
  // A queue's events happen in order. NVIDIA's OpenCL times a marker on an idle queue only when another queue's kernel
  // ends, so that a copy seemed to begin after its end.
  const double upload_end = since_begin(slab.upload_end);
  const double run_end = since_begin(slab.run_end);
  return {std::min(since_begin(slab.upload_begin), upload_end), upload_end,
          std::min(since_begin(slab.run_begin), run_end), run_end, since_begin(slab.download_end)};
}

std::vector<SlabTimes> SlabPipeline::run(std::int64_t slabs, const std::function<SlabWork(std::int64_t slab)>& work_of,
                                         std::int64_t sets) {
  std::vector<SlabTimes> times;
  std::deque<UnderWay> under_way;
  const auto end_one = [&] {
    times.push_back(wait_for(under_way.front()));
    under_way.pop_front();
    if (progress_) progress_({.done = static_cast<std::int64_t>(times.size()), .slabs = slabs});
  };
  for (std::int64_t slab = 0; slab < slabs; ++slab) {
    if (static_cast<std::int64_t>(under_way.size()) == sets) end_one();
    under_way.push_back(queue(work_of(slab)));
  }
  while (!under_way.empty()) end_one();
  return times;
}

}  // namespace tessera::detail
