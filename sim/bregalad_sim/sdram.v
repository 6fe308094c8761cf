// The ULX3S' SDRAM, MT48LC16M16 at 50 MHz: width, latencies and timings of the data sheet, which it stops at if they are
// not kept. And `system`: the board's top level with the chip at its pins.
//
// Source: Micron MT48LC16M16A2, speed grade -7E.

module sdram (
    input clk, cke, cs_n, ras_n, cas_n, we_n, input [1:0] ba, dqm, input [12:0] a, inout [15:0] dq
);
    // Clocks of 20 ns.
    localparam RCD = 1, RP = 1, RAS = 3, RFC = 4, WR = 1, REFI = 390, POWER_UP = 5000;

    reg [15:0] memory [0:(1 << 24) - 1];
    reg [12:0] row [0:3];
    reg [3:0] open = 0;
    integer opened [0:3], usable [0:3], wrote [0:3];  // clocks
    integer now = 0, refreshed = 0, read_at = -100, refreshes = 0, bank;
    reg [2:0] latency = 0;  // 0: no mode register was written
    reg [15:0] word = 0, out = 0;
    reg reading = 0, driving = 0;
    initial for (bank = 0; bank < 4; bank = bank + 1) begin
        opened[bank] = 0;
        usable[bank] = 0;
        wrote[bank] = -100;
    end

    assign dq = driving ? out : 16'bz;
    wire [23:0] at = {row[ba], ba, a[8:0]};
    wire idle = open == 0 && now >= usable[0] && now >= usable[1] && now >= usable[2] && now >= usable[3];

    task close(input integer which, input integer since);
        begin
            open[which] <= 0;
            usable[which] <= since + RP;
        end
    endtask

    always @(posedge clk) begin
        now <= now + 1;
        reading <= 0;
        driving <= reading;
        out <= word;
        if (!cke && now > 10) $fatal(1, "SDRAM: its clock is not enabled");
        if (refreshes > 2 && now - refreshed > 2 * REFI) $fatal(1, "SDRAM: not refreshed for %0d clocks", now - refreshed);
        if (cke && !cs_n && {ras_n, cas_n, we_n} != 3'b111) begin
            if (now < POWER_UP) $fatal(1, "SDRAM: a command %0d clocks after power-up", now);
            case ({ras_n, cas_n, we_n})
                3'b000: begin
                    if (!idle) $fatal(1, "SDRAM: mode register written while a bank is open");
                    if (a[3:0] != 0 || a[6:4] != 2) $fatal(1, "SDRAM: mode %h", a);
                    latency <= a[6:4];
                end
                3'b001: begin
                    if (!idle) $fatal(1, "SDRAM: refresh while a bank is open");
                    refreshed <= now;
                    refreshes <= refreshes + 1;
                    for (bank = 0; bank < 4; bank = bank + 1) usable[bank] <= now + RFC;
                end
                3'b010: for (bank = 0; bank < 4; bank = bank + 1) if ((a[10] || bank == ba) && open[bank]) begin
                    if (now - opened[bank] < RAS || now - wrote[bank] < 1 + WR) $fatal(1, "SDRAM: precharge too early");
                    close(bank, now);
                end
                3'b011: begin
                    if (open[ba] || now < usable[ba]) $fatal(1, "SDRAM: activate too early");
                    open[ba] <= 1;
                    row[ba] <= a;
                    opened[ba] <= now;
                end
                3'b100, 3'b101: begin
                    if (!open[ba] || now - opened[ba] < RCD) $fatal(1, "SDRAM: access to a bank that is not open");
                    if (latency == 0 || refreshes < 2) $fatal(1, "SDRAM: access before it is initialised");
                    if (we_n) begin
                        word <= memory[at];
                        reading <= 1;
                        read_at <= now;
                    end else begin
                        if (now - read_at <= 2) $fatal(1, "SDRAM: written %0d clocks after a read", now - read_at);
                        if (!dqm[0]) memory[at][7:0] <= dq[7:0];
                        if (!dqm[1]) memory[at][15:8] <= dq[15:8];
                        wrote[ba] <= now;
                    end
                    if (a[10])
                        close(ba, now + (we_n ? 1 : 1 + WR) > opened[ba] + RAS ? now + (we_n ? 1 : 1 + WR)
                            : opened[ba] + RAS);
                end
                default: $fatal(1, "SDRAM: a burst ended that there is not");
            endcase
        end
    end
endmodule

module system (input clk25_0__io, uart_0__rx__io, output uart_0__tx__io, led_0__io);
    wire clk, cke, cs_n, ras_n, cas_n, we_n;
    wire [1:0] ba, dqm;
    wire [12:0] a;
    wire [15:0] dq;
    top top (
        .clk25_0__io(clk25_0__io), .uart_0__rx__io(uart_0__rx__io), .uart_0__tx__io(uart_0__tx__io),
        .led_0__io(led_0__io), .sdram_0__clk__io(clk), .sdram_0__clk_en__io(cke), .sdram_0__cs__io(cs_n),
        .sdram_0__ras__io(ras_n), .sdram_0__cas__io(cas_n), .sdram_0__we__io(we_n), .sdram_0__ba__io(ba),
        .sdram_0__dqm__io(dqm), .sdram_0__a__io(a), .sdram_0__dq__io(dq)
    );
    sdram chip (.clk, .cke, .cs_n, .ras_n, .cas_n, .we_n, .ba, .dqm, .a, .dq);
endmodule
