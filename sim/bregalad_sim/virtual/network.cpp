// A board's top level, Verilated, at the end of an Ethernet cable: behind a C interface, called in
// batches by sim/bregalad_sim/virtual/board.py.
//
// It is the transceiver at the board's RGMII pins: frames get their preamble and check sequence on
// the way in and lose them on the way out, half a byte at each edge of the clock of 125 MHz. The
// array's clock is another. RX_... and TX_... are the names of the board's pins as seen from the
// board, CLOCK and ALIVE two others; LIT is the level of a light that is on. A memory may have a clock of its own, of
// MEMORY_RATIO times the array's.

#include <cstdint>
#include <deque>
#include <vector>

#include "Vtop.h"
#include "wave.h"

namespace {

constexpr uint64_t kHalfByte = 4000;  // ps
constexpr int kPreamble = 7, kLeast = 60, kGap = 12;  // bytes
constexpr uint8_t kFill = 0x55, kStart = 0xd5;
constexpr uint16_t kValid = 0x100;  // beside a byte

uint32_t check(const uint8_t* data, size_t size) {
    uint32_t crc = ~0u;
    for (size_t i = 0; i < size; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
    }
    return ~crc;
}

struct Board {
    VerilatedContext context;
    Vtop top;
    Wave wave;
    uint64_t time = 0;
    const double ratio;  // clocks of the array per byte
    double phase = 0;
    double memory_phase = 0;
    uint64_t clocks = 0;

    std::deque<uint16_t> down;
    std::vector<uint8_t> frame;  // that comes, with its preamble
    std::deque<std::vector<uint8_t>> up;

    Board(double ratio, const char* path) : top(&context), ratio(ratio) {
        failure.clear();
        wave.open(top, path);
    }

    ~Board() { top.final(); }

    void send(const uint8_t* data, size_t size) {
        std::vector<uint8_t> whole(data, data + size);
        if (whole.size() < kLeast) whole.resize(kLeast);
        const uint32_t sequence = check(whole.data(), whole.size());
        for (int shift = 0; shift < 32; shift += 8) whole.push_back(sequence >> shift);
        for (int i = 0; i < kPreamble; i++) down.push_back(kValid | kFill);
        down.push_back(kValid | kStart);
        for (const uint8_t byte : whole) down.push_back(kValid | byte);
        for (int i = 0; i < kGap; i++) down.push_back(0);
    }

    void receive() {
        size_t at = 0;
        while (at < frame.size() && frame[at] == kFill) at++;
        const uint8_t* data = frame.data() + at + 1;
        const size_t size = frame.size() < at + 5 ? 0 : frame.size() - at - 5;
        uint32_t sequence = 0;
        for (int i = 0; size && i < 4; i++) sequence |= uint32_t(data[size + i]) << 8 * i;
        if (size < kLeast || frame[at] != kStart || check(data, size) != sequence) {
            failure = "the board sent a damaged Ethernet frame";
        } else {
            up.emplace_back(data, data + size);
        }
        frame.clear();
    }

    // Half a clock of the transceiver, and what passes of the array's meanwhile.
    void edge(bool level, uint16_t half) {
        top.RX_CTRL = half >> 8;
        top.RX_DATA = half & 15;
        top.RX_CLOCK = level;
        top.eval();
        wave.dump(time);
        phase += ratio;
        const uint64_t step = kHalfByte / (static_cast<uint64_t>(phase) + 1);
        for (uint64_t then = time + step; phase >= 1; phase--, then += step) {
            top.CLOCK = !top.CLOCK;
            top.eval();
            wave.dump(then);
            clocks += top.CLOCK;
        }
#ifdef MEMORY_RATIO
        for (memory_phase += ratio * MEMORY_RATIO; memory_phase >= 1; memory_phase--) {
            top.memory_clock = !top.memory_clock;
            top.eval();
        }
#endif
        time += kHalfByte;
    }

    void byte() {
        const uint16_t sent = down.empty() ? 0 : down.front();
        if (!down.empty()) down.pop_front();
        const uint16_t valid = sent & kValid;
        edge(true, valid | (sent & 15));
        const uint8_t low = top.TX_DATA;
        const bool comes = top.TX_CTRL;
        edge(false, valid | (sent >> 4 & 15));
        if (comes) {
            frame.push_back(low | top.TX_DATA << 4);
        } else if (!frame.empty()) {
            receive();
        }
    }
};

}  // namespace

EXPORT Board* virtual_open(double ratio, const char* wave) { return new Board(ratio, wave); }

EXPORT void virtual_close(Board* board) { delete board; }

EXPORT void virtual_push(Board* board, const uint8_t* data, uint64_t size) {
    board->send(data, size);
}

EXPORT void virtual_run(Board* board, uint64_t clocks) {
    const uint64_t end = board->clocks + clocks;
    while (board->clocks < end && failure.empty()) board->byte();
}

EXPORT uint64_t virtual_waiting(const Board* board) { return board->down.size(); }

EXPORT uint64_t virtual_available(const Board* board) {
    return board->up.empty() ? 0 : board->up.front().size();
}

EXPORT void virtual_pop(Board* board, uint8_t* out) {
    std::copy(board->up.front().begin(), board->up.front().end(), out);
    board->up.pop_front();
}

EXPORT uint64_t virtual_clocks(const Board* board) { return board->clocks; }

EXPORT uint32_t virtual_alive(const Board* board) { return board->top.ALIVE == LIT; }

EXPORT const char* virtual_failure(const Board*) { return failure.c_str(); }
