// Behaviour of the Gowin primitives that the boards' top levels use, for simulation. IBUF is that
// of xilinx.v.

module rPLL #(
    parameter DEVICE = "GW2AR-18C", parameter FCLKIN = "100.0",
    parameter IDIV_SEL = 0, parameter FBDIV_SEL = 0, parameter ODIV_SEL = 8
) (
    input CLKIN, CLKFB, RESET, RESET_P,
    input [5:0] FBDSEL, IDSEL, ODSEL,
    input [3:0] PSDA, DUTYDA, FDLY,
    output CLKOUT, LOCK
);
    assign CLKOUT = CLKIN;
    assign LOCK = 1;
endmodule

module DQCE (input CLKIN, CE, output CLKOUT);
    reg open = 0;
    always @(negedge CLKIN) open <= CE;
    assign CLKOUT = CLKIN & open;
endmodule

module TBUF (input I, OEN, output O);
    assign O = OEN ? 1'bz : I;
endmodule
