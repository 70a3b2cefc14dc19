// Checks of untyped views by callers that know an element type: typed buffers and views, and a queue's transfers. The
// queue itself checks on which device a view lies, and its length.
#include <tessera/queue.h>

#include <string_view>
#include <utility>

#include "backend/sentence.h"
#include "refuse.h"

namespace tessera::detail {
namespace {

using backend::sentence;

/// A view of nothing has no type. Whoever goes on with it says that it holds nothing.
void check_type(const UntypedView& view, std::string_view role, DataType type, std::string_view other) {
  if (view && view.type() != type)
    refuse(sentence("the ", role, " holds ", to_string(view.type()), ", but ", other, " ", to_string(type)));
}

void check_writable(const UntypedView& view, std::string_view role) {
  if (view && !view.writable()) refuse(sentence("the ", role, " is a read-only view"));
}

}  // namespace

UntypedView typed(UntypedView view, DataType type, bool writes) {
  check_type(view, "view", type, "is taken for one of");
  if (!writes) return view.as_const();
  if (view && !view.writable())
    refuse(sentence("the view of ", to_string(type), " is read-only, but is taken for one that can be written"));
  return view;
}

void check_upload(const UntypedView& destination, DataType host) {
  check_type(destination, "destination of the upload", host, "the host memory holds");
  check_writable(destination, "destination of the upload");
}

void check_download(const UntypedView& source, DataType host) {
  check_type(source, "source of the download", host, "the host memory holds");
}

void check_fill(const UntypedView& destination, DataType value) {
  check_type(destination, "destination of the fill", value, "the value is");
  check_writable(destination, "destination of the fill");
}

void check_copy(const UntypedView& destination, const UntypedView& source) {
  check_writable(destination, "destination of the copy");
  if (destination) check_type(source, "source of the copy", destination.type(), "the destination holds");
}

}  // namespace tessera::detail
