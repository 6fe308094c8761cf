# A block design for the KV260: vivado -mode batch -source kria.tcl, in the core's folder. Makes design.bit and .hwh.
file delete design.bit design.hwh
create_project -force design build -part xck26-sfvc784-2LV-c
set_property board_part [lindex [get_board_parts *:kv260_som:*] end] [current_project]
set_property ip_repo_paths [file dirname [file normalize [info script]]] [current_project]
update_ip_catalog
create_bd_design design

set ps [create_bd_cell -type ip -vlnv xilinx.com:ip:zynq_ultra_ps_e ps]
apply_bd_automation -rule xilinx.com:bd_rule:zynq_ultra_ps_e -config {apply_board_preset 1} $ps
set_property -dict [list \
    CONFIG.PSU__USE__M_AXI_GP0 1 \
    CONFIG.PSU__USE__M_AXI_GP1 0 \
    CONFIG.PSU__USE__M_AXI_GP2 0 \
    CONFIG.PSU__USE__S_AXI_GP2 1 \
    CONFIG.PSU__USE__IRQ0 1 \
    CONFIG.PSU__CRL_APB__PL0_REF_CTRL__FREQMHZ 150] $ps

create_bd_cell -type ip -vlnv bregalad:bregalad:bregalad core
apply_bd_automation -rule xilinx.com:bd_rule:axi4 -config {Master /ps/M_AXI_HPM0_FPD} [get_bd_intf_pins core/s_axi]
apply_bd_automation -rule xilinx.com:bd_rule:axi4 -config {Master /core/m_axi} [get_bd_intf_pins ps/S_AXI_HP0_FPD]
# PYNQ awaits interrupts by way of a controller.
create_bd_cell -type ip -vlnv xilinx.com:ip:axi_intc intc
set_property CONFIG.C_IRQ_CONNECTION 1 [get_bd_cells intc]
apply_bd_automation -rule xilinx.com:bd_rule:axi4 -config {Master /ps/M_AXI_HPM0_FPD} [get_bd_intf_pins intc/s_axi]
connect_bd_net [get_bd_pins core/interrupt] [get_bd_pins intc/intr]
connect_bd_net [get_bd_pins intc/irq] [get_bd_pins ps/pl_ps_irq0]
if {[llength [get_bd_pins -quiet core/array_clk]]} {
    set_property -dict [list CONFIG.PSU__FPGA_PL1_ENABLE 1 CONFIG.PSU__CRL_APB__PL1_REF_CTRL__FREQMHZ 100] $ps
    # The port has 128 bits, and so the rate of a core of 256 at twice the array's clock.
    if {BUS_BITS > 128} { set_property CONFIG.PSU__CRL_APB__PL0_REF_CTRL__FREQMHZ 200 $ps }
    connect_bd_net [get_bd_pins ps/pl_clk1] [get_bd_pins core/array_clk]
}
assign_bd_address
validate_bd_design
save_bd_design

