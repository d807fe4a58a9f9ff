// Register slice with two entries.
//
// Purpose: cuts every combinational path of a valid/ready handshake. No output depends on an input of the same cycle.
//
// Interface: `valid` and `data` are stable until `ready` (AXI4 rule A3.2.1); a transfer happens in a cycle with both.
//
// Invariants, proven in formal/nvs_skid.svh:
//   - transfers leave in the order in which they came; none is lost or doubled;
//   - the output is stable until it is taken;
//   - full throughput: with a ready sink, one transfer per cycle.

module nvs_skid #(
  parameter int unsigned Width = 32
) (
  input  logic             clk_i,
  input  logic             rst_ni,

  input  logic             valid_i,
  output logic             ready_o,
  input  logic [Width-1:0] data_i,

  output logic             valid_o,
  input  logic             ready_i,
  output logic [Width-1:0] data_o
);

  // `first` is the output; `second` is used while the output waits.
  logic             first_valid_q, second_valid_q;
  logic [Width-1:0] first_q, second_q;

  assign ready_o = !second_valid_q;
  assign valid_o = first_valid_q;
  assign data_o  = first_q;

  logic push, pop;
  assign push = valid_i && ready_o;
  assign pop  = valid_o && ready_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      first_valid_q  <= 1'b0;
      second_valid_q <= 1'b0;
    end else if (!first_valid_q || pop) begin
      first_valid_q  <= second_valid_q || push;
      second_valid_q <= 1'b0;
    end else if (push) begin
      second_valid_q <= 1'b1;
    end
  end

  // Data need no reset: they count only with their valid bit.
  always_ff @(posedge clk_i) begin
    if (!first_valid_q || pop) first_q <= second_valid_q ? second_q : data_i;
    if (push) second_q <= data_i;
  end

`ifdef FORMAL
  `include "formal/nvs_skid.svh"
`endif

endmodule
