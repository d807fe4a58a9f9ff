// Write bursts that reach memory only when all their data are there.
//
// Purpose: between nvs_ingress and nvs_memory. A burst holds the write channel of memory until its last beat; a stream that pauses inside a
// page would hold up the drives, and a source that waits for the replayed stream would wait for ever. So a page is collected first.
//
// Interface: AXI4 write channels without strobes and responses, in and out. `w_last_i` ends a burst of at most PageBeats beats, one per address.
// No output depends on an input of the same cycle.
//
// Invariants, proven in formal/nvs_page_buffer.svh:
//   - an address is offered only when the last beat of its burst is in the buffer; data are offered only for an address that was taken;
//   - addresses and data leave in order; none is lost, doubled or changed;
//   - a burst that was begun is continued with the next beat in at most two cycles: it never waits for the stream.

module nvs_page_buffer #(
  parameter int unsigned DataWidth = 128,
  parameter int unsigned AddrWidth = 25,
  parameter int unsigned PageBeats = 256  // a power of two
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,

  input  logic                 aw_valid_i,
  output logic                 aw_ready_o,
  input  logic [AddrWidth-1:0] aw_addr_i,
  input  logic                 w_valid_i,
  output logic                 w_ready_o,
  input  logic [DataWidth-1:0] w_data_i,
  input  logic                 w_last_i,

  output logic                 m_aw_valid_o,
  input  logic                 m_aw_ready_i,
  output logic [AddrWidth-1:0] m_aw_addr_o,
  output logic                 m_w_valid_o,
  input  logic                 m_w_ready_i,
  output logic [DataWidth-1:0] m_w_data_o,
  output logic                 m_w_last_o
);

  // Bursts that are complete in the buffer and whose address was not given yet; bursts whose address was given and whose last beat was not.
  // Bursts of one beat may be as many as the buffer has beats.
  localparam int unsigned CountWidth = $clog2(2 * PageBeats) + 1;
  logic [CountWidth-1:0] complete_q, open_q;
  logic                  any_complete_q, any_open_q;  // above 0

  logic       address_valid, address_pop;
  logic [2:0] unused_count;
  nvs_fifo #(
    .Width(AddrWidth),
    .Depth(4)
  ) u_addresses (
    .clk_i,
    .rst_ni,
    .valid_i(aw_valid_i),
    .ready_o(aw_ready_o),
    .data_i (aw_addr_i),
    .valid_o(address_valid),
    .ready_i(address_pop),
    .data_o (m_aw_addr_o),
    .count_o(unused_count)
  );

  logic                           beat_valid, beat_pop;
  logic [$clog2(2 * PageBeats):0] unused_space;
  nvs_ram_fifo #(
    .Width(DataWidth + 1),
    .Depth(2 * PageBeats)
  ) u_beats (
    .clk_i,
    .rst_ni,
    .valid_i(w_valid_i),
    .ready_o(w_ready_o),
    .data_i ({w_last_i, w_data_i}),
    .valid_o(beat_valid),
    .ready_i(beat_pop),
    .data_o ({m_w_last_o, m_w_data_o}),
    .space_o(unused_space)
  );

  logic unused;
  assign unused = ^{unused_count, unused_space};

  assign m_aw_valid_o = address_valid && any_complete_q;
  assign address_pop  = m_aw_ready_i && any_complete_q;
  assign m_w_valid_o  = beat_valid && any_open_q;
  assign beat_pop     = m_w_ready_i && any_open_q;

  logic ends_in, begins_out, ends_out;
  assign ends_in    = w_valid_i && w_ready_o && w_last_i;
  assign begins_out = m_aw_valid_o && m_aw_ready_i;
  assign ends_out   = m_w_valid_o && m_w_ready_i && m_w_last_o;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      complete_q     <= '0;
      open_q         <= '0;
      any_complete_q <= 1'b0;
      any_open_q     <= 1'b0;
    end else begin
      if (ends_in != begins_out) begin
        complete_q     <= ends_in ? complete_q + 1'b1 : complete_q - 1'b1;
        any_complete_q <= ends_in || complete_q != CountWidth'(1);
      end
      if (begins_out != ends_out) begin
        open_q     <= begins_out ? open_q + 1'b1 : open_q - 1'b1;
        any_open_q <= begins_out || open_q != CountWidth'(1);
      end
    end
  end

`ifdef FORMAL
  `include "formal/nvs_page_buffer.svh"
`endif

endmodule
