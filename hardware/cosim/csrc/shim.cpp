// One clock cycle of a verilated nvs_core as a C function. Compiled once per configuration, with
//   PREFIX      class of the model, as given to verilator --prefix
//   SHIM        name of the table of functions
//   DATA_WIDTH, RING_WIDTH, DRIVES
// signals.h is made by build.rs from src/signals.rs: structures with their layout, and the list of ports.

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "shim.h"
#include "verilated.h"

#define STRING_(x) #x
#define STRING(x) STRING_(x)
#define HEADER_(x) STRING(x.h)
#include HEADER_(PREFIX)

#if TRACE
#include "verilated_fst_c.h"
#endif
#if VM_COVERAGE
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string>
#endif

namespace {

constexpr int data = DATA_WIDTH;
constexpr int beat = DATA_WIDTH / 8;
constexpr int ring = RING_WIDTH;

// Bits [Width * lane +: Width] of a port. Ports of up to 64 bits are integers; wider ones are words, whose bytes are little-endian, as
// are those of the structures (checked by build.rs: x86-64 and AArch64 only).
template <int Width, typename Port, typename Value>
inline void put(Port& port, int lane, const Value& value) {
  if constexpr (std::is_integral_v<Port> && std::is_integral_v<Value>) {
    constexpr uint64_t mask = ~uint64_t{0} >> (64 - Width);
    if (lane == 0) port = 0;
    port = static_cast<Port>(port | (static_cast<uint64_t>(value) & mask) << (Width * lane));
  } else {
    static_assert(Width % 8 == 0, "a vector of more than 64 bits consists of bytes");
    static_assert(sizeof(Value) * 8 >= Width, "the structure's field is narrower than the port");
    std::memcpy(reinterpret_cast<char*>(&port) + Width / 8 * lane, &value, Width / 8);
  }
}

template <int Width, typename Port, typename Value>
inline void get(const Port& port, int lane, Value& value) {
  if constexpr (std::is_integral_v<Port> && std::is_integral_v<Value>) {
    constexpr uint64_t mask = ~uint64_t{0} >> (64 - Width);
    value = static_cast<Value>((static_cast<uint64_t>(port) >> (Width * lane)) & mask);
  } else {
    static_assert(Width % 8 == 0, "a vector of more than 64 bits consists of bytes");
    static_assert(sizeof(Value) * 8 >= Width, "the structure's field is narrower than the port");
    std::memcpy(&value, reinterpret_cast<const char*>(&port) + Width / 8 * lane, Width / 8);
  }
}

struct Instance {
  VerilatedContext context;
  PREFIX core;
#if TRACE
  VerilatedFstC* trace = nullptr;
#endif

  explicit Instance(uint32_t seed) : context(), core(prepare(seed), "nvs_core") {}

  VerilatedContext* prepare(uint32_t seed) {
    context.randReset(2);
    context.randSeed(static_cast<int>(seed));
#if TRACE
    context.traceEverOn(true);
#endif
    return &context;
  }

  void read(Outputs* outputs) {
#define TOP(port, width) get<width>(core.port##_o, 0, outputs->port);
#define DRIVE(port, width) get<width>(core.port##_o, d, outputs->drives[d].port);
    OUTPUTS(TOP)
    for (int d = 0; d < DRIVES; ++d) {
      DRIVE_OUTPUTS(DRIVE)
    }
#undef TOP
#undef DRIVE
  }

  void write(const Inputs* inputs) {
#define TOP(port, width) put<width>(core.port##_i, 0, inputs->port);
#define DRIVE(port, width) put<width>(core.port##_i, d, inputs->drives[d].port);
    INPUTS(TOP)
    for (int d = 0; d < DRIVES; ++d) {
      DRIVE_INPUTS(DRIVE)
    }
#undef TOP
#undef DRIVE
  }

  // Time in units of 2 ns: a clock of 250 MHz.
  void half(int clock) {
    core.clk_i = clock;
    core.eval();
#if TRACE
    if (trace) trace->dump(context.time() * 2);
#endif
    context.timeInc(1);
  }
};

void* create(uint32_t seed) { return new Instance(seed); }

void hold_in_reset(Instance* instance, uint32_t cycles) {
  instance->core.rst_ni = 0;
  instance->half(0);
  for (uint32_t i = 0; i < cycles; ++i) {
    instance->half(1);
    instance->half(0);
  }
  instance->core.rst_ni = 1;
  instance->half(0);
}

#if VM_COVERAGE
// Counts of this instance, for each instance of a module; merged by hardware/rtl/formal/coverage.py.
void write_coverage(Instance* instance, const char* kind) {
  static std::atomic<int> number{0};
  if (const char* folder = std::getenv("ASSAY_COSIM_COVERAGE")) {
    const std::string name = std::string(kind) + "-" + STRING(SHIM) + "-" + std::to_string(getpid()) + "-" + std::to_string(number++);
    instance->context.coveragep()->forcePerInstance(true);
    instance->context.coveragep()->write((std::string(folder) + "/" + name + ".dat").c_str());
  }
}
#endif

int reset(void* pointer, uint32_t cycles, Outputs* outputs) {
  auto* instance = static_cast<Instance*>(pointer);
  const Inputs inputs{};
  instance->write(&inputs);
  hold_in_reset(instance, cycles);
#if VM_COVERAGE
  // A change from a random initial value is no toggle: of what was counted so far, only lines count. The second reset changes no register.
  static std::atomic<bool> is_first{true};
  if (is_first.exchange(false)) write_coverage(instance, "reset");
  instance->context.coveragep()->zero();
  hold_in_reset(instance, cycles);
#endif
  instance->read(outputs);
  return assay_cosim_failure[0] != 0;
}

int step(void* pointer, const Inputs* inputs, Outputs* outputs) {
  auto* instance = static_cast<Instance*>(pointer);
  instance->write(inputs);
  instance->half(1);
  instance->read(outputs);
  instance->half(0);
  return assay_cosim_failure[0] != 0;
}

int trace_start(void* pointer, const char* path) {
#if TRACE
  auto* instance = static_cast<Instance*>(pointer);
  if (instance->trace) return kTraceBusy;
  instance->trace = new VerilatedFstC;
  instance->core.trace(instance->trace, 99);
  instance->trace->open(path);
  if (instance->trace->isOpen()) return kTraceStarted;
  delete instance->trace;
  instance->trace = nullptr;
  return kTraceNoFile;
#else
  (void)pointer;
  (void)path;
  return kTraceNotBuilt;
#endif
}

void trace_stop(void* pointer) {
#if TRACE
  auto* instance = static_cast<Instance*>(pointer);
  if (!instance->trace) return;
  instance->trace->close();
  delete instance->trace;
  instance->trace = nullptr;
#else
  (void)pointer;
#endif
}

void destroy(void* pointer) {
  auto* instance = static_cast<Instance*>(pointer);
  trace_stop(pointer);
  instance->core.final();
#if VM_COVERAGE
  write_coverage(instance, "run");
#endif
  delete instance;
}

}  // namespace

extern const Shim SHIM;
const Shim SHIM = {sizeof(Inputs), sizeof(Outputs), create, destroy, reset, step, trace_start, trace_stop,
                   assay_cosim_take_failure};
