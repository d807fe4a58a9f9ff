# Runs hardware/vivado/nvs_core.tcl without Vivado: its commands note what they are given. Files must exist, ports must be those of the top.
# Run by yosys -c in hardware/rtl.
set files [list]
set steps [list]
proc read_verilog {option sources} { lappend ::files {*}$sources }
proc read_xdc {file} { source $file }
proc get_ports {names} {
  foreach name $names {
    if {![regexp "(input|output) +logic +$name\\M" $::ports]} { error "nvs_core.xdc: nvs_core_shift has no port $name" }
  }
  return $names
}
foreach command {create_clock set_false_path} { proc $command {args} { incr ::constraints } }
foreach command {synth_design opt_design place_design phys_opt_design route_design report_utilization report_timing_summary write_checkpoint} {
  proc $command {args} "lappend ::steps $command"
}
set file [open synth/nvs_core_shift.sv]
regexp {module nvs_core_shift.*?\);} [read $file] ports
set argv [list xcku5p-ffvb676-2-e Drives=2]
# `info script` names the file that is being sourced.
source ../vivado/nvs_core.tcl
foreach file $files { if {![file exists $file]} { error "no file $file" } }
set modules [expr {[llength $files] - 1}]
if {$modules != [llength [glob nvs_*.sv]]} { error "files: $files" }
if {$constraints != 4 || [llength $steps] != 8} { error "$constraints constraints, steps $steps" }
puts "Vivado: $modules modules, $constraints constraints; Vivado itself is not here"
