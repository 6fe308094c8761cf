// Assertions in a Verilated model: the first that fails is remembered instead of ending the process.
//
// Verilator calls the three hooks by name and gives them no handle to the model; each harness is a
// library of its own, so it has a failure of its own.

#pragma once

#include <string>

#include "verilated.h"

namespace {

std::string failure;

}  // namespace

void vl_fatal(const char* file, int line, const char*, const char* message) {
    if (failure.empty()) {
        failure = std::string(file) + ":" + std::to_string(line) + ": " + message;
    }
}

void vl_stop(const char* file, int line, const char* scope) {
    vl_fatal(file, line, scope, "assertion failed");
}

void vl_finish(const char* file, int line, const char* scope) {
    vl_fatal(file, line, scope, "$finish");
}

#define EXPORT extern "C" __attribute__((visibility("default")))
