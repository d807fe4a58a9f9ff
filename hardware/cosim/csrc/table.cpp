// Models by name, and the end of a simulation by an assertion of the RTL.
// models.h is made by build.rs: MODELS(X) lists the configurations that were built.

#include <cstdio>
#include <cstring>

#include "models.h"
#include "shim.h"
#include "verilated.h"

#define DECLARE(name) extern const Shim shim_##name;
MODELS(DECLARE)

extern "C" const Shim* assay_cosim_shim(const char* name) {
#define FIND(model) \
  if (std::strcmp(name, #model) == 0) return &shim_##model;
  MODELS(FIND)
  return nullptr;
}

// First failure in this thread that has not been taken; empty if there is none.
thread_local char assay_cosim_failure[512];

void assay_cosim_take_failure(char* text, uint64_t bytes) {
  std::snprintf(text, bytes, "%s", assay_cosim_failure);
  assay_cosim_failure[0] = 0;
}

static void keep(const char* what, const char* filename, int line, const char* hierarchy) {
  if (assay_cosim_failure[0] != 0) return;
  std::snprintf(assay_cosim_failure, sizeof assay_cosim_failure, "%s at %s:%d (%s)", what, filename, line, hierarchy);
}

void vl_stop(const char* filename, int line, const char* hierarchy) { keep("assertion failed", filename, line, hierarchy); }

void vl_fatal(const char* filename, int line, const char* hierarchy, const char* message) { keep(message, filename, line, hierarchy); }
