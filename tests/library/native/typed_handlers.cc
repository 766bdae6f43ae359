// Handlers of XLA's typed custom calls, as their authors write them: against XLA's header, and nothing of numhlo's.

#include <complex>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>

#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;

// out = scale * x + offset[0] + offset[1] + ..., and the sum of x; of options of every kind.
static ffi::Error Affine(ffi::Buffer<ffi::F64> x, ffi::ResultBuffer<ffi::F64> out, ffi::ResultBufferR0<ffi::F64> sum,
                         double scale, ffi::Span<const int64_t> offsets, std::string_view mode, bool negate,
                         float single, int32_t narrow) {
  if (mode != "plain") return ffi::Error::InvalidArgument("mode must be plain, not " + std::string(mode));
  double total = std::accumulate(offsets.begin(), offsets.end(), 0.0) + single + narrow;
  double all = 0;
  for (size_t i = 0; i < x.element_count(); ++i) {
    all += x.typed_data()[i];
    out->typed_data()[i] = (negate ? -1 : 1) * (scale * x.typed_data()[i] + total);
  }
  *sum->typed_data() = all;
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(AffineHandler, Affine,
                              ffi::Ffi::Bind()
                                  .Arg<ffi::Buffer<ffi::F64>>()
                                  .Ret<ffi::Buffer<ffi::F64>>()
                                  .Ret<ffi::BufferR0<ffi::F64>>()
                                  .Attr<double>("scale")
                                  .Attr<ffi::Span<const int64_t>>("offsets")
                                  .Attr<std::string_view>("mode")
                                  .Attr<bool>("negate")
                                  .Attr<float>("single")
                                  .Attr<int32_t>("narrow"));

// The dimensions, the element type and the rank of whatever comes, and a nested dictionary.
static ffi::Error Describe(ffi::RemainingArgs args, ffi::ResultBuffer<ffi::S64> out, ffi::Dictionary options) {
  auto inner = options.get<ffi::Dictionary>("inner");
  if (!inner.has_value()) return inner.error();
  auto factor = inner->get<int64_t>("factor");
  if (!factor.has_value()) return factor.error();
  size_t k = 0;
  for (size_t n = 0; n < args.size(); ++n) {
    auto buffer = args.get<ffi::AnyBuffer>(n);
    if (!buffer.has_value()) return buffer.error();
    out->typed_data()[k++] = *factor * static_cast<int64_t>(buffer->element_type());
    for (int64_t extent : buffer->dimensions()) out->typed_data()[k++] = *factor * extent;
  }
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(DescribeHandler, Describe,
                              ffi::Ffi::Bind().RemainingArgs().Ret<ffi::Buffer<ffi::S64>>().Attrs());

// A handler with state: calls are counted from what an option says.
struct Counter {
  static ffi::TypeId id;
  static ffi::TypeInfo info;
  int64_t next;
};
ffi::TypeId Counter::id = {};
ffi::TypeInfo Counter::info = ffi::MakeTypeInfo<Counter>();
extern "C" void* CounterId() { return &Counter::id; }

static ffi::ErrorOr<std::unique_ptr<Counter>> Begin(int64_t first) {
  if (first < 0) return ffi::Unexpected(ffi::Error::InvalidArgument("counting begins at 0"));
  return std::make_unique<Counter>(Counter{first});
}
XLA_FFI_DEFINE_HANDLER(BeginHandler, Begin, ffi::Ffi::BindInstantiate().Attr<int64_t>("first"));

static int64_t prepared = 0;
static ffi::Error Prepare() {
  ++prepared;
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER(PrepareHandler, Prepare, ffi::Ffi::BindPrepare());

static ffi::Error Count(Counter* counter, ffi::ResultBufferR0<ffi::S64> count, ffi::ResultBufferR0<ffi::S64> seen) {
  *count->typed_data() = counter->next++;
  *seen->typed_data() = prepared;
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER(CountHandler, Count,
                       ffi::Ffi::Bind()
                           .Ctx<ffi::State<Counter>>()
                           .Ret<ffi::BufferR0<ffi::S64>>()
                           .Ret<ffi::BufferR0<ffi::S64>>());
extern "C" XLA_FFI_Error* CountBegin(XLA_FFI_CallFrame* f) { return BeginHandler(f); }
extern "C" XLA_FFI_Error* CountPrepare(XLA_FFI_CallFrame* f) { return PrepareHandler(f); }
extern "C" XLA_FFI_Error* CountExecute(XLA_FFI_CallFrame* f) { return CountHandler(f); }

// Scratch memory, tasks, and a result that comes later than the handler returns.
static ffi::Future Later(ffi::ScratchAllocator scratch, ffi::ThreadPool pool, ffi::Buffer<ffi::C64> x,
                         ffi::ResultBuffer<ffi::C64> out, bool fails) {
  ffi::Promise promise;
  ffi::Future future(promise);
  size_t size = x.size_bytes();
  auto memory = scratch.Allocate(size);
  if (!memory.has_value() || pool.num_threads() < 1) {
    promise.SetError(ffi::Error::Internal("there is no memory, or no thread"));
    return future;
  }
  auto* copy = static_cast<std::complex<float>*>(*memory);
  size_t count = x.element_count();
  const std::complex<float>* source = x.typed_data();
  std::complex<float>* target = out->typed_data();
  pool.Schedule([=]() {
    for (size_t i = 0; i < count; ++i) copy[i] = std::conj(source[i]);
    for (size_t i = 0; i < count; ++i) target[i] = copy[count - 1 - i];
  });
  if (fails) {
    promise.SetError(ffi::Error(ffi::ErrorCode::kUnavailable, "too late"));
  } else {
    promise.SetAvailable();
  }
  return future;
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(LaterHandler, Later,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ScratchAllocator>()
                                  .Ctx<ffi::ThreadPool>()
                                  .Arg<ffi::Buffer<ffi::C64>>()
                                  .Ret<ffi::Buffer<ffi::C64>>()
                                  .Attr<bool>("fails"));
