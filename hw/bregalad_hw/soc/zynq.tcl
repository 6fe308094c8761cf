# A block design for the PYNQ-Z2: vivado -mode batch -source zynq.tcl, in the core's folder. Makes design.bit and .hwh.
file delete design.bit design.hwh
create_project -force design build -part xc7z020clg400-1
set_property ip_repo_paths [file dirname [file normalize [info script]]] [current_project]
update_ip_catalog
create_bd_design design

set ps [create_bd_cell -type ip -vlnv xilinx.com:ip:processing_system7 ps]
apply_bd_automation -rule xilinx.com:bd_rule:processing_system7 -config {make_external "FIXED_IO, DDR"} $ps
set_property -dict [list \
    CONFIG.PCW_USE_S_AXI_HP0 1 \
    CONFIG.PCW_USE_FABRIC_INTERRUPT 1 \
    CONFIG.PCW_IRQ_F2P_INTR 1 \
    CONFIG.PCW_FPGA0_PERIPHERAL_FREQMHZ 100] $ps

create_bd_cell -type ip -vlnv bregalad:bregalad:bregalad core
apply_bd_automation -rule xilinx.com:bd_rule:axi4 -config {Master /ps/M_AXI_GP0} [get_bd_intf_pins core/s_axi]
apply_bd_automation -rule xilinx.com:bd_rule:axi4 -config {Master /core/m_axi} [get_bd_intf_pins ps/S_AXI_HP0]
# PYNQ awaits interrupts by way of a controller.
create_bd_cell -type ip -vlnv xilinx.com:ip:axi_intc intc
set_property CONFIG.C_IRQ_CONNECTION 1 [get_bd_cells intc]
apply_bd_automation -rule xilinx.com:bd_rule:axi4 -config {Master /ps/M_AXI_GP0} [get_bd_intf_pins intc/s_axi]
connect_bd_net [get_bd_pins core/interrupt] [get_bd_pins intc/intr]
connect_bd_net [get_bd_pins intc/irq] [get_bd_pins ps/IRQ_F2P]
if {[llength [get_bd_pins -quiet core/array_clk]]} {
    set_property -dict [list CONFIG.PCW_EN_CLK1_PORT 1 CONFIG.PCW_FPGA1_PERIPHERAL_FREQMHZ 75] $ps
    # The port has 64 bits, and so the rate of a core of 128 at twice the array's clock.
    if {BUS_BITS > 64} { set_property CONFIG.PCW_FPGA0_PERIPHERAL_FREQMHZ 150 $ps }
    connect_bd_net [get_bd_pins ps/FCLK_CLK1] [get_bd_pins core/array_clk]
}
assign_bd_address
validate_bd_design
save_bd_design

