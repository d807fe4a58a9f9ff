// Functions of a model, as src/model.rs calls them.
#pragma once

#include <cstdint>

#include "signals.h"

struct Shim {
  uint64_t inputs_bytes;
  uint64_t outputs_bytes;
  void* (*create)(uint32_t seed);
  void (*destroy)(void*);
  // These two return nonzero when an assertion of the RTL has failed in this thread.
  int (*reset)(void*, uint32_t cycles, Outputs*);
  int (*step)(void*, const Inputs*, Outputs*);
  int (*trace_start)(void*, const char* path);  // see enum TraceStart
  void (*trace_stop)(void*);
  void (*take_failure)(char* text, uint64_t bytes);
};

enum TraceStart { kTraceStarted = 0, kTraceBusy = 1, kTraceNoFile = 2, kTraceNotBuilt = 3 };

// table.cpp
extern thread_local char assay_cosim_failure[512];
void assay_cosim_take_failure(char* text, uint64_t bytes);
