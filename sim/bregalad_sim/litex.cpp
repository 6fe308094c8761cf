// A Verilated LiteX SoC behind a C interface: words of its bus, read and written by AXI4-Lite.

#include <cstdint>

#include "Vtop.h"
#include "failure.h"

namespace {

struct Soc {
    VerilatedContext context;
    Vtop top;

    Soc() : top(&context) {
        failure.clear();
        top.host_awvalid = top.host_wvalid = top.host_arvalid = top.host_bready = top.host_rready = 0;
        for (int i = 0; i < 16; i++) clock();
    }

    ~Soc() { top.final(); }

    void clock() {
        top.sys_clk = 0;
        top.eval();
        top.sys_clk = 1;
        top.eval();
    }

    // The response of an access; 4: none.
    int write(uint32_t address, uint32_t value) {
        top.host_awaddr = address;
        top.host_wdata = value;
        top.host_wstrb = 15;
        top.host_awvalid = top.host_wvalid = top.host_bready = 1;
        for (int i = 0; i < 200000; i++) {
            top.sys_clk = 0;
            top.eval();
            const bool to = top.host_awready, word = top.host_wready, done = top.host_bvalid;
            const int found = top.host_bresp;
            top.sys_clk = 1;
            top.eval();
            if (to) top.host_awvalid = 0;
            if (word) top.host_wvalid = 0;
            if (done) {
                top.host_bready = 0;
                return found;
            }
        }
        return 4;
    }

    int read(uint32_t address, uint32_t* value) {
        top.host_araddr = address;
        top.host_arvalid = top.host_rready = 1;
        for (int i = 0; i < 200000; i++) {
            top.sys_clk = 0;
            top.eval();
            const bool asked = top.host_arready, done = top.host_rvalid;
            const int found = top.host_rresp;
            *value = top.host_rdata;
            top.sys_clk = 1;
            top.eval();
            if (asked) top.host_arvalid = 0;
            if (done) {
                top.host_rready = 0;
                return found;
            }
        }
        return 4;
    }
};

}  // namespace

EXPORT Soc* soc_open() { return new Soc(); }

EXPORT void soc_close(Soc* soc) { delete soc; }

EXPORT int soc_write(Soc* soc, uint32_t address, uint32_t value) { return soc->write(address, value); }

EXPORT int soc_read(Soc* soc, uint32_t address, uint32_t* value) { return soc->read(address, value); }
