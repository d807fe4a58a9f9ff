// What the drive reads of the core.
//
// Purpose: decodes reads, forwards those of the record half of the ring to memory, and keeps all of them in order for nvs_completer_answer.
//
// Interface:
//   s_ar_*, s_r_*  AXI4 read channels of the drive. INCR bursts of whole bus words within 4 KiB; the first address may be unaligned
//   m_ar_*, m_r_*  AXI4 read channels of the ring memory; answers in request order
//   record_*       submission records of nvs_queues, direction 0 and 1; data one cycle after the index
//   admin_*        the admin submission entry that is made at present
//   error_o        pulse: a read that ran outside of what may be read has been answered
//
// Invariants, proven in formal/nvs_completer_read.svh; about the words, see nvs_completer_answer:
//   - a read of the own drive's record ring is forwarded once, with its address and length; no other read is;
//   - requests are answered in the order in which they came; none is lost, doubled or changed.

module nvs_completer_read #(
  parameter  int unsigned DataWidth   = 128,
  parameter  int unsigned ChunkPages  = 32,
  parameter  int unsigned Slots       = 32,
  parameter  int unsigned Entries     = 64,
  parameter  int unsigned IdWidth     = 4,
  parameter  int unsigned Drive       = 0,
  parameter  logic [63:0] BusBase     = 64'h0,
  parameter  int unsigned Outstanding = 16,
  localparam int unsigned PageWidth   = $clog2(ChunkPages),
  localparam int unsigned SlotWidth   = $clog2(Slots),
  localparam int unsigned IndexWidth  = $clog2(Entries),
  localparam int unsigned RingWidth   = 1 + 2 + SlotWidth + PageWidth + 12
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,
  input  logic [3:0]              block_shift_i,

  input  logic                    s_ar_valid_i,
  output logic                    s_ar_ready_o,
  input  logic [IdWidth-1:0]      s_ar_id_i,
  input  logic [39:0]             s_ar_addr_i,
  input  logic [7:0]              s_ar_len_i,
  output logic                    s_r_valid_o,
  input  logic                    s_r_ready_i,
  output logic [IdWidth-1:0]      s_r_id_o,
  output logic [DataWidth-1:0]    s_r_data_o,
  output logic                    s_r_last_o,

  output logic                    m_ar_valid_o,
  input  logic                    m_ar_ready_i,
  output logic [RingWidth-1:0]    m_ar_addr_o,
  output logic [7:0]              m_ar_len_o,
  input  logic                    m_r_valid_i,
  output logic                    m_r_ready_o,
  input  logic [DataWidth-1:0]    m_r_data_i,

  output logic [2*IndexWidth-1:0] record_index_o,
  input  logic [1:0]              record_flush_i,
  input  logic [2*SlotWidth-1:0]  record_slot_i,
  input  logic [2*64-1:0]         record_lba_i,
  input  logic [2*16-1:0]         record_blocks_i,

  input  logic [7:0]              admin_opcode_i,
  input  logic [31:0]             admin_nsid_i,
  input  logic [39:0]             admin_prp1_i,
  input  logic [31:0]             admin_cdw10_i,
  input  logic [31:0]             admin_cdw11_i,
  input  logic [15:0]             admin_cid_i,

  output logic                    error_o
);

  localparam int unsigned BeatBytes   = DataWidth / 8;
  localparam int unsigned BeatShift   = $clog2(BeatBytes);
  localparam int unsigned OffsetWidth = SlotWidth + PageWidth + 12;           // inside the ring part
  localparam int unsigned ListWidth   = 1 + SlotWidth + PageWidth + 3;        // of all PRP lists
  localparam int unsigned MadeWidth   = ListWidth > 12 ? ListWidth : 12;      // inside a made area
  localparam int unsigned WordWidth   = MadeWidth - BeatShift;                // bus word inside a made area

  // What a read asks for.
  localparam logic [2:0] KindNone   = 3'd0;
  localparam logic [2:0] KindRing   = 3'd1;
  localparam logic [2:0] KindAdmin  = 3'd2;
  localparam logic [2:0] KindRecord = 3'd3;
  localparam logic [2:0] KindReplay = 3'd4;
  localparam logic [2:0] KindList   = 3'd5;

  // Decoded before the queue: only the kind and the offset are kept.
  logic                   in_list;
  logic [ListWidth-1:0]   list_offset;
  if (ListWidth <= 16) begin : gen_list
    assign in_list     = s_ar_addr_i[38:ListWidth] == (39 - ListWidth)'(39'h1_0000 >> ListWidth);
    assign list_offset = s_ar_addr_i[ListWidth-1:0];
  end else begin : gen_long_list
    logic [22:0] list_high;
    assign list_high   = s_ar_addr_i[38:16] - 1'b1;
    assign in_list     = s_ar_addr_i[38:16] != '0 && list_high[22:ListWidth-16] == '0;
    assign list_offset = {list_high[ListWidth-17:0], s_ar_addr_i[15:0]};
  end

  logic in_ring;
  assign in_ring = s_ar_addr_i[38:OffsetWidth] == (39 - OffsetWidth)'(Drive);

  logic [2:0]             kind;
  logic [OffsetWidth-1:0] offset;
  always_comb begin
    kind   = KindNone;
    offset = s_ar_addr_i[OffsetWidth-1:0];
    if (!s_ar_addr_i[39]) begin
      if (in_ring) kind = KindRing;
    end else if (in_list) begin
      kind   = KindList;
      offset = OffsetWidth'(list_offset);
    end else if (s_ar_addr_i[38:16] == '0) begin
      case (s_ar_addr_i[15:12])
        4'h0:    kind = KindAdmin;
        4'h2:    kind = KindRecord;
        4'h4:    kind = KindReplay;
        default: kind = KindNone;
      endcase
    end
  end

  // Requests: forwarded to memory if they are for it, and put into the order of answers.
  logic                   request_valid, request_take, request_ring, order_ready;
  logic [2:0]             request_kind;
  logic [IdWidth-1:0]     request_id;
  logic [7:0]             request_len;
  logic [OffsetWidth-1:0] request_offset;
  /* verilator lint_off PINCONNECTEMPTY */
  nvs_fifo #(
    .Width(3 + IdWidth + 8 + OffsetWidth),
    .Depth(2)
  ) u_request (
    .clk_i,
    .rst_ni,
    .valid_i(s_ar_valid_i),
    .ready_o(s_ar_ready_o),
    .data_i ({kind, s_ar_id_i, s_ar_len_i, offset}),
    .valid_o(request_valid),
    .ready_i(request_take),
    .data_o ({request_kind, request_id, request_len, request_offset}),
    .count_o()
  );
  /* verilator lint_on PINCONNECTEMPTY */
  assign request_ring = request_kind == KindRing;
  assign m_ar_valid_o = request_valid && request_ring && order_ready;
  assign m_ar_addr_o  = {1'b0, 2'(Drive), request_offset};
  assign m_ar_len_o   = request_len;
  assign request_take = order_ready && (!request_ring || m_ar_ready_i);

  logic                 order_valid, order_pop, head_valid, head_pop;
  logic [2:0]           head_kind;
  logic [IdWidth-1:0]   head_id;
  logic [7:0]           head_len;
  logic [WordWidth-1:0] head_word;
  logic [3+IdWidth+8+WordWidth-1:0] order;
  /* verilator lint_off PINCONNECTEMPTY */
  nvs_fifo #(
    .Width(3 + IdWidth + 8 + WordWidth),
    .Depth(Outstanding)
  ) u_order (
    .clk_i,
    .rst_ni,
    .valid_i(request_valid && request_take),
    .ready_o(order_ready),
    .data_i ({request_kind, request_id, request_len, request_offset[MadeWidth-1:BeatShift]}),
    .valid_o(order_valid),
    .ready_i(order_pop),
    .data_o (order),
    .count_o()
  );
  /* verilator lint_on PINCONNECTEMPTY */
  nvs_skid #(
    .Width(3 + IdWidth + 8 + WordWidth)
  ) u_head (
    .clk_i,
    .rst_ni,
    .valid_i(order_valid),
    .ready_o(order_pop),
    .data_i (order),
    .valid_o(head_valid),
    .ready_i(head_pop),
    .data_o ({head_kind, head_id, head_len, head_word})
  );

  nvs_completer_answer #(
    .DataWidth (DataWidth),
    .ChunkPages(ChunkPages),
    .Slots     (Slots),
    .Entries   (Entries),
    .IdWidth   (IdWidth),
    .Drive     (Drive),
    .BusBase   (BusBase)
  ) u_answer (
    .clk_i,
    .rst_ni,
    .block_shift_i,
    .head_valid_i(head_valid),
    .head_pop_o  (head_pop),
    .head_kind_i (head_kind),
    .head_id_i   (head_id),
    .head_len_i  (head_len),
    .head_word_i (head_word),
    .s_r_valid_o,
    .s_r_ready_i,
    .s_r_id_o,
    .s_r_data_o,
    .s_r_last_o,
    .m_r_valid_i,
    .m_r_ready_o,
    .m_r_data_i,
    .record_index_o,
    .record_flush_i,
    .record_slot_i,
    .record_lba_i,
    .record_blocks_i,
    .admin_opcode_i,
    .admin_nsid_i,
    .admin_prp1_i,
    .admin_cdw10_i,
    .admin_cdw11_i,
    .admin_cid_i,
    .error_o
  );

`ifdef FORMAL
  `include "formal/nvs_completer_read.svh"
`endif

endmodule
