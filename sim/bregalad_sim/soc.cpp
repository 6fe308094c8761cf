// The Verilated core for a system on chip behind a C interface: registers by AXI4-Lite, a flat memory by AXI4.
//
// With TWO_CLOCKS the array has a clock of its own, of any ratio to the bus'.
//
// Seeded stalls on every channel show that nothing depends on timing. Bursts of one ID are answered in order; those of
// different IDs are not kept in order.

#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <random>
#include <vector>

#include "Vbregalad.h"
#include "wave.h"

namespace {

template <typename Port>
uint8_t* bytes_of(Port& port) {
    return reinterpret_cast<uint8_t*>(&port);
}

struct Burst {
    uint64_t address;
    unsigned left;
    uint64_t due;  // clock of the first beat
};

struct Answer {
    unsigned id, response;
};

struct Core {
    VerilatedContext context;
    Vbregalad top;
    Wave wave;
    uint64_t time = 0;
    std::mt19937 random;
    uint32_t stall;  // of 2^32
    uint64_t latency;
    uint8_t* memory;
    uint64_t base, size;  // of the memory
    size_t bus_bytes;
    std::map<uint64_t, int> faults;
    std::map<unsigned, std::deque<Burst>> reads;  // by ID
    unsigned given = 0;                           // the ID of the word that is offered
    std::deque<std::pair<unsigned, uint64_t>> writes;
    int write_response = 0;
    std::deque<Answer> answers;
    uint64_t clocks = 0, read_beats = 0, write_beats = 0;
    bool data_valid = false, answer_valid = false;
    double array_half, array_due;  // ps of half a clock of the array, and when its next edge is

    Core(uint8_t* memory, uint64_t base, uint64_t size, size_t bus_bytes, uint64_t latency, uint32_t stall,
         uint32_t seed, double period, const char* path)
        : top(&context), random(seed), stall(stall), latency(latency), memory(memory), base(base), size(size),
          bus_bytes(bus_bytes), array_half(period * kHalfClock), array_due(array_half) {
        failure.clear();
        wave.open(top, path);
        top.s_axi_awvalid = top.s_axi_wvalid = top.s_axi_arvalid = 0;
        top.s_axi_bready = top.s_axi_rready = 0;
        top.m_axi_arready = top.m_axi_awready = top.m_axi_wready = top.m_axi_rvalid = top.m_axi_bvalid = 0;
        reset();
    }

    ~Core() { top.final(); }

    void reset() {
        top.aresetn = 0;
        reads.clear();
        writes.clear();
        answers.clear();
        data_valid = answer_valid = false;
        top.m_axi_rvalid = top.m_axi_bvalid = 0;
        for (int i = 0; i < 16 * (1 + array_half / kHalfClock); i++) {
            level(0);
            level(1);
        }
        top.aresetn = 1;
    }

    bool stalled() { return stall && random() < stall; }

    void level(bool clk) {
#ifdef TWO_CLOCKS
        for (; array_due <= time; array_due += array_half) {
            top.array_clk = !top.array_clk;
            top.eval();
        }
#endif
        top.aclk = clk;
        top.eval();
        wave.dump(time);
        time += kHalfClock;
    }

    int response(uint64_t address) const {
        const auto fault = faults.find(address);
        if (fault != faults.end()) return fault->second;
        return address >= base && address - base < size && size - (address - base) >= bus_bytes ? 0 : 3;
    }

    void drive() {
        if (!data_valid && !reads.empty() && !stalled()) {
            auto chosen = reads.begin();
            std::advance(chosen, random() % reads.size());
            const Burst& burst = chosen->second.front();
            if (burst.due <= clocks) {
                data_valid = true;
                given = chosen->first;
                const int code = response(burst.address);
                top.m_axi_rid = given;
                top.m_axi_rresp = code;
                top.m_axi_rlast = burst.left == 1;
                if (code) {
                    std::memset(bytes_of(top.m_axi_rdata), 0xA5, bus_bytes);
                } else {
                    std::memcpy(bytes_of(top.m_axi_rdata), memory + (burst.address - base), bus_bytes);
                }
            }
        }
        top.m_axi_rvalid = data_valid;
        top.m_axi_arready = !stalled();
        top.m_axi_awready = writes.size() < 4 && !stalled();
        top.m_axi_wready = !writes.empty() && !stalled();
        if (!answer_valid && !answers.empty() && !stalled()) {
            answer_valid = true;
            top.m_axi_bid = answers.front().id;
            top.m_axi_bresp = answers.front().response;
        }
        top.m_axi_bvalid = answer_valid;
    }

    void transfer() {
        if (top.m_axi_bvalid && top.m_axi_bready) {
            answers.pop_front();
            answer_valid = false;
        }
        if (top.m_axi_wvalid && top.m_axi_wready) {
            write_beats++;
            auto& [id, address] = writes.front();
            const int code = response(address);
            if (code) write_response = code;
            const uint8_t* data = bytes_of(top.m_axi_wdata);
            const uint8_t* strobe = bytes_of(top.m_axi_wstrb);
            for (size_t i = 0; i < bus_bytes && !code; i++)
                if (strobe[i / 8] >> i % 8 & 1) memory[address - base + i] = data[i];
            address += bus_bytes;
            if (top.m_axi_wlast) {
                answers.push_back({id, unsigned(write_response)});
                write_response = 0;
                writes.pop_front();
            }
        }
        if (top.m_axi_awvalid && top.m_axi_awready)
            writes.push_back({top.m_axi_awid, top.m_axi_awaddr / bus_bytes * bus_bytes});
        if (top.m_axi_rvalid && top.m_axi_rready) {
            read_beats++;
            data_valid = false;
            auto& queue = reads[given];
            queue.front().address += bus_bytes;
            if (!--queue.front().left) queue.pop_front();
            if (queue.empty()) reads.erase(given);
        }
        if (top.m_axi_arvalid && top.m_axi_arready)
            reads[top.m_axi_arid].push_back({top.m_axi_araddr, top.m_axi_arlen + 1u, clocks + latency});
    }

    void clock() {
        drive();
        level(0);
        transfer();
        level(1);
        clocks++;
    }

    // The response of an access; 4: none.
    int write(uint32_t address, uint32_t value) {
        top.s_axi_awaddr = address;
        top.s_axi_wdata = value;
        top.s_axi_wstrb = 15;
        top.s_axi_awvalid = top.s_axi_wvalid = top.s_axi_bready = 1;
        for (int i = 0; i < 200000; i++) {
            drive();
            level(0);
            const bool to = top.s_axi_awready, word = top.s_axi_wready, done = top.s_axi_bvalid;
            const int found = top.s_axi_bresp;
            transfer();
            level(1);
            clocks++;
            if (to) top.s_axi_awvalid = 0;
            if (word) top.s_axi_wvalid = 0;
            if (done) {
                top.s_axi_bready = 0;
                return found;
            }
        }
        return 4;
    }

    int read(uint32_t address, uint32_t* value) {
        top.s_axi_araddr = address;
        top.s_axi_arvalid = top.s_axi_rready = 1;
        for (int i = 0; i < 200000; i++) {
            drive();
            level(0);
            const bool asked = top.s_axi_arready, done = top.s_axi_rvalid;
            const int found = top.s_axi_rresp;
            *value = top.s_axi_rdata;
            transfer();
            level(1);
            clocks++;
            if (asked) top.s_axi_arvalid = 0;
            if (done) {
                top.s_axi_rready = 0;
                return found;
            }
        }
        return 4;
    }
};

}  // namespace

EXPORT Core* core_open(uint8_t* memory, uint64_t base, uint64_t size, uint32_t bus_bytes, uint64_t latency,
                       uint32_t stall, uint32_t seed, double period, const char* wave) {
    return new Core(memory, base, size, bus_bytes, latency, stall, seed, period, wave);
}

EXPORT void core_close(Core* core) { delete core; }

EXPORT void core_run(Core* core, uint64_t clocks) {
    while (clocks-- && failure.empty()) core->clock();
}

EXPORT void core_reset(Core* core) { core->reset(); }

EXPORT int core_write(Core* core, uint32_t address, uint32_t value) { return core->write(address, value); }

EXPORT int core_read(Core* core, uint32_t address, uint32_t* value) { return core->read(address, value); }

// Verilator takes the name for a word of some C++.
EXPORT uint32_t core_interrupt(const Core* core) { return core->top.__SYM__interrupt; }

EXPORT uint64_t core_clocks(const Core* core) { return core->clocks; }

EXPORT uint64_t core_beats(const Core* core) { return core->read_beats; }

EXPORT void core_fault(Core* core, uint64_t address, int code) { core->faults[address] = code; }

EXPORT void core_clear_faults(Core* core) { core->faults.clear(); }

EXPORT const char* core_failure(const Core*) { return failure.c_str(); }
