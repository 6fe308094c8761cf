"""Boards' bitstreams: synthesis, what is done to a netlist, place and route, reports."""
