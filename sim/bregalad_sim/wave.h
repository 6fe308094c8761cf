// The waveform of a Verilated model that was compiled for one; of others nothing is left of it.

#pragma once

#include <cstdint>

#include "failure.h"

#if VM_TRACE_FST
#include "verilated_fst_c.h"
#endif

namespace {

constexpr uint64_t kHalfClock = 5000;  // ps

class Wave {
#if VM_TRACE_FST
    static constexpr int kDepth = 99;  // all levels of the hierarchy
    VerilatedFstC file;

public:
    // Before the model's first evaluation; without a path nothing is written.
    template <typename Model>
    void open(Model& model, const char* path) {
        if (!path) return;
        model.contextp()->traceEverOn(true);
        model.trace(&file, kDepth);
        file.open(path);
        if (!file.isOpen()) failure = std::string("cannot write ") + path;
    }

    ~Wave() { file.close(); }

    // What the last evaluation has changed, it has changed at this time.
    void dump(uint64_t time) {
        if (file.isOpen()) file.dump(time);
    }
#else
public:
    template <typename Model>
    void open(Model&, const char*) {}

    void dump(uint64_t) {}
#endif
};

}  // namespace
