// A Verilated board with a serial line behind a C interface, called in batches by sim/virtual.py.
//
// Bytes to the board become levels of its rx pin, levels of its tx pin bytes again, each bit so
// many clocks long. The line knows nothing of what the bytes mean.

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "Vlinked.h"
#include "verilated.h"

namespace {

std::string failure;  // of an assertion in the RTL; Verilator has no handle to the model here

constexpr int kBits = 10;  // start, 8 data, stop

struct Board {
    VerilatedContext context;
    Vlinked top;
    const double bit;  // clocks
    uint64_t clocks = 0;

    std::deque<uint8_t> down;
    unsigned sending = 0;  // bits of the byte that are left
    unsigned shift = 0;
    double next_edge = 0;

    std::vector<uint8_t> up;
    unsigned hearing = 0;
    unsigned heard = 0;
    double next_sample = 0;
    uint64_t torn = 0;  // bytes without a stop bit

    explicit Board(double bit) : top(&context), bit(bit) {
        failure.clear();
        top.rst = 1;
        top.rx = 1;
        for (int i = 0; i < 4; i++) edge();
        top.rst = 0;
    }

    ~Board() { top.final(); }

    void edge() {
        top.clk = 0;
        top.eval();
        top.clk = 1;
        top.eval();
    }

    void drive() {
        if (sending && clocks >= next_edge) {
            sending--;
            shift >>= 1;
            next_edge += bit;
        }
        if (!sending && !down.empty()) {
            shift = 1u << (kBits - 1) | down.front() << 1;
            down.pop_front();
            sending = kBits;
            next_edge = clocks + bit;
        }
        top.rx = sending ? shift & 1 : 1;
    }

    void sample() {
        if (!hearing) {
            if (!top.tx) {
                hearing = kBits;
                heard = 0;
                next_sample = clocks + bit / 2;
            }
            return;
        }
        if (clocks < next_sample) return;
        next_sample += bit;
        hearing--;
        heard |= static_cast<unsigned>(top.tx) << (kBits - 1 - hearing);
        if (hearing) return;
        if (heard >> (kBits - 1)) {
            up.push_back(static_cast<uint8_t>(heard >> 1));
        } else {
            torn++;
        }
    }

    void clock() {
        drive();
        edge();
        clocks++;
        sample();
    }
};

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

EXPORT Board* line_open(double bit) { return new Board(bit); }

EXPORT void line_close(Board* board) { delete board; }

EXPORT void line_push(Board* board, const uint8_t* data, uint64_t size) {
    board->down.insert(board->down.end(), data, data + size);
}

EXPORT void line_run(Board* board, uint64_t clocks) {
    while (clocks-- && failure.empty()) board->clock();
}

EXPORT uint64_t line_waiting(const Board* board) { return board->down.size(); }

EXPORT uint64_t line_available(const Board* board) { return board->up.size(); }

EXPORT void line_pop(Board* board, uint8_t* out) {
    std::copy(board->up.begin(), board->up.end(), out);
    board->up.clear();
}

EXPORT uint64_t line_clocks(const Board* board) { return board->clocks; }

EXPORT uint64_t line_torn(const Board* board) { return board->torn; }

EXPORT uint32_t line_lights(const Board* board) {
    return board->top.alive | board->top.receiving << 1 | board->top.dropping << 2;
}

EXPORT const char* line_failure(const Board*) { return failure.c_str(); }
