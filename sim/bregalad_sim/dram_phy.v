// The ECPIX-5's DDR3, MT41K256M16, and what LiteDRAM has between it and its controller on an ECP5, at DFI: width and
// latencies of both, bytes that can be read with certain delays only, and the chip's timings, which it stops at if they
// are not kept. The pins are left out. And `system`: the board's top level, and the clock of the memory's controller.
//
// Source: Micron MT41K256M16, speed grade -125; litedram/phy/ecp5ddrphy.py.

module dram_phy (
    input dram_clk, dram_rst, fast_clk, init_clk, init_rst,
    input [1:0] select, input delay_reset, delay_step, slip_reset, slip_step, burst_clear,
    output reg [1:0] burst_seen = 0, output stop, restart,
    input dfi_p0_act_n, dfi_p0_cas_n, dfi_p0_cke, dfi_p0_cs_n, dfi_p0_odt, dfi_p0_ras_n, dfi_p0_reset_n, dfi_p0_we_n,
    input dfi_p1_act_n, dfi_p1_cas_n, dfi_p1_cke, dfi_p1_cs_n, dfi_p1_odt, dfi_p1_ras_n, dfi_p1_reset_n, dfi_p1_we_n,
    input dfi_p0_rddata_en, dfi_p0_wrdata_en, dfi_p1_rddata_en, dfi_p1_wrdata_en,
    input [14:0] dfi_p0_address, dfi_p1_address, input [2:0] dfi_p0_bank, dfi_p1_bank,
    input [63:0] dfi_p0_wrdata, dfi_p1_wrdata, input [7:0] dfi_p0_wrdata_mask, dfi_p1_wrdata_mask,
    output [63:0] dfi_p0_rddata, dfi_p1_rddata, output dfi_p0_rddata_valid, dfi_p1_rddata_valid,
    output [14:0] pads_a, output [2:0] pads_ba, output [1:0] pads_dm,
    output pads_cas_n, pads_cke, pads_clk_p, pads_odt, pads_ras_n, pads_we_n,
    inout [15:0] pads_dq, inout [1:0] pads_dqs_p
);
    // Clocks of the chip, of 5.56 ns, and of the controller.
    localparam RCD = 3, RP = 3, RAS = 7, RFC = 47, WR = 3, WTR = 4, RTP = 4, CCD = 4, RRD = 4, FAW = 8, REFI = 1404;
    localparam CL = 6, CWL = 5, MOD = 12, DLLK = 512, XPR = 49, RESET = 90000, READ = 13, WRITE = 3;

    // A byte's words come with these delays of its reader and this slip only.
    wire [1:0] slips [0:1];
    wire [2:0] first [0:1], last [0:1];
    assign slips[0] = 1, first[0] = 2, last[0] = 5;
    assign slips[1] = 2, first[1] = 4, last[1] = 7;
    reg [1:0] slip [0:1];
    reg [2:0] delay [0:1];

    reg [127:0] memory [int];
    reg [14:0] row [0:7];
    reg [7:0] open = 0;
    integer opened [0:7], usable [0:7], closable [0:7];
    integer activated [0:3];  // the last four
    integer now = 0, refreshed = 0, read_at = -100, wrote_at = -100, released = 0, raised = 0;
    integer moded = -100, locked = 0, calibrated = 0;
    integer refreshes = 0, phase, i, at;
    reg [3:0] modes = 0;
    reg reset_n = 0, cke = 0;

    // What is on its way.
    reg [READ:0] reads = 0;
    reg [127:0] came [0:READ];
    reg [WRITE:0] writes = 0;
    integer places [0:WRITE];

    reg cs_n, ras_n, cas_n, we_n, wrdata_en, rddata_en;
    reg [2:0] ba;
    reg [14:0] a;
    reg [127:0] word, wrong, shown = 0;
    reg valid = 0;
    reg [1:0] seen = 0;
    wire [127:0] wrdata = {dfi_p1_wrdata, dfi_p0_wrdata};
    wire [15:0] mask = {dfi_p1_wrdata_mask, dfi_p0_wrdata_mask};

    initial begin
        for (i = 0; i < 8; i = i + 1) begin
            opened[i] = -100;
            usable[i] = 0;
            closable[i] = 0;
        end
        for (i = 0; i < 4; i = i + 1) activated[i] = -100;
        for (i = 0; i < 2; i = i + 1) begin
            slip[i] = 3;
            delay[i] = 5;
        end
    end

    assign stop = 0, restart = 0;
    assign {pads_a, pads_ba, pads_dm} = 0;
    assign {pads_cas_n, pads_cke, pads_clk_p, pads_odt, pads_ras_n, pads_we_n} = 0;
    assign {dfi_p1_rddata, dfi_p0_rddata} = shown;
    assign {dfi_p1_rddata_valid, dfi_p0_rddata_valid} = {2{valid}};

    task check(input kept, input [255:0] what);
        if (!kept) $fatal(1, "DDR3: %0s, at %0d", what, now);
    endtask

    task close(input integer bank, input integer since);
        begin
            open[bank] = 0;
            usable[bank] = since + RP;
        end
    endtask

    function idle(input integer since);
        begin
            idle = open == 0;
            for (int b = 0; b < 8; b = b + 1) if (since < usable[b]) idle = 0;
        end
    endfunction

    task command;
        begin
            check(cke && now - raised >= XPR, "a command before it is awake");
            check(now >= calibrated && (now - moded >= MOD || {ras_n, cas_n, we_n} == 0), "a command while it prepares");
            case ({ras_n, cas_n, we_n})
                3'b000: begin
                    check(idle(now), "mode register written while a bank is open");
                    modes[ba[1:0]] = 1;
                    moded = now;
                    // Burst of 8, both latencies, and the loop that is reset.
                    if (ba == 0) begin
                        check(a[1:0] == 0 && a[2] == 0 && a[6:4] == CL - 4 && a[8], "latency of reads");
                        locked = now + DLLK;
                    end
                    if (ba == 2) check(a[5:3] == CWL - 5, "latency of writes");
                end
                3'b001: begin
                    check(idle(now), "refresh while a bank is open");
                    refreshed = now;
                    refreshes = refreshes + 1;
                    for (i = 0; i < 8; i = i + 1) usable[i] = now + RFC;
                end
                3'b010: for (i = 0; i < 8; i = i + 1) if ((a[10] || i == ba) && open[i]) begin
                    check(now - opened[i] >= RAS && now >= closable[i], "precharge too early");
                    close(i, now);
                end
                3'b011: begin
                    check(modes == 15 && calibrated > 0, "activate before it is initialised");
                    check(!open[ba] && now >= usable[ba], "activate too early");
                    check(now - activated[0] >= RRD && now - activated[3] >= FAW, "too many activates");
                    for (i = 3; i > 0; i = i - 1) activated[i] = activated[i - 1];
                    activated[0] = now;
                    open[ba] = 1;
                    row[ba] = a;
                    opened[ba] = now;
                end
                3'b100, 3'b101: begin
                    check(open[ba] && now - opened[ba] >= RCD, "access to a bank that is not open");
                    check(a[2:0] == 0 && (now - read_at >= CCD) && (now - wrote_at >= CCD), "bursts in one another");
                    at = {row[ba], ba, a[9:3]};
                    if (we_n) begin
                        check(rddata_en, "a read that nobody waits for");
                        check(now >= locked, "read before its loop has locked");
                        check(now - wrote_at >= CWL + 4 + WTR, "read too early behind a write");
                        came[0] = memory.exists(at) ? memory[at] : 128'bx;
                        reads[0] = 1;
                        read_at = now;
                        closable[ba] = now + RTP;
                    end else begin
                        check(wrdata_en, "a write without words");
                        check(now - read_at >= CL - CWL + 4 + 2, "written too early behind a read");
                        writes[0] = 1;
                        places[0] = at;
                        wrote_at = now;
                        closable[ba] = now + CWL + 4 + WR;
                    end
                    if (a[10]) close(ba, closable[ba] > opened[ba] + RAS ? closable[ba] : opened[ba] + RAS);
                end
                3'b110: begin
                    check(idle(now) && modes == 15, "calibrated too early");
                    calibrated = now + (calibrated == 0 ? 512 : 64);
                end
                default: ;
            endcase
        end
    endtask

    always @(posedge dram_clk) if (!dram_rst) begin
        // What was asked for in the clocks before, then what is.
        for (i = READ; i > 0; i = i - 1) came[i] = came[i - 1];
        for (i = WRITE; i > 0; i = i - 1) places[i] = places[i - 1];
        reads = reads << 1;
        writes = writes << 1;
        for (phase = 0; phase < 2; phase = phase + 1) begin
            {cs_n, ras_n, cas_n, we_n} = phase ? {dfi_p1_cs_n, dfi_p1_ras_n, dfi_p1_cas_n, dfi_p1_we_n}
                : {dfi_p0_cs_n, dfi_p0_ras_n, dfi_p0_cas_n, dfi_p0_we_n};
            {wrdata_en, rddata_en} = phase ? {dfi_p1_wrdata_en, dfi_p1_rddata_en} : {dfi_p0_wrdata_en, dfi_p0_rddata_en};
            ba = phase ? dfi_p1_bank : dfi_p0_bank;
            a = phase ? dfi_p1_address : dfi_p0_address;
            if (!cke && dfi_p0_cke) begin
                check(reset_n && now - released >= RESET, "awake too early");
                raised = now;
            end
            if (!reset_n && dfi_p0_reset_n) released = now;
            cke = dfi_p0_cke;
            reset_n = dfi_p0_reset_n;
            if (!cs_n) command();
            check(refreshes < 2 || now - refreshed <= 9 * REFI, "not refreshed");
            now = now + 1;
        end
        if (writes[WRITE]) begin
            at = places[WRITE];
            if (!memory.exists(at)) memory[at] = 0;
            for (i = 0; i < 16; i = i + 1) if (!mask[i]) memory[at][8 * i +: 8] = wrdata[8 * i +: 8];
        end
        word = came[READ - 1];
        wrong = {word[111:0], word[127:112]};
        for (i = 0; i < 16; i = i + 1)
            if (slip[i & 1] != slips[i & 1] || delay[i & 1] < first[i & 1] || delay[i & 1] > last[i & 1])
                word[8 * i +: 8] = wrong[8 * i +: 8];
        shown <= word;
        valid <= reads[READ - 1];
        for (i = 0; i < 2; i = i + 1) begin
            if (burst_clear) seen[i] = 0;
            if (reads[READ - 4] && slip[i] == slips[i]) seen[i] = 1;
            if (select[i]) begin
                if (delay_reset) delay[i] = 0;
                if (delay_step) delay[i] = delay[i] + 1;
                if (slip_reset) slip[i] = 0;
                if (slip_step) slip[i] = slip[i] + 1;
            end
        end
        burst_seen <= seen;
    end
endmodule

module ECLKSYNCB (input ECLKI, STOP, output ECLKO);
    assign ECLKO = ECLKI;
endmodule

module CLKDIVF #(parameter DIV = "2.0") (input CLKI, RST, ALIGNWD, output CDIVX);
    assign CDIVX = system.memory_clock;
endmodule

module system (
    input memory_clock, clk100_0__io, eth_rgmii_0__rx_clk__io, eth_rgmii_0__rx_ctrl__io, input [3:0] eth_rgmii_0__rx_data__io,
    output eth_rgmii_0__tx_ctrl__io, output [3:0] eth_rgmii_0__tx_data__io, output rgb_led_0__g__io
);
    top top (
        .clk100_0__io(clk100_0__io), .eth_rgmii_0__rx_clk__io(eth_rgmii_0__rx_clk__io),
        .eth_rgmii_0__rx_ctrl__io(eth_rgmii_0__rx_ctrl__io), .eth_rgmii_0__rx_data__io(eth_rgmii_0__rx_data__io),
        .eth_rgmii_0__tx_ctrl__io(eth_rgmii_0__tx_ctrl__io), .eth_rgmii_0__tx_data__io(eth_rgmii_0__tx_data__io),
        .rgb_led_0__g__io(rgb_led_0__g__io)
    );
endmodule
