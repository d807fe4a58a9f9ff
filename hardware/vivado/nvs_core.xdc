# 250 MHz.
create_clock -period 4.000 -name clk [get_ports clk_i]
# The reset is asynchronous; a design releases it with the clock. The shift registers' pins are slow.
set_false_path -from [get_ports rst_ni]
set_false_path -from [get_ports {in_i load_i}]
set_false_path -to [get_ports out_o]
