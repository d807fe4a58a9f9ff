// What the drive writes to the core.
//
// Purpose: forwards writes of the replay half of the ring to memory; takes completion entries and Identify data out of the words as they
// pass; ignores everything else. A completion does not overtake its data: entries and answers wait in one queue, in the order of the
// writes, and a ring write leaves it when memory has acknowledged it.
//
// Interface:
//   clear_i        completions that are held back are dropped; the answers to their writes are not
//   dev_aw_*, dev_w_*, dev_b_*  AXI4 write channels of the drive. INCR bursts of whole bus words
//                  within 4 KiB; the first address may be unaligned; strobes select the bytes
//   mem_aw_*, mem_w_*  AXI4 write channels of the ring memory; `mem_b_valid_i`: a burst is acknowledged
//   cqe_*, admin_cqe_*  completion entry, one cycle
//   identify_*     word of Identify data, one cycle
//   error_o        pulse: a write that ran outside of what may be written, or a part of a completion entry, was ignored
//
// Invariants, proven in formal/nvs_completer_write.svh:
//   - a write of the own drive's replay ring is forwarded once, with its address, length and words; no other write is;
//   - every completion entry is given on once, in order, and after every ring write before it was acknowledged;
//   - every write is answered once, in order, a ring write after its acknowledgement.
//
// Ring words pass in every cycle, across bursts. Another word stays for one cycle, or one cycle per completion entry in it.

module nvs_completer_write #(
  parameter  int unsigned DataWidth   = 128,
  parameter  int unsigned ChunkPages  = 32,
  parameter  int unsigned Slots       = 32,
  parameter  int unsigned Entries     = 64,
  parameter  int unsigned IdWidth     = 4,
  parameter  int unsigned Drive       = 0,
  parameter  int unsigned Outstanding = 16,  // answers and completions that are held back, together
  localparam int unsigned BeatBytes   = DataWidth / 8,
  localparam int unsigned PageWidth   = $clog2(ChunkPages),
  localparam int unsigned SlotWidth   = $clog2(Slots),
  localparam int unsigned IndexWidth  = $clog2(Entries),
  localparam int unsigned RingWidth   = 1 + 2 + SlotWidth + PageWidth + 12
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  clear_i,

  input  logic                  dev_aw_valid_i,
  output logic                  dev_aw_ready_o,
  input  logic [IdWidth-1:0]    dev_aw_id_i,
  input  logic [39:0]           dev_aw_addr_i,
  input  logic [7:0]            dev_aw_len_i,
  input  logic                  dev_aw_whole_i,
  input  logic                  dev_w_valid_i,
  output logic                  dev_w_ready_o,
  input  logic [DataWidth-1:0]  dev_w_data_i,
  input  logic [BeatBytes-1:0]  dev_w_strb_i,
  input  logic                  dev_w_last_i,
  output logic                  dev_b_valid_o,
  input  logic                  dev_b_ready_i,
  output logic [IdWidth-1:0]    dev_b_id_o,

  output logic                  mem_aw_valid_o,
  input  logic                  mem_aw_ready_i,
  output logic [RingWidth-1:0]  mem_aw_addr_o,
  output logic [7:0]            mem_aw_len_o,
  output logic                  mem_w_valid_o,
  input  logic                  mem_w_ready_i,
  output logic [DataWidth-1:0]  mem_w_data_o,
  output logic [BeatBytes-1:0]  mem_w_strb_o,
  output logic                  mem_w_last_o,
  input  logic                  mem_b_valid_i,

  output logic [1:0]            cqe_valid_o,
  output logic [IndexWidth-1:0] cqe_index_o,
  output logic                  cqe_phase_o,
  output logic [15:0]           cqe_cid_o,
  output logic [14:0]           cqe_status_o,
  output logic                  admin_cqe_valid_o,
  output logic                  admin_cqe_phase_o,
  output logic                  admin_cqe_index_o,
  output logic [15:0]           admin_cqe_cid_o,
  output logic [14:0]           admin_cqe_status_o,
  output logic [31:0]           admin_cqe_dw0_o,

  output logic                  identify_valid_o,
  output logic [11:0]           identify_addr_o,
  output logic [DataWidth-1:0]  identify_data_o,
  output logic [BeatBytes-1:0]  identify_strb_o,

  output logic                  error_o
);

  localparam int unsigned BeatShift   = $clog2(BeatBytes);
  localparam int unsigned WordWidth   = 12 - BeatShift;              // a word's number in its page
  localparam int unsigned Lanes       = BeatBytes / 16;              // completion entries in one word
  localparam int unsigned LaneShift   = $clog2(Lanes);
  localparam int unsigned CountWidth  = $clog2(Outstanding) + 1;

  // What a write goes to, as in nvs_completer_request.
  localparam logic [2:0] KindNone     = 3'd0;
  localparam logic [2:0] KindRing     = 3'd1;
  localparam logic [2:0] KindIdentify = 3'd2;
  localparam logic [2:0] KindAdmin    = 3'd4;  // completion queues: bit 2; 5 record, 6 replay

  // Addresses: forwarded to memory if they are for it, and put into the order of the bursts.
  logic                   request_valid, burst_ready;
  logic [2:0]             request_kind;
  logic [IdWidth-1:0]     request_id;
  logic [WordWidth-1:0]   request_word;
  /* verilator lint_off PINCONNECTEMPTY */
  nvs_completer_request #(
    .Write     (1),
    .DataWidth (DataWidth),
    .ChunkPages(ChunkPages),
    .Slots     (Slots),
    .IdWidth   (IdWidth),
    .Drive     (Drive)
  ) u_request (
    .clk_i,
    .rst_ni,
    .s_valid_i(dev_aw_valid_i),
    .s_ready_o(dev_aw_ready_o),
    .s_id_i   (dev_aw_id_i),
    .s_addr_i (dev_aw_addr_i),
    .s_len_i  (dev_aw_len_i),
    .s_whole_i(dev_aw_whole_i),
    .m_valid_o(mem_aw_valid_o),
    .m_ready_i(mem_aw_ready_i),
    .m_addr_o (mem_aw_addr_o),
    .m_len_o  (mem_aw_len_o),
    .next_valid_o (request_valid),
    .next_ready_i (burst_ready),
    .next_kind_o  (request_kind),
    .next_id_o    (request_id),
    .next_len_o   (),
    .next_word_o  (request_word)
  );
  /* verilator lint_on PINCONNECTEMPTY */

  logic                 burst_valid, burst_pop, burst_ring;
  logic [2:0]           burst_kind;
  logic [IdWidth-1:0]   burst_id;
  logic [WordWidth-1:0] burst_word;
  nvs_skid #(
    .Width(3 + IdWidth + WordWidth)
  ) u_burst (
    .clk_i,
    .rst_ni,
    .valid_i(request_valid),
    .ready_o(burst_ready),
    .data_i ({request_kind, request_id, request_word}),
    .valid_o(burst_valid),
    .ready_i(burst_pop),
    .data_o ({burst_kind, burst_id, burst_word})
  );
  assign burst_ring = burst_kind == KindRing;

  // Words: to memory, or into a register to be taken apart. Both need room in the order of the answers, and the register to be empty.
  logic                 word_valid_q, order_ready, take, take_ring, take_word;
  logic [WordWidth-1:0] beat_q, word;
  assign dev_w_ready_o = burst_valid && !word_valid_q && order_ready && (!burst_ring || mem_w_ready_i);
  assign take        = dev_w_valid_i && dev_w_ready_o;
  assign take_ring   = take && burst_ring;
  assign take_word   = take && !burst_ring;
  assign burst_pop   = take && dev_w_last_i;
  assign word        = burst_word + beat_q;

  assign mem_w_valid_o = dev_w_valid_i && burst_valid && burst_ring && !word_valid_q && order_ready;
  assign mem_w_data_o  = dev_w_data_i;
  assign mem_w_strb_o  = dev_w_strb_i;
  assign mem_w_last_o  = dev_w_last_i;

  // Completion entries of the word: whole ones inside the queue count.
  logic [Lanes-1:0] lane_inside, lane_any, lane_all;
  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    logic [7:0] place;  // in its page, in entries
    assign place = (8'(word) << LaneShift) | 8'(l);
    assign lane_inside[l] = burst_kind[2] && (burst_kind == KindAdmin ? place[7:1] == '0 : (place >> IndexWidth) == '0);
    assign lane_any[l]    = |dev_w_strb_i[16*l +: 16];
    assign lane_all[l]    = &dev_w_strb_i[16*l +: 16];
  end

  logic [2:0]           word_kind_q;
  logic [IdWidth-1:0]   word_id_q;
  logic [WordWidth-1:0] word_q;
  logic                 word_last_q, outside_q;
  logic [DataWidth-1:0] word_data_q;
  logic [BeatBytes-1:0] word_strb_q;
  logic [Lanes-1:0]     lanes_q;    // entries that are still to be taken out

  // Lowest entry that is left.
  logic [Lanes-1:0]      lane, lanes_left;
  logic                  entry_valid;
  logic [31:0]           entry_dw0, entry_dw3;
  logic [IndexWidth-1:0] entry_index;
  assign lane        = lanes_q & (~lanes_q + 1'b1);
  assign lanes_left  = lanes_q & ~lane;
  assign entry_valid = lanes_q != '0;
  always_comb begin
    entry_dw0   = '0;
    entry_dw3   = '0;
    entry_index = IndexWidth'(word_q) << LaneShift;
    for (int unsigned l = 0; l < Lanes; l++) begin
      if (lane[l]) begin
        entry_dw0   = entry_dw0 | word_data_q[128*l +: 32];
        entry_dw3   = entry_dw3 | word_data_q[128*l + 96 +: 32];
        entry_index = entry_index | IndexWidth'(l);
      end
    end
  end

  // Order of answers and completions. A token is a ring write, a completion entry, the end of another write, or an entry and the end.
  logic                   token_push, token_ring, token_answer, word_done;
  logic                   head_valid, head_pop, head_ring, head_answer, answer_ready;
  logic [IdWidth-1:0]     head_id;
  logic                   head_entry;
  logic [1:0]             head_queue;
  logic [31:0]            head_dw0, head_dw3;
  logic [IndexWidth-1:0]  head_index;
  logic [CountWidth-1:0]  order_count;
  assign word_done    = word_valid_q && lanes_left == '0 && order_ready;
  assign token_ring   = take_ring && dev_w_last_i;
  assign token_answer = word_last_q && lanes_left == '0;
  assign token_push   = token_ring || (word_valid_q && (entry_valid || word_last_q));
  nvs_fifo #(
    .Width(2 + IdWidth + 1 + 2 + IndexWidth + 64),
    .Depth(Outstanding)
  ) u_order (
    .clk_i,
    .rst_ni,
    .valid_i(token_push),
    .ready_o(order_ready),
    .data_i ({!word_valid_q, !word_valid_q || token_answer, word_valid_q ? word_id_q : burst_id,
              word_valid_q && entry_valid, word_kind_q[1:0], entry_index, entry_dw0, entry_dw3}),
    .valid_o(head_valid),
    .ready_i(head_pop),
    .data_o ({head_ring, head_answer, head_id, head_entry, head_queue, head_index, head_dw0, head_dw3}),
    .count_o(order_count)
  );

  // Acknowledgements of memory that no ring write in the order has used yet.
  logic [CountWidth-1:0] acknowledged_q, dropped_q;
  logic                  cleared_q, dropped_any_q;  // clear_i in the cycle before; dropped_q is not 0
  assign head_pop = head_valid && (!head_ring || acknowledged_q != '0) && (!head_answer || answer_ready);

  /* verilator lint_off PINCONNECTEMPTY */
  nvs_fifo #(
    .Width(IdWidth),
    .Depth(2)
  ) u_answer (
    .clk_i,
    .rst_ni,
    .valid_i(head_pop && head_answer),
    .ready_o(answer_ready),
    .data_i (head_id),
    .valid_o(dev_b_valid_o),
    .ready_i(dev_b_ready_i),
    .data_o (dev_b_id_o),
    .count_o()
  );
  /* verilator lint_on PINCONNECTEMPTY */

  // Completion entries. Those that were in the order when `clear_i` came are dropped.
  logic give;
  assign give               = head_pop && head_entry && !dropped_any_q && !clear_i && !cleared_q;
  assign cqe_valid_o        = {2{give}} & head_queue;
  assign cqe_index_o        = head_index;
  assign cqe_phase_o        = head_dw3[16];
  assign cqe_cid_o          = head_dw3[15:0];
  assign cqe_status_o       = head_dw3[31:17];
  assign admin_cqe_valid_o  = give && head_queue == '0;
  assign admin_cqe_phase_o  = head_dw3[16];
  assign admin_cqe_index_o  = head_index[0];
  assign admin_cqe_cid_o    = head_dw3[15:0];
  assign admin_cqe_status_o = head_dw3[31:17];
  assign admin_cqe_dw0_o    = head_dw0;

  assign identify_valid_o = word_done && word_kind_q == KindIdentify;
  assign identify_addr_o  = {word_q, BeatShift'(0)};
  assign identify_data_o  = word_data_q;
  assign identify_strb_o  = word_strb_q;

  logic outside;  // the word that is taken
  assign outside = burst_kind == KindNone || (burst_kind[2] && |((lane_any & ~lane_all) | (lane_any & ~lane_inside)));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      beat_q         <= '0;
      word_valid_q   <= 1'b0;
      lanes_q        <= '0;
      outside_q      <= 1'b0;
      error_o        <= 1'b0;
      acknowledged_q <= '0;
      dropped_q      <= '0;
      dropped_any_q  <= 1'b0;
      cleared_q      <= 1'b0;
    end else begin
      if (take) beat_q <= dev_w_last_i ? '0 : beat_q + 1'b1;

      if (take_word) begin
        word_valid_q <= 1'b1;
        lanes_q      <= clear_i ? '0 : lane_all & lane_inside;
        outside_q    <= (outside_q || outside) && !dev_w_last_i;
      end else if (word_valid_q && order_ready) begin
        word_valid_q <= !word_done;
        lanes_q      <= clear_i ? '0 : lanes_left;
      end else if (clear_i) begin
        lanes_q      <= '0;
      end
      error_o <= take_word && dev_w_last_i && (outside_q || outside);

      acknowledged_q <= acknowledged_q + CountWidth'(mem_b_valid_i) - CountWidth'(head_pop && head_ring);
      // What the order has in the cycle after clear_i came before it, or is the end of a write without an entry.
      cleared_q <= clear_i;
      if (cleared_q) begin
        dropped_q     <= order_count - CountWidth'(head_pop);
        dropped_any_q <= order_count != CountWidth'(head_pop);
      end else if (head_pop && dropped_any_q) begin
        dropped_q     <= dropped_q - 1'b1;
        dropped_any_q <= dropped_q != CountWidth'(1);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (take_word) begin
      word_kind_q <= burst_kind;
      word_id_q   <= burst_id;
      word_q      <= word;
      word_last_q <= dev_w_last_i;
      word_data_q <= dev_w_data_i;
      word_strb_q <= dev_w_strb_i;
    end
  end

`ifdef FORMAL
  `include "formal/nvs_completer_write.svh"
`endif

endmodule
