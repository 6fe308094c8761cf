# Arty A7, both sizes. Pins, flash and the 100 MHz clock come from amaranth-boards; Vivado derives the PLL's output from it.
# The serial line has a synchroniser of its own; the lights are for eyes.
set_false_path -from [get_ports uart_0__rx__io]
set_false_path -to [get_ports {uart_0__tx__io led_*__io}]
