// A board's top level, Verilated, at the end of a serial line: behind a C interface, called in
// batches by sim/bregalad_sim/virtual/board.py.
//
// Bytes to the board become levels of its rx pin, levels of its tx pin bytes again, each bit so
// many clocks long. The line knows nothing of what the bytes mean. CLOCK, RX, TX and ALIVE are the
// names of the board's pins, LIT is the level of a light that is on.

#include <cstdint>
#include <deque>
#include <vector>

#include "Vtop.h"
#include "wave.h"

namespace {

constexpr int kBits = 10;  // start, 8 data, stop

struct Board {
    VerilatedContext context;
    Vtop top;
    Wave wave;
    uint64_t time = 0;
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

    Board(double bit, const char* path) : top(&context), bit(bit) {
        failure.clear();
        wave.open(top, path);
        top.RX = 1;
        for (int i = 0; i < 4; i++) edge();  // the top level's own reset
    }

    ~Board() { top.final(); }

    void edge() {
        for (const bool level : {false, true}) {
            top.CLOCK = level;
            top.eval();
            wave.dump(time);
            time += kHalfClock;
        }
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
        top.RX = sending ? shift & 1 : 1;
    }

    void sample() {
        if (!hearing) {
            if (!top.TX) {
                hearing = kBits;
                heard = 0;
                next_sample = clocks + bit / 2;
            }
            return;
        }
        if (clocks < next_sample) return;
        next_sample += bit;
        hearing--;
        heard |= static_cast<unsigned>(top.TX) << (kBits - 1 - hearing);
        if (hearing) return;
        // A byte without its stop bit is lost, as it is to a real receiver.
        if (heard >> (kBits - 1)) up.push_back(static_cast<uint8_t>(heard >> 1));
    }

    void clock() {
        drive();
        edge();
        clocks++;
        sample();
    }
};

}  // namespace

EXPORT Board* virtual_open(double bit, const char* wave) { return new Board(bit, wave); }

EXPORT void virtual_close(Board* board) { delete board; }

EXPORT void virtual_push(Board* board, const uint8_t* data, uint64_t size) {
    board->down.insert(board->down.end(), data, data + size);
}

EXPORT void virtual_run(Board* board, uint64_t clocks) {
    while (clocks-- && failure.empty()) board->clock();
}

EXPORT uint64_t virtual_waiting(const Board* board) { return board->down.size(); }

EXPORT uint64_t virtual_available(const Board* board) { return board->up.size(); }

EXPORT void virtual_pop(Board* board, uint8_t* out) {
    std::copy(board->up.begin(), board->up.end(), out);
    board->up.clear();
}

EXPORT uint64_t virtual_clocks(const Board* board) { return board->clocks; }

EXPORT uint32_t virtual_alive(const Board* board) { return board->top.ALIVE == LIT; }

EXPORT const char* virtual_failure(const Board*) { return failure.c_str(); }
