# Synthesis, placement and routing of the core alone: vivado -mode batch -source hardware/vivado/nvs_core.tcl -tclargs PART [NAME=VALUE]...
# The top is nvs_core_shift, which has all ports of nvs_core on shift registers, so the result is the core's own clock and size. Files,
# reports and the checkpoint are written to the current folder. NAME: a parameter of nvs_core_shift.
set hardware [file dirname [file dirname [file normalize [info script]]]]
set part [lindex $argv 0]
set generics [list]
foreach parameter [lrange $argv 1 end] { lappend generics -generic $parameter }

read_verilog -sv [lsort [glob $hardware/rtl/nvs_*.sv]]
read_verilog -sv $hardware/rtl/synth/nvs_core_shift.sv
read_xdc $hardware/vivado/nvs_core.xdc

synth_design -top nvs_core_shift -part $part -flatten_hierarchy rebuilt {*}$generics
opt_design
place_design
phys_opt_design
route_design

report_utilization -hierarchical -file nvs_core_utilization.txt
report_timing_summary -file nvs_core_timing.txt
write_checkpoint -force nvs_core.dcp
