// Cells of the ECP5 that Yosys has as black boxes only, as far as the designs use them.
//
// Block RAM and multiplier as in the netlists: one port writes, the other reads, both 9, 18
// or 36 bits wide; unsigned factors; with and without their registers. Clocks and pins as in the top levels: the PLL
// passes its input on, so a test bench gives the clock that is wanted, its second clock being half a period behind;
// delays take no time.

module DP16KD #(
    parameter DATA_WIDTH_A = 18, parameter DATA_WIDTH_B = 18,
    parameter REGMODE_A = "NOREG", parameter REGMODE_B = "NOREG",
    parameter CLKAMUX = "CLKA", parameter CLKBMUX = "CLKB", parameter GSR = "DISABLED",
    parameter RESETMODE = "SYNC", parameter ASYNC_RESET_RELEASE = "SYNC",
    parameter WRITEMODE_A = "NORMAL", parameter WRITEMODE_B = "NORMAL",
    parameter CSDECODE_A = "0b000", parameter CSDECODE_B = "0b000", parameter INIT_DATA = "STATIC",
    parameter WID = 0,
    parameter [319:0] INITVAL_00 = 0, parameter [319:0] INITVAL_01 = 0,
    parameter [319:0] INITVAL_02 = 0, parameter [319:0] INITVAL_03 = 0,
    parameter [319:0] INITVAL_04 = 0, parameter [319:0] INITVAL_05 = 0,
    parameter [319:0] INITVAL_06 = 0, parameter [319:0] INITVAL_07 = 0,
    parameter [319:0] INITVAL_08 = 0, parameter [319:0] INITVAL_09 = 0,
    parameter [319:0] INITVAL_0A = 0, parameter [319:0] INITVAL_0B = 0,
    parameter [319:0] INITVAL_0C = 0, parameter [319:0] INITVAL_0D = 0,
    parameter [319:0] INITVAL_0E = 0, parameter [319:0] INITVAL_0F = 0,
    parameter [319:0] INITVAL_10 = 0, parameter [319:0] INITVAL_11 = 0,
    parameter [319:0] INITVAL_12 = 0, parameter [319:0] INITVAL_13 = 0,
    parameter [319:0] INITVAL_14 = 0, parameter [319:0] INITVAL_15 = 0,
    parameter [319:0] INITVAL_16 = 0, parameter [319:0] INITVAL_17 = 0,
    parameter [319:0] INITVAL_18 = 0, parameter [319:0] INITVAL_19 = 0,
    parameter [319:0] INITVAL_1A = 0, parameter [319:0] INITVAL_1B = 0,
    parameter [319:0] INITVAL_1C = 0, parameter [319:0] INITVAL_1D = 0,
    parameter [319:0] INITVAL_1E = 0, parameter [319:0] INITVAL_1F = 0,
    parameter [319:0] INITVAL_20 = 0, parameter [319:0] INITVAL_21 = 0,
    parameter [319:0] INITVAL_22 = 0, parameter [319:0] INITVAL_23 = 0,
    parameter [319:0] INITVAL_24 = 0, parameter [319:0] INITVAL_25 = 0,
    parameter [319:0] INITVAL_26 = 0, parameter [319:0] INITVAL_27 = 0,
    parameter [319:0] INITVAL_28 = 0, parameter [319:0] INITVAL_29 = 0,
    parameter [319:0] INITVAL_2A = 0, parameter [319:0] INITVAL_2B = 0,
    parameter [319:0] INITVAL_2C = 0, parameter [319:0] INITVAL_2D = 0,
    parameter [319:0] INITVAL_2E = 0, parameter [319:0] INITVAL_2F = 0,
    parameter [319:0] INITVAL_30 = 0, parameter [319:0] INITVAL_31 = 0,
    parameter [319:0] INITVAL_32 = 0, parameter [319:0] INITVAL_33 = 0,
    parameter [319:0] INITVAL_34 = 0, parameter [319:0] INITVAL_35 = 0,
    parameter [319:0] INITVAL_36 = 0, parameter [319:0] INITVAL_37 = 0,
    parameter [319:0] INITVAL_38 = 0, parameter [319:0] INITVAL_39 = 0,
    parameter [319:0] INITVAL_3A = 0, parameter [319:0] INITVAL_3B = 0,
    parameter [319:0] INITVAL_3C = 0, parameter [319:0] INITVAL_3D = 0,
    parameter [319:0] INITVAL_3E = 0, parameter [319:0] INITVAL_3F = 0
) (
    input ADA0, ADA1, ADA2, ADA3, ADA4, ADA5, ADA6, ADA7, ADA8, ADA9, ADA10, ADA11, ADA12, ADA13,
    input ADB0, ADB1, ADB2, ADB3, ADB4, ADB5, ADB6, ADB7, ADB8, ADB9, ADB10, ADB11, ADB12, ADB13,
    input DIA0, DIA1, DIA2, DIA3, DIA4, DIA5, DIA6, DIA7, DIA8,
    input DIA9, DIA10, DIA11, DIA12, DIA13, DIA14, DIA15, DIA16, DIA17,
    input DIB0, DIB1, DIB2, DIB3, DIB4, DIB5, DIB6, DIB7, DIB8,
    input DIB9, DIB10, DIB11, DIB12, DIB13, DIB14, DIB15, DIB16, DIB17,
    output DOA0, DOA1, DOA2, DOA3, DOA4, DOA5, DOA6, DOA7, DOA8,
    output DOA9, DOA10, DOA11, DOA12, DOA13, DOA14, DOA15, DOA16, DOA17,
    output DOB0, DOB1, DOB2, DOB3, DOB4, DOB5, DOB6, DOB7, DOB8,
    output DOB9, DOB10, DOB11, DOB12, DOB13, DOB14, DOB15, DOB16, DOB17,
    input CEA, CEB, OCEA, OCEB, CLKA, CLKB, WEA, WEB, RSTA, RSTB,
    input CSA0, CSA1, CSA2, CSB0, CSB1, CSB2
);
    reg [35:0] memory [0:511];
    reg [35:0] latch = 0;
    reg [17:0] register = 0;
    wire [13:0] write_at = {ADA13, ADA12, ADA11, ADA10, ADA9, ADA8, ADA7, ADA6, ADA5, ADA4, ADA3,
                            ADA2, ADA1, ADA0};
    wire [13:0] read_at = {ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7, ADB6, ADB5, ADB4, ADB3,
                           ADB2, ADB1, ADB0};
    wire [17:0] low = {DIA17, DIA16, DIA15, DIA14, DIA13, DIA12, DIA11, DIA10, DIA9,
                       DIA8, DIA7, DIA6, DIA5, DIA4, DIA3, DIA2, DIA1, DIA0};
    wire [17:0] high = {DIB17, DIB16, DIB15, DIB14, DIB13, DIB12, DIB11, DIB10, DIB9,
                        DIB8, DIB7, DIB6, DIB5, DIB4, DIB3, DIB2, DIB1, DIB0};
    // A word takes 20 bits, two of which are not there.
    localparam [20479:0] BEGINNING = {
        INITVAL_3F, INITVAL_3E, INITVAL_3D, INITVAL_3C, INITVAL_3B, INITVAL_3A, INITVAL_39,
        INITVAL_38, INITVAL_37, INITVAL_36, INITVAL_35, INITVAL_34, INITVAL_33, INITVAL_32,
        INITVAL_31, INITVAL_30, INITVAL_2F, INITVAL_2E, INITVAL_2D, INITVAL_2C, INITVAL_2B,
        INITVAL_2A, INITVAL_29, INITVAL_28, INITVAL_27, INITVAL_26, INITVAL_25, INITVAL_24,
        INITVAL_23, INITVAL_22, INITVAL_21, INITVAL_20, INITVAL_1F, INITVAL_1E, INITVAL_1D,
        INITVAL_1C, INITVAL_1B, INITVAL_1A, INITVAL_19, INITVAL_18, INITVAL_17, INITVAL_16,
        INITVAL_15, INITVAL_14, INITVAL_13, INITVAL_12, INITVAL_11, INITVAL_10, INITVAL_0F,
        INITVAL_0E, INITVAL_0D, INITVAL_0C, INITVAL_0B, INITVAL_0A, INITVAL_09, INITVAL_08,
        INITVAL_07, INITVAL_06, INITVAL_05, INITVAL_04, INITVAL_03, INITVAL_02, INITVAL_01,
        INITVAL_00};
    integer i;
    initial begin
        if (DATA_WIDTH_A != DATA_WIDTH_B
            || (DATA_WIDTH_A != 9 && DATA_WIDTH_A != 18 && DATA_WIDTH_A != 36))
            $fatal(1, "a block RAM of %0d and %0d bits", DATA_WIDTH_A, DATA_WIDTH_B);
        for (i = 0; i < 512; i = i + 1)
            memory[i] = {BEGINNING[40 * i + 20 +: 18], BEGINNING[40 * i +: 18]};
    end
    // The low bits of a write's address enable bytes, if words are wider than one.
    wire [3:0] bytes = DATA_WIDTH_A == 36 ? write_at[3:0]
        : DATA_WIDTH_A == 18 ? write_at[1:0] << 2 * write_at[4]
        : 1 << write_at[4:3];
    wire [35:0] data = DATA_WIDTH_A == 36 ? {high, low}
        : DATA_WIDTH_A == 18 ? {low, low} : {4{low[8:0]}};
    wire [35:0] words = memory[read_at[13:5]];
    always @(posedge CLKA) if (CEA & WEA)
        for (i = 0; i < 4; i = i + 1)
            if (bytes[i]) memory[write_at[13:5]][9 * i +: 9] <= data[9 * i +: 9];
    always @(posedge CLKB) begin
        if (CEB) latch <= DATA_WIDTH_B == 36 ? words
            : DATA_WIDTH_B == 18 ? words[18 * read_at[4] +: 18] : words[9 * read_at[4:3] +: 9];
        if (OCEB) register <= latch[17:0];
    end
    // Of 36 bits the lower half comes out at the other port's pins, which have no register here.
    assign {DOA17, DOA16, DOA15, DOA14, DOA13, DOA12, DOA11, DOA10, DOA9,
            DOA8, DOA7, DOA6, DOA5, DOA4, DOA3, DOA2, DOA1, DOA0} = latch[17:0];
    assign {DOB17, DOB16, DOB15, DOB14, DOB13, DOB12, DOB11, DOB10, DOB9,
            DOB8, DOB7, DOB6, DOB5, DOB4, DOB3, DOB2, DOB1, DOB0}
        = DATA_WIDTH_B == 36 ? latch[35:18] : REGMODE_B == "OUTREG" ? register : latch[17:0];
endmodule

module MULT18X18D #(
    parameter REG_INPUTA_CLK = "NONE", parameter REG_INPUTB_CLK = "NONE",
    parameter REG_PIPELINE_CLK = "NONE", parameter REG_OUTPUT_CLK = "NONE",
    parameter REG_INPUTA_CE = "CE0", parameter REG_INPUTB_CE = "CE0",
    parameter REG_PIPELINE_CE = "CE0", parameter REG_OUTPUT_CE = "CE0",
    parameter REG_INPUTA_RST = "RST0", parameter REG_INPUTB_RST = "RST0",
    parameter REG_PIPELINE_RST = "RST0", parameter REG_OUTPUT_RST = "RST0",
    parameter GSR = "ENABLED", parameter RESETMODE = "SYNC"
) (
    input A0, A1, A2, A3, A4, A5, A6, A7, A8, A9, A10, A11, A12, A13, A14, A15, A16, A17,
    input B0, B1, B2, B3, B4, B5, B6, B7, B8, B9, B10, B11, B12, B13, B14, B15, B16, B17,
    input C0, C1, C2, C3, C4, C5, C6, C7, C8, C9, C10, C11, C12, C13, C14, C15, C16, C17,
    input SIGNEDA, SIGNEDB, SOURCEA, SOURCEB, CLK0, CE0, RST0,
    output P0, P1, P2, P3, P4, P5, P6, P7, P8, P9, P10, P11, P12, P13, P14, P15, P16, P17,
    output P18, P19, P20, P21, P22, P23, P24, P25, P26, P27, P28, P29, P30, P31, P32, P33, P34, P35
);
    wire [17:0] a = {A17, A16, A15, A14, A13, A12, A11, A10, A9, A8, A7, A6, A5, A4, A3, A2, A1, A0};
    wire [17:0] b = {B17, B16, B15, B14, B13, B12, B11, B10, B9, B8, B7, B6, B5, B4, B3, B2, B1, B0};
    reg [17:0] a_register = 0, b_register = 0;
    reg [35:0] pipeline = 0, register = 0;
    wire [35:0] product = (REG_INPUTA_CLK == "NONE" ? a : a_register)
                        * (REG_INPUTB_CLK == "NONE" ? b : b_register);
    wire [35:0] piped = REG_PIPELINE_CLK == "NONE" ? product : pipeline;
    always @(posedge CLK0) begin
        a_register <= a;
        b_register <= b;
        pipeline <= product;
        register <= piped;
    end
    assign {P35, P34, P33, P32, P31, P30, P29, P28, P27, P26, P25, P24, P23, P22, P21, P20, P19, P18,
            P17, P16, P15, P14, P13, P12, P11, P10, P9, P8, P7, P6, P5, P4, P3, P2, P1, P0}
        = REG_OUTPUT_CLK == "NONE" ? piped : register;
endmodule

module EHXPLLL #(
    parameter CLKI_DIV = 1, parameter CLKFB_DIV = 1, parameter FEEDBK_PATH = "CLKOP",
    parameter CLKOP_ENABLE = "ENABLED", parameter CLKOP_DIV = 1, parameter CLKOP_CPHASE = 0,
    parameter CLKOP_FPHASE = 0, parameter CLKOS_ENABLE = "DISABLED", parameter CLKOS_DIV = 1,
    parameter CLKOS_CPHASE = 0, parameter CLKOS_FPHASE = 0
) (
    input CLKI, CLKFB, RST, STDBY, PHASESEL0, PHASESEL1, PHASEDIR, PHASESTEP, PHASELOADREG,
    input PLLWAKESYNC, ENCLKOP,
    output CLKOP, CLKOS, LOCK
);
    assign CLKOP = CLKI;
    assign CLKOS = ~CLKI;
    assign LOCK = 1;
endmodule

module DCCA (input CLKI, CE, output CLKO);
    reg open = 0;
    always @(negedge CLKI) open <= CE;
    assign CLKO = CLKI & open;
endmodule

module IB (input I, output O);
    assign O = I;
endmodule

module OBZ (input I, T, output O);
    assign O = T ? 1'bz : I;
endmodule

module BB (inout B, input I, T, output O);
    assign B = T ? 1'bz : I;
    assign O = B;
endmodule

module IFS1P3DX (input D, SP, SCLK, CD, output reg Q = 0);
    always @(posedge SCLK) if (SP) Q <= D;
endmodule

module OFS1P3DX (input D, SP, SCLK, CD, output reg Q = 0);
    always @(posedge SCLK) if (SP) Q <= D;
endmodule

module DELAYG #(parameter DEL_MODE = "USER_DEFINED", parameter DEL_VALUE = 0) (
    input A, output Z
);
    assign Z = A;
endmodule

module IDDRX1F (input D, SCLK, RST, output reg Q0 = 0, output reg Q1 = 0);
    reg rose = 0, fell = 0;
    always @(negedge SCLK) fell <= D;
    always @(posedge SCLK) begin
        rose <= D;
        Q0 <= rose;
        Q1 <= fell;
    end
endmodule

module ODDRX1F (input D0, D1, SCLK, RST, output Q);
    reg high = 0, low = 0;
    always @(posedge SCLK) begin
        high <= D0;
        low <= D1;
    end
    assign Q = SCLK ? high : low;
endmodule

module FD1S3AX (input D, CK, output reg Q = 0);
    always @(posedge CK) Q <= D;
endmodule

module FD1S3BX (input D, PD, CK, output reg Q = 1);
    always @(posedge CK or posedge PD) if (PD) Q <= 1; else Q <= D;
endmodule

module TRELLIS_DPR16X4 #(
    parameter WCKMUX = "WCK", parameter WREMUX = "WRE", parameter [63:0] INITVAL = 0
) (
    input [3:0] DI, WAD, RAD, input WRE, WCK, output [3:0] DO
);
    reg [3:0] memory [0:15];
    integer i;
    initial for (i = 0; i < 16; i = i + 1) memory[i] = INITVAL[4 * i +: 4];
    always @(posedge WCK) if (WRE) memory[WAD] <= DI;
    assign DO = memory[RAD];
endmodule

// TRELLIS_IO of one direction, as `sim/bregalad_sim/verilog.py` names it.
module TRELLIS_IN #(parameter DIR = "INPUT") (input B, output O);
    assign O = B;
endmodule

module TRELLIS_OUT #(parameter DIR = "OUTPUT") (output B, input I, T);
    assign B = I;
endmodule
