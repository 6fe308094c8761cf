# Between the two clocks: pointers of queues as Gray codes, words that lie still while they are read, resets.
# A path that takes less than a clock of the faster one lets no two bits of a pointer be a clock apart.
set bus [get_clocks -of_objects [get_ports aclk]]
set array [get_clocks -of_objects [get_ports array_clk]]
set limit [expr min([get_property PERIOD $bus], [get_property PERIOD $array])]
set_max_delay -datapath_only -from $bus -to $array $limit
set_max_delay -datapath_only -from $array -to $bus $limit
set_property ASYNC_REG TRUE [get_cells -hierarchical -regexp {.*(_cdc|_sync|reset)/stage[0-9]_reg.*}]
