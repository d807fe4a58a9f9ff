// First-in first-out queue in block memory, for many entries.
//
// Purpose: buffer of stream beats. The memory has a synchronous read port, so that synthesis infers block memory; a prefetch register and
// a second one behind it hide the read cycle.
//
// Interface: valid/ready on both sides, no output depends on an input of the same cycle. `space_o` is the number of entries that can be
// pushed for certain: an entry counts until it has left at the output.
//
// Invariants, proven in formal/nvs_ram_fifo.svh: order; nothing lost, doubled or changed; `space_o` entries are always accepted; one entry
// per cycle at full rate.

module nvs_ram_fifo #(
  parameter  int unsigned Width    = 32,
  parameter  int unsigned Depth    = 512,  // a power of two, at least 4
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

  output logic [PtrWidth:0] space_o
);

  logic [Width-1:0]  memory [Depth];
  logic [PtrWidth:0] tail_q;  // next entry to write
  logic [PtrWidth:0] read_q;  // next entry to read from memory
  logic [PtrWidth:0] head_q;  // oldest entry that has not left

  logic              ready_q, unread_q;  // not full; entries in memory that are not read: tail_q != read_q
  // One read under way or arrived in `read_data_q`, and the output register.
  logic              read_valid_q, out_valid_q;
  logic [Width-1:0]  read_data_q, out_q;

  logic push, pop, read, advance;
  assign ready_o = ready_q;
  assign space_o = (PtrWidth + 1)'(Depth) - (tail_q - head_q);
  assign valid_o = out_valid_q;
  assign data_o  = out_q;

  assign push    = valid_i && ready_o;
  assign pop     = valid_o && ready_i;
  assign advance = read_valid_q && (!out_valid_q || pop);
  assign read    = unread_q && (!read_valid_q || advance);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      tail_q       <= '0;
      read_q       <= '0;
      head_q       <= '0;
      ready_q      <= 1'b1;
      unread_q     <= 1'b0;
      read_valid_q <= 1'b0;
      out_valid_q  <= 1'b0;
    end else begin
      if (push) tail_q <= tail_q + 1'b1;
      if (read) read_q <= read_q + 1'b1;
      if (pop)  head_q <= head_q + 1'b1;
      if (push != pop)  ready_q <= pop || space_o != (PtrWidth + 1)'(1);
      if (push != read) unread_q <= push || (tail_q - read_q) != (PtrWidth + 1)'(1);
      read_valid_q <= read || (read_valid_q && !advance);
      out_valid_q  <= advance || (out_valid_q && !pop);
    end
  end

  always_ff @(posedge clk_i) begin
    if (push)    memory[tail_q[PtrWidth-1:0]] <= data_i;
    if (read)    read_data_q <= memory[read_q[PtrWidth-1:0]];
    if (advance) out_q <= read_data_q;
  end

`ifdef FORMAL
  `include "formal/nvs_ram_fifo.svh"
`endif

endmodule
