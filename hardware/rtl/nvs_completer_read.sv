// What the drive reads of the core.
//
// Purpose: has reads decoded and those of the record half of the ring forwarded (nvs_completer_request), and keeps all of them in order for
// nvs_completer_answer.
//
// Interface:
//   dev_ar_*, dev_r_*  AXI4 read channels of the drive. INCR bursts of whole bus words within
//                  4 KiB; the first address may be unaligned
//   mem_ar_*, mem_r_*  AXI4 read channels of the ring memory; answers in request order
//   record_*       submission records of nvs_queues, direction 0 and 1; data one cycle after the index
//   admin_*        the admin submission entry that is made at present
//   pass_*         levels: the admin entry, the flush of recordings, is a command that is passed through; a bus word of that, by its number
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
  parameter  logic [31:0] Namespace   = 32'd1,
  parameter  int unsigned Outstanding = 16,
  localparam int unsigned PageWidth   = $clog2(ChunkPages),
  localparam int unsigned SlotWidth   = $clog2(Slots),
  localparam int unsigned IndexWidth  = $clog2(Entries),
  localparam int unsigned TagWidth    = IndexWidth - 1,
  localparam int unsigned RingWidth   = 1 + 2 + SlotWidth + PageWidth + 12
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,
  input  logic [3:0]              block_shift_i,

  input  logic                    dev_ar_valid_i,
  output logic                    dev_ar_ready_o,
  input  logic [IdWidth-1:0]      dev_ar_id_i,
  input  logic [39:0]             dev_ar_addr_i,
  input  logic [7:0]              dev_ar_len_i,
  input  logic                    dev_ar_whole_i,
  output logic                    dev_r_valid_o,
  input  logic                    dev_r_ready_i,
  output logic [IdWidth-1:0]      dev_r_id_o,
  output logic [DataWidth-1:0]    dev_r_data_o,
  output logic                    dev_r_last_o,

  output logic                    mem_ar_valid_o,
  input  logic                    mem_ar_ready_i,
  output logic [RingWidth-1:0]    mem_ar_addr_o,
  output logic [7:0]              mem_ar_len_o,
  input  logic                    mem_r_valid_i,
  output logic                    mem_r_ready_o,
  input  logic [DataWidth-1:0]    mem_r_data_i,

  output logic [2*IndexWidth-1:0] record_index_o,
  input  logic [1:0]              record_flush_i,
  input  logic [2*TagWidth-1:0]   record_tag_i,
  input  logic [2*SlotWidth-1:0]  record_slot_i,
  input  logic [2*PageWidth-1:0]  record_page_i,
  input  logic [2*64-1:0]         record_lba_i,
  input  logic [2*16-1:0]         record_blocks_i,

  input  logic [7:0]              admin_opcode_i,
  input  logic [31:0]             admin_nsid_i,
  input  logic [39:0]             admin_prp1_i,
  input  logic [31:0]             admin_cdw10_i,
  input  logic [31:0]             admin_cdw11_i,
  input  logic [15:0]             admin_cid_i,

  input  logic                    pass_admin_i,
  input  logic                    pass_flush_i,
  output logic [1:0]              pass_part_o,
  input  logic [DataWidth-1:0]    pass_word_i,

  output logic                    error_o
);

  localparam int unsigned BeatBytes   = DataWidth / 8;
  localparam int unsigned BeatShift   = $clog2(BeatBytes);
  localparam int unsigned ListWidth   = 1 + SlotWidth + PageWidth + 3;        // of all PRP lists
  localparam int unsigned MadeWidth   = ListWidth > 12 ? ListWidth : 12;      // inside a made area
  localparam int unsigned WordWidth   = MadeWidth - BeatShift;                // bus word inside a made area

  logic                   request_valid, order_ready;
  logic [2:0]             request_kind;
  logic [IdWidth-1:0]     request_id;
  logic [7:0]             request_len;
  logic [WordWidth-1:0]   request_word;
  nvs_completer_request #(
    .Write     (0),
    .DataWidth (DataWidth),
    .ChunkPages(ChunkPages),
    .Slots     (Slots),
    .IdWidth   (IdWidth),
    .Drive     (Drive)
  ) u_request (
    .clk_i,
    .rst_ni,
    .s_valid_i(dev_ar_valid_i),
    .s_ready_o(dev_ar_ready_o),
    .s_id_i   (dev_ar_id_i),
    .s_addr_i (dev_ar_addr_i),
    .s_len_i  (dev_ar_len_i),
    .s_whole_i(dev_ar_whole_i),
    .m_valid_o(mem_ar_valid_o),
    .m_ready_i(mem_ar_ready_i),
    .m_addr_o (mem_ar_addr_o),
    .m_len_o  (mem_ar_len_o),
    .next_valid_o (request_valid),
    .next_ready_i (order_ready),
    .next_kind_o  (request_kind),
    .next_id_o    (request_id),
    .next_len_o   (request_len),
    .next_word_o  (request_word)
  );

  // The order of the answers: a queue, the request behind the oldest one, and the oldest one.
  localparam int unsigned RequestWidth = 3 + IdWidth + 8 + WordWidth;
  logic                    order_valid, next_ready, next_valid_q, head_valid_q, head_ready, head_pop;
  logic [RequestWidth-1:0] order, next_q;
  logic [2+IdWidth:0]      head_q;  // kind and identifier; nvs_completer_answer counts its words
  /* verilator lint_off PINCONNECTEMPTY */
  nvs_fifo #(
    .Width(RequestWidth),
    .Depth(Outstanding)
  ) u_order (
    .clk_i,
    .rst_ni,
    .valid_i(request_valid),
    .ready_o(order_ready),
    .data_i ({request_kind, request_id, request_len, request_word}),
    .valid_o(order_valid),
    .ready_i(next_ready),
    .data_o (order),
    .count_o()
  );
  /* verilator lint_on PINCONNECTEMPTY */
  assign head_ready = !head_valid_q || head_pop;
  assign next_ready = !next_valid_q || head_ready;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      next_valid_q <= 1'b0;
      head_valid_q <= 1'b0;
    end else begin
      if (next_ready) next_valid_q <= order_valid;
      if (head_ready) head_valid_q <= next_valid_q;
    end
  end
  always_ff @(posedge clk_i) begin
    if (next_ready) next_q <= order;
    if (head_ready) head_q <= next_q[RequestWidth-1 -: 3+IdWidth];
  end

  nvs_completer_answer #(
    .DataWidth (DataWidth),
    .ChunkPages(ChunkPages),
    .Slots     (Slots),
    .Entries   (Entries),
    .IdWidth   (IdWidth),
    .Drive     (Drive),
    .BusBase   (BusBase),
    .Namespace (Namespace)
  ) u_answer (
    .*,  // dev_*, mem_*, record_*, admin_*, pass_*
    .next_valid_i(next_valid_q),
    .next_kind_i (next_q[RequestWidth-1 -: 3]),
    .next_len_i  (next_q[WordWidth +: 8]),
    .next_word_i (next_q[WordWidth-1:0]),
    .head_valid_i(head_valid_q),
    .head_pop_o  (head_pop),
    .head_kind_i (head_q[IdWidth +: 3]),
    .head_id_i   (head_q[IdWidth-1:0])
  );

`ifdef FORMAL
  `include "formal/nvs_completer_read.svh"
`endif

endmodule
