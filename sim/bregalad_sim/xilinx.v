// Behaviour of the Xilinx primitives that the boards' top levels use, for simulation.

module PLLE2_BASE #(
    parameter real CLKIN1_PERIOD = 0.0, parameter DIVCLK_DIVIDE = 1, parameter CLKFBOUT_MULT = 5,
    parameter CLKOUT0_DIVIDE = 1
) (
    input CLKIN1, CLKFBIN, RST, PWRDWN,
    output CLKFBOUT, CLKOUT0, LOCKED
);
    assign CLKFBOUT = CLKIN1;
    assign CLKOUT0 = CLKIN1;
    assign LOCKED = 1;
endmodule

module BUFG (input I, output O);
    assign O = I;
endmodule

module BUFGCE (input I, CE, output O);
    reg open = 0;
    always @(negedge I) open <= CE;
    assign O = I & open;
endmodule

module IBUF (input I, output O);
    assign O = I;
endmodule

module OBUFT (input I, T, output O);
    assign O = T ? 1'bz : I;
endmodule
