// Requests of a drive: what each is for; those for the ring go on to memory.
//
// Purpose: what the reads and the writes of a drive have in common. Decodes the address, forwards a request of the ring, and gives every
// request on in the order in which it came.
//
// Interface:
//   s_*     AXI4 address channel of the drive: the read channel, or with Write the write channel. `s_whole_i`: an INCR burst of whole bus
//           words, or a single beat; any other burst is outside, wherever it goes
//   m_*     AXI4 address channel of the ring memory
//   next_*  every request, in order; one for the ring in the cycle in which memory takes it, so `next_valid_o` follows `m_ready_i`, and
//           `m_valid_o` follows `next_ready_i`. `next_word_o`: number of its first bus word in its page, or in the PRP lists
//
// Address map: see nvs_completer. Of a queue pair, the even page is the submission queue, which is read, and the odd page the completion queue,
// which is written.
//
// Invariants, proven in formal/nvs_completer_request.svh:
//   - a request of the own drive's half of the ring is forwarded once, with its address and length; no other request is;
//   - every request is given on once, in order, with its kind, identifier, length and word.

module nvs_completer_request #(
  parameter  int unsigned Write       = 0,    // 0: reads, 1: writes
  parameter  int unsigned DataWidth   = 128,
  parameter  int unsigned ChunkPages  = 32,
  parameter  int unsigned Slots       = 32,
  parameter  int unsigned IdWidth     = 4,
  parameter  int unsigned Drive       = 0,
  localparam int unsigned PageWidth   = $clog2(ChunkPages),
  localparam int unsigned SlotWidth   = $clog2(Slots),
  localparam int unsigned OffsetWidth = SlotWidth + PageWidth + 12,  // inside the ring part
  localparam int unsigned RingWidth   = 3 + OffsetWidth,
  localparam int unsigned ListWidth   = 1 + SlotWidth + PageWidth + 3,  // of all PRP lists
  localparam int unsigned BeatShift   = $clog2(DataWidth / 8),
  localparam int unsigned WordWidth   = (Write == 0 && ListWidth > 12 ? ListWidth : 12) - BeatShift
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,

  input  logic                   s_valid_i,
  output logic                   s_ready_o,
  input  logic [IdWidth-1:0]     s_id_i,
  input  logic [39:0]            s_addr_i,
  input  logic [7:0]             s_len_i,
  input  logic                   s_whole_i,

  output logic                   m_valid_o,
  input  logic                   m_ready_i,
  output logic [RingWidth-1:0]   m_addr_o,
  output logic [7:0]             m_len_o,

  output logic                   next_valid_o,
  input  logic                   next_ready_i,
  output logic [2:0]             next_kind_o,
  output logic [IdWidth-1:0]     next_id_o,
  output logic [7:0]             next_len_o,
  output logic [WordWidth-1:0]   next_word_o
);

  localparam logic [2:0] KindNone     = 3'd0;
  localparam logic [2:0] KindRing     = 3'd1;
  localparam logic [2:0] KindIdentify = 3'd2;
  localparam logic [2:0] KindList     = 3'd3;
  // Queues: 4 admin, 5 record, 6 replay.

  // Decoded before the queue: only the kind and the offset are kept.
  logic                 in_list;
  logic [ListWidth-1:0] list_offset;
  if (Write != 0) begin : gen_no_list
    assign in_list     = 1'b0;
    assign list_offset = '0;
  end else if (ListWidth < 12) begin : gen_short_list
    // The rest of the page belongs to the lists: a drive may read a list in bursts that are longer than it.
    assign in_list     = s_addr_i[38:12] == 27'(39'h1_0000 >> 12);
    assign list_offset = '0;
  end else if (ListWidth <= 16) begin : gen_list
    assign in_list     = s_addr_i[38:ListWidth] == (39 - ListWidth)'(39'h1_0000 >> ListWidth);
    assign list_offset = s_addr_i[ListWidth-1:0];
  end else begin : gen_long_list
    logic [22:0] list_high;
    assign list_high   = s_addr_i[38:16] - 1'b1;
    assign in_list     = s_addr_i[38:16] != '0 && list_high[22:ListWidth-16] == '0;
    assign list_offset = {list_high[ListWidth-17:0], s_addr_i[15:0]};
  end

  logic       in_ring, in_pages;
  logic [3:0] page;
  assign in_ring  = s_addr_i[38:OffsetWidth] == (39 - OffsetWidth)'({Write != 0, 2'(Drive)});
  assign in_pages = s_addr_i[38:16] == '0;
  assign page     = s_addr_i[15:12];

  logic [2:0]             kind;
  logic [OffsetWidth-1:0] offset;
  always_comb begin
    kind   = KindNone;
    offset = s_addr_i[OffsetWidth-1:0];
    if (!s_whole_i) begin
      kind = KindNone;
    end else if (!s_addr_i[39]) begin
      if (in_ring) kind = KindRing;
    end else if (in_list) begin
      kind   = KindList;
      offset = ListWidth < 12 ? OffsetWidth'(s_addr_i[11:0]) : OffsetWidth'(list_offset);
    end else if (in_pages) begin
      if (page < 4'h6 && page[0] == (Write != 0)) kind = {1'b1, page[2:1]};
      if (page == 4'h6 && Write != 0) kind = KindIdentify;
    end
  end

  logic                   valid, ring;
  logic [OffsetWidth-1:0] next_offset;
  /* verilator lint_off PINCONNECTEMPTY */
  nvs_fifo #(
    .Width(3 + IdWidth + 8 + OffsetWidth),
    .Depth(2)
  ) u_request (
    .clk_i,
    .rst_ni,
    .valid_i(s_valid_i),
    .ready_o(s_ready_o),
    .data_i ({kind, s_id_i, s_len_i, offset}),
    .valid_o(valid),
    .ready_i(next_ready_i && (!ring || m_ready_i)),
    .data_o ({next_kind_o, next_id_o, next_len_o, next_offset}),
    .count_o()
  );
  /* verilator lint_on PINCONNECTEMPTY */
  assign ring         = next_kind_o == KindRing;
  assign m_valid_o    = valid && ring && next_ready_i;
  assign m_addr_o     = {Write != 0, 2'(Drive), next_offset};
  assign m_len_o      = next_len_o;
  assign next_word_o  = next_offset[BeatShift +: WordWidth];
  assign next_valid_o = valid && (!ring || m_ready_i);

`ifdef FORMAL
  `include "formal/nvs_completer_request.svh"
`endif

endmodule
