// First-in first-out queue in registers, for few entries.
//
// Purpose: queues of descriptors. The oldest entry is visible without a read cycle.
//
// Interface: valid/ready on both sides. `ready_o` and `valid_o` depend on registers only, so a full queue accepts nothing in the cycle
// in which an entry leaves. `count_o` is the number of entries.
//
// Invariants, proven in formal/nvs_fifo.svh: order; nothing lost, doubled or changed; `count_o` never exceeds Depth.

module nvs_fifo #(
  parameter  int unsigned Width    = 32,
  parameter  int unsigned Depth    = 4,  // at least 2, a power of two
  localparam int unsigned PtrWidth = $clog2(Depth)
) (
  input  logic              clk_i,
  input  logic              rst_ni,

  input  logic              valid_i,
  output logic              ready_o,
  input  logic [Width-1:0]  data_i,

  output logic              valid_o,
  input  logic              ready_i,
  output logic [Width-1:0]  data_o,

  output logic [PtrWidth:0] count_o
);

  // The pointers have one bit more than an address: equal means empty, different in that bit only means full.
  logic [PtrWidth:0] head_q, tail_q;
  logic              valid_q, ready_q;  // not empty, not full: flip-flops, as every handshake begins with them
  logic [Width-1:0]  entries_q [Depth];

  assign count_o = tail_q - head_q;
  assign valid_o = valid_q;
  assign ready_o = ready_q;
  assign data_o  = entries_q[head_q[PtrWidth-1:0]];

  logic push, pop;
  assign push = valid_i && ready_o;
  assign pop  = valid_o && ready_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      head_q  <= '0;
      tail_q  <= '0;
      valid_q <= 1'b0;
      ready_q <= 1'b1;
    end else begin
      if (push) tail_q <= tail_q + 1'b1;
      if (pop)  head_q <= head_q + 1'b1;
      if (push != pop) begin
        valid_q <= push || count_o != (PtrWidth + 1)'(1);
        ready_q <= pop || count_o != (PtrWidth + 1)'(Depth - 1);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (push) entries_q[tail_q[PtrWidth-1:0]] <= data_i;
  end

`ifdef FORMAL
  `include "formal/nvs_fifo.svh"
`endif

endmodule
