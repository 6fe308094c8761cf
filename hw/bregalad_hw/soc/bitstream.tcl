make_wrapper -files [get_files design.bd] -top -import
launch_runs impl_1 -to_step route_design -jobs 4
wait_on_run impl_1
foreach {what property} {setup STATS.WNS hold STATS.WHS} {
    set slack [get_property $property [get_runs impl_1]]
    if {![string is double -strict $slack]} {
        error "no $what slack is known: the design has not been routed; build/ has the logs"
    }
    if {$slack < 0} {
        error "the worst $what slack is $slack ns, so there is no bitstream: choose slower clocks in\
            [file tail [info script]], or a smaller geometry"
    }
}
launch_runs impl_1 -to_step write_bitstream -jobs 4
wait_on_run impl_1
file copy -force [glob build/*.runs/impl_1/*.bit] design.bit
file copy -force [glob build/*.gen/sources_1/bd/design/hw_handoff/design.hwh] design.hwh
