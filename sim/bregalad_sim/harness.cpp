// A Verilated accelerator behind a C interface, called in batches by sim/bregalad_sim/verilated.py.
//
// Commands wait in a queue, reports are collected, memory is a flat array behind AXI4, its reads of
// configurable latency. Seeded stalls on every stream show that nothing depends on timing.

#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <random>
#include <vector>

#include "Vaccelerator.h"
#include "wave.h"

// Verilator writes the second of two underscores as a code, since it uses `__` itself.
#define PORT(interface, signal) top.interface##___05F##signal

namespace {

// Ports are CData to QData up to 64 bits and VlWide above.
template <typename Port>
void set_port(Port& port, const uint8_t* data, size_t size) {
    std::memcpy(&port, data, size);
}

template <std::size_t Words>
void set_port(VlWide<Words>& port, const uint8_t* data, size_t size) {
    std::memcpy(port.data(), data, size);
}

struct Burst {
    uint64_t address;
    unsigned left;
    uint64_t due;  // clock of the first beat
};

struct Board {
    VerilatedContext context;
    Vaccelerator top;
    Wave wave;
    uint64_t time = 0;
    std::mt19937 random;
    uint32_t stall;  // of 2^32
    uint64_t latency;
    uint8_t* memory;
    uint64_t memory_size;
    size_t bus_bytes;
    std::map<uint64_t, int> faults;

    std::vector<uint8_t> commands;
    size_t command_at = 0;
    std::vector<uint32_t> reports;
    size_t complete = 0;  // words up to the last `last`
    std::deque<Burst> bursts;
    std::deque<uint64_t> writes;  // addresses whose words have not come
    unsigned written = 0;         // words that are not answered
    std::vector<uint8_t> zeros;
    uint64_t clocks = 0;
    uint64_t quiet = 0;  // clocks since anything was transferred
    bool command_valid = false, data_valid = false, answer_valid = false;

    Board(uint8_t* memory, uint64_t memory_size, size_t bus_bytes, uint64_t latency,
          uint32_t stall, uint32_t seed, const char* path)
        : top(&context), random(seed), stall(stall), latency(latency), memory(memory),
          memory_size(memory_size), bus_bytes(bus_bytes), zeros(bus_bytes) {
        failure.clear();
        wave.open(top, path);
        top.rst = 1;
        PORT(commands, valid) = 0;
        PORT(reports, ready) = 0;
        PORT(m_axi, arready) = 0;
        PORT(m_axi, rvalid) = 0;
        PORT(m_axi, awready) = 0;
        PORT(m_axi, wready) = 0;
        PORT(m_axi, bvalid) = 0;
        PORT(m_axi, bresp) = 0;
        top.memory_size = memory_size;
        PORT(csr, w_en) = 0;
        PORT(csr, addr) = 0;
        for (int i = 0; i < 4; i++) {
            level(0);
            level(1);
        }
        top.rst = 0;
    }

    ~Board() { top.final(); }

    bool stalled() { return stall && random() < stall; }

    void level(bool clk) {
        top.clk = clk;
        top.eval();
        wave.dump(time);
        time += kHalfClock;
    }

    int response(uint64_t address) const {
        const auto fault = faults.find(address);
        if (fault != faults.end()) return fault->second;
        return address < memory_size && memory_size - address >= bus_bytes ? 0 : 3;
    }

    void drive() {
        // What is valid stays so, with the same payload, until it is taken.
        if (!command_valid && command_at < commands.size() && !stalled()) {
            command_valid = true;
            set_port(PORT(commands, payload), &commands[command_at], bus_bytes);
        }
        if (!data_valid && !bursts.empty() && bursts.front().due <= clocks && !stalled()) {
            data_valid = true;
            const Burst& burst = bursts.front();
            const int code = response(burst.address);
            PORT(m_axi, rresp) = code;
            PORT(m_axi, rlast) = burst.left == 1;
            set_port(PORT(m_axi, rdata), code ? zeros.data() : memory + burst.address, bus_bytes);
        }
        PORT(commands, valid) = command_valid;
        PORT(m_axi, rvalid) = data_valid;
        PORT(reports, ready) = !stalled();
        PORT(m_axi, arready) = bursts.size() < 16 && !stalled();
        PORT(m_axi, awready) = writes.size() < 4 && !stalled();
        PORT(m_axi, wready) = !writes.empty() && !stalled();
        answer_valid = written > 0 && (answer_valid || !stalled());
        PORT(m_axi, bvalid) = answer_valid;
    }

    void transfer() {
        quiet++;
        if (PORT(m_axi, bvalid) && PORT(m_axi, bready)) {
            quiet = 0;
            written--;
            answer_valid = false;
        }
        if (PORT(m_axi, wvalid) && PORT(m_axi, wready)) {
            quiet = 0;
            const uint64_t address = writes.front();
            writes.pop_front();
            written++;
            const uint8_t* data = reinterpret_cast<const uint8_t*>(&PORT(m_axi, wdata));
            for (size_t i = 0; i < bus_bytes; i++)
                if (PORT(m_axi, wstrb) >> i & 1) memory[address + i] = data[i];
        }
        if (PORT(m_axi, awvalid) && PORT(m_axi, awready)) {
            quiet = 0;
            writes.push_back(PORT(m_axi, awaddr));
        }
        if (PORT(commands, valid) && PORT(commands, ready)) {
            quiet = 0;
            command_valid = false;
            command_at += bus_bytes;
            if (command_at == commands.size()) {
                commands.clear();
                command_at = 0;
            }
        }
        if (PORT(reports, valid) && PORT(reports, ready)) {
            quiet = 0;
            const uint64_t payload = PORT(reports, payload);
            reports.push_back(static_cast<uint32_t>(payload));
            if (payload >> 32 & 1) complete = reports.size();
        }
        if (PORT(m_axi, rvalid) && PORT(m_axi, rready)) {
            quiet = 0;
            data_valid = false;
            bursts.front().address += bus_bytes;
            if (!--bursts.front().left) bursts.pop_front();
        }
        if (PORT(m_axi, arvalid) && PORT(m_axi, arready)) {
            quiet = 0;
            bursts.push_back({PORT(m_axi, araddr), PORT(m_axi, arlen) + 1u, clocks + latency});
        }
    }

    void clock() {
        drive();
        level(0);
        transfer();
        level(1);
        clocks++;
    }
};

}  // namespace

EXPORT Board* board_open(uint8_t* memory, uint64_t memory_size, uint32_t bus_bytes,
                         uint64_t latency, uint32_t stall, uint32_t seed,
                         const char* wave) {
    return new Board(memory, memory_size, bus_bytes, latency, stall, seed, wave);
}

EXPORT void board_close(Board* board) { delete board; }

EXPORT void board_push(Board* board, const uint8_t* data, uint64_t size) {
    board->commands.insert(board->commands.end(), data, data + size);
}

// Run up to `clocks`, until a report is complete (stop 1) or all commands are taken (stop 2).
EXPORT uint64_t board_waiting(const Board* board) {
    return board->commands.size() - board->command_at;
}

// At most so many clocks; until a report is complete (1) or no more than ``ahead`` bytes wait (2).
EXPORT void board_run(Board* board, uint64_t clocks, int stop, uint64_t ahead) {
    while (clocks-- && failure.empty()) {
        if (stop == 1 && board->complete) return;
        if (stop == 2 && board_waiting(board) <= ahead) return;
        board->clock();
    }
}

EXPORT uint64_t board_available(const Board* board) { return board->complete; }

EXPORT void board_pop(Board* board, uint32_t* out) {
    const auto begin = board->reports.begin(), end = begin + board->complete;
    std::copy(begin, end, out);
    board->reports.erase(begin, end);
    board->complete = 0;
}

EXPORT uint64_t board_quiet(const Board* board) { return board->quiet; }

EXPORT uint64_t board_clocks(const Board* board) { return board->clocks; }

EXPORT void board_fault(Board* board, uint64_t address, int code) {
    board->faults[address] = code;
}

EXPORT void board_clear_faults(Board* board) { board->faults.clear(); }

EXPORT uint32_t board_read(Board* board, uint32_t word) {
    board->PORT(csr, addr) = word;
    for (int i = 0; i < 5; i++) board->clock();  // READ_LATENCY
    // What has just happened is known some clocks late; no real bus reads that soon.
    for (int i = 0; i < 6; i++) board->clock();
    return board->PORT(csr, r_data);
}

EXPORT void board_write(Board* board, uint32_t word, uint32_t value) {
    board->PORT(csr, addr) = word;
    board->PORT(csr, w_data) = value;
    board->PORT(csr, w_en) = 1;
    board->clock();
    board->PORT(csr, w_en) = 0;
    // A pulse takes effect a clock later than a value; no real bus reads back that soon.
    for (int i = 0; i < 2; i++) board->clock();
}

EXPORT const char* board_failure(const Board*) { return failure.c_str(); }
