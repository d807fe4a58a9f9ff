// Everything that belongs to one drive: sequencer, register access, what the drive reads and writes, and its two queue pairs.
//
// Purpose: joins nvs_init, nvs_requester, nvs_completer, nvs_passthrough and, per direction, nvs_split and nvs_queues. No logic of its own
// but counters and the form of registers.
//
// Interface: vectors of two are per direction, 0 record, 1 replay. `dev_*`, `bar_*`: see nvs_core. `mem_*`: this drive's master of nvs_memory.
//   protocol_error_o  pulse: the drive broke the protocol (wrong phase, unknown command identifier, access outside its memory); completions
//                     count only while ready_o is set
//   late_i            pulse: a command is late; the drive is brought up again, as one that is lost (nvs_init)
//   control_*         its register CONTROL. Bit 0: it is brought up again, after PERST# and a hot reset
//   link_o ... lost_o, oldest_us_o   its registers; bits of LOST are kept until bit 2 of CONTROL
//   pass_*            a command of the software, see nvs_passthrough; pass_allowed_i: no session runs. ready_o is low while it is under way
//   pass_result_o     dword 0 of its completion

module nvs_drive #(
  parameter  int unsigned DataWidth  = 128,
  parameter  int unsigned ChunkPages = 32,
  parameter  int unsigned Slots      = 32,
  parameter  int unsigned Entries    = 64,
  parameter  int unsigned IdWidth    = 4,
  parameter  int unsigned Drive      = 0,
  parameter  logic [63:0] BusBase    = 64'h0,
  parameter  logic [31:0] Namespace  = 32'd1,
  parameter  int unsigned UnitShift    = 19,
  parameter  int unsigned SettleShift  = 0,
  parameter  int unsigned ResetShift   = 10,
  parameter  int unsigned PollShift    = 10,
  parameter  int unsigned TimeoutTicks = 50000,
  localparam int unsigned BeatBytes  = DataWidth / 8,
  localparam int unsigned PageWidth  = $clog2(ChunkPages),
  localparam int unsigned SlotWidth  = $clog2(Slots),
  localparam int unsigned IndexWidth = $clog2(Entries),
  localparam int unsigned TagWidth   = IndexWidth - 1,
  localparam int unsigned RingWidth  = 1 + 2 + SlotWidth + $clog2(ChunkPages) + 12
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   tick_i,
  input  logic                   link_up_i,
  input  logic [3:0]             link_speed_i,
  input  logic [7:0]             link_width_i,

  input  logic                   late_i,
  input  logic                   control_valid_i,
  input  logic [3:0]             control_i,
  output logic                   ready_o,
  output logic [63:0]            media_blocks_o,
  output logic [3:0]             block_shift_o,
  output logic [31:0]            link_o,
  output logic [63:0]            media_bytes_o,
  output logic [31:0]            block_bytes_o,
  output logic [31:0]            max_transfer_o,
  output logic [63:0]            cap_o,
  output logic [31:0]            sequencer_o,
  output logic                   perst_o,
  output logic [31:0]            lost_o,
  output logic                   irq_lost_o,
  output logic [31:0]            commands_o,
  output logic [31:0]            doorbells_o,
  output logic [31:0]            protocol_errors_o,
  output logic                   protocol_error_o,

  input  logic [7:0]             pass_dword_valid_i,
  input  logic [31:0]            pass_dword_i,
  input  logic                   pass_allowed_i,
  output logic [31:0]            pass_status_o,
  output logic [31:0]            pass_result_o,

  input  logic [1:0]             rewind_i,
  input  logic [1:0]             cmd_valid_i,
  output logic [1:0]             cmd_ready_o,
  input  logic [1:0]             cmd_flush_i,
  input  logic [127:0]           cmd_lba_i,
  input  logic [31:0]            cmd_blocks_i,
  output logic [1:0]             retire_valid_o,
  input  logic [1:0]             retire_ready_i,
  output logic [1:0]             retire_flush_o,
  output logic [2*SlotWidth-1:0] retire_slot_o,
  output logic [2*PageWidth-1:0] retire_page_o,
  output logic [29:0]            retire_status_o,
  output logic [1:0]             retire_failed_o,
  input  logic [1:0]             release_i,
  output logic [1:0]             idle_o,
  input  logic [31:0]            timeout_us_i,
  output logic [31:0]            oldest_us_o,
  output logic [1:0]             late_o,

  input  logic                   dev_aw_valid_i,
  output logic                   dev_aw_ready_o,
  input  logic [IdWidth-1:0]     dev_aw_id_i,
  input  logic [39:0]            dev_aw_addr_i,
  input  logic [7:0]             dev_aw_len_i,
  input  logic [2:0]             dev_aw_size_i,
  input  logic [1:0]             dev_aw_burst_i,
  input  logic                   dev_w_valid_i,
  output logic                   dev_w_ready_o,
  input  logic [DataWidth-1:0]   dev_w_data_i,
  input  logic [BeatBytes-1:0]   dev_w_strb_i,
  input  logic                   dev_w_last_i,
  output logic                   dev_b_valid_o,
  input  logic                   dev_b_ready_i,
  output logic [IdWidth-1:0]     dev_b_id_o,
  input  logic                   dev_ar_valid_i,
  output logic                   dev_ar_ready_o,
  input  logic [IdWidth-1:0]     dev_ar_id_i,
  input  logic [39:0]            dev_ar_addr_i,
  input  logic [7:0]             dev_ar_len_i,
  input  logic [2:0]             dev_ar_size_i,
  input  logic [1:0]             dev_ar_burst_i,
  output logic                   dev_r_valid_o,
  input  logic                   dev_r_ready_i,
  output logic [IdWidth-1:0]     dev_r_id_o,
  output logic [DataWidth-1:0]   dev_r_data_o,
  output logic                   dev_r_last_o,

  output logic                   bar_aw_valid_o,
  input  logic                   bar_aw_ready_i,
  output logic [31:0]            bar_aw_addr_o,
  output logic                   bar_w_valid_o,
  input  logic                   bar_w_ready_i,
  output logic [31:0]            bar_w_data_o,
  input  logic                   bar_b_valid_i,
  output logic                   bar_b_ready_o,
  input  logic                   bar_b_error_i,
  output logic                   bar_ar_valid_o,
  input  logic                   bar_ar_ready_i,
  output logic [31:0]            bar_ar_addr_o,
  input  logic                   bar_r_valid_i,
  output logic                   bar_r_ready_o,
  input  logic [31:0]            bar_r_data_i,
  input  logic                   bar_r_error_i,

  output logic                   mem_aw_valid_o,
  input  logic                   mem_aw_ready_i,
  output logic [RingWidth-1:0]   mem_aw_addr_o,
  output logic [7:0]             mem_aw_len_o,
  output logic                   mem_w_valid_o,
  input  logic                   mem_w_ready_i,
  output logic [DataWidth-1:0]   mem_w_data_o,
  output logic [BeatBytes-1:0]   mem_w_strb_o,
  output logic                   mem_w_last_o,
  input  logic                   mem_b_valid_i,
  output logic                   mem_ar_valid_o,
  input  logic                   mem_ar_ready_i,
  output logic [RingWidth-1:0]   mem_ar_addr_o,
  output logic [7:0]             mem_ar_len_o,
  input  logic                   mem_r_valid_i,
  output logic                   mem_r_ready_o,
  input  logic [DataWidth-1:0]   mem_r_data_i,
  input  logic                   mem_r_last_i
);

  // Bits of its CONTROL. A restart ends the shutdown.
  logic reset, shutdown_q;
  assign reset = control_valid_i && control_i[0];
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) shutdown_q <= 1'b0;
    else if (control_valid_i && control_i[1:0] != '0) shutdown_q <= !control_i[0];
  end

  // Its other registers.
  logic [15:0] max_transfer_pages;
  logic [63:0] ages;  // of both directions
  logic [4:0]  lost_q;
  assign link_o         = {16'b0, link_width_i, link_speed_i, 3'b0, link_up_i};
  assign media_bytes_o  = media_blocks_o << (block_shift_o == 4'd12 ? 12 : 9);
  assign block_bytes_o  = block_shift_o == 4'd12 ? 32'd4096 : 32'd512;
  assign max_transfer_o = {4'b0, max_transfer_pages, 12'b0};
  assign lost_o         = {27'b0, lost_q};
  assign irq_lost_o     = lost_q != '0;
  assign oldest_us_o    = ages[31:0] > ages[63:32] ? ages[31:0] : ages[63:32];

  // Sequencer and register access.
  logic [3:0]  lost;
  logic        ready, pass_late;
  logic        req_valid, req_ready, req_write, rsp_valid, rsp_error, doorbells_enable, doorbell_error, clear;
  logic [31:0] req_addr, req_data, rsp_data;
  logic [3:0]  doorbell_stride;
  logic [1:0]  sq_db_valid, sq_db_ready, cq_db_valid, cq_db_ready;
  logic [2*IndexWidth-1:0] sq_db_value, cq_db_value;

  logic [7:0]  admin_opcode;
  logic [31:0] admin_nsid, admin_cdw10, admin_cdw11, admin_cqe_dw0;
  logic [39:0] admin_prp1;
  logic [15:0] admin_cid, admin_cqe_cid;
  logic        admin_cqe_valid, admin_cqe_phase, admin_cqe_index;
  logic [14:0] admin_cqe_status;
  logic                 identify_valid;
  logic [11:0]          identify_addr;
  logic [DataWidth-1:0] identify_data;
  logic [BeatBytes-1:0] identify_strb;

  // A command of the software. While it is under way, no session begins.
  logic                 pass_busy, pass_admin, pass_admin_busy, pass_admin_done, pass_admin_entry, pass_io, pass_io_entry;
  logic [1:0]           pass_part, split_ready;
  logic [DataWidth-1:0] pass_word;
  nvs_passthrough #(
    .DataWidth(DataWidth),
    .Entries(Entries),
    .Drive(Drive),
    .RingWidth(RingWidth),
    .BusBase(BusBase)
  ) u_passthrough (
    .clk_i,
    .rst_ni,
    .dword_valid_i(pass_dword_valid_i),
    .dword_i      (pass_dword_i),
    .go_i         (control_valid_i && control_i[3]),
    .allowed_i    (pass_allowed_i),
    .ready_i      (ready),
    .busy_o       (pass_busy),
    .admin_o      (pass_admin),
    .admin_busy_i (pass_admin_busy),
    .admin_done_i (pass_admin_done),
    .admin_cid_i  (admin_cid),
    .io_valid_o   (pass_io),
    .io_ready_i   (split_ready[0]),
    .io_done_i    (retire_valid_o[0] && retire_flush_o[0]),
    .status_i     (admin_cqe_status),
    .admin_entry_o(pass_admin_entry),
    .io_entry_o   (pass_io_entry),
    .part_i       (pass_part),
    .word_o       (pass_word),
    .status_o     (pass_status_o)
  );
  assign pass_result_o = admin_cqe_dw0;
  assign ready_o       = ready && !pass_busy;
  assign cmd_ready_o   = split_ready;

  nvs_init #(
    .DataWidth(DataWidth),
    .Entries(Entries),
    .BusBase(BusBase),
    .Namespace(Namespace),
    .UnitShift(UnitShift),
    .SettleShift(SettleShift),
    .ResetShift(ResetShift),
    .PollShift(PollShift)
  ) u_init (
    .*,  // its state, as the ports of this module
    .reset_i(reset),
    .shutdown_i(shutdown_q),
    .max_transfer_pages_o(max_transfer_pages),
    .restart_i(late_i || pass_late || doorbell_error),
    .lost_o(lost),
    .ready_o(ready),
    .pass_i     (pass_admin),
    .pass_busy_o(pass_admin_busy),
    .pass_done_o(pass_admin_done),
    .req_valid_o(req_valid),
    .req_ready_i(req_ready),
    .req_write_o(req_write),
    .req_addr_o (req_addr),
    .req_data_o (req_data),
    .rsp_valid_i(rsp_valid),
    .rsp_data_i (rsp_data),
    .rsp_error_i(rsp_error),
    .admin_opcode_o(admin_opcode),
    .admin_nsid_o  (admin_nsid),
    .admin_prp1_o  (admin_prp1),
    .admin_cdw10_o (admin_cdw10),
    .admin_cdw11_o (admin_cdw11),
    .admin_cid_o   (admin_cid),
    .admin_cqe_valid_i (admin_cqe_valid),
    .admin_cqe_phase_i (admin_cqe_phase),
    .admin_cqe_index_i (admin_cqe_index),
    .admin_cqe_cid_i   (admin_cqe_cid),
    .admin_cqe_status_i(admin_cqe_status),
    .admin_cqe_dw0_i   (admin_cqe_dw0),
    .identify_valid_i(identify_valid),
    .identify_addr_i (identify_addr),
    .identify_data_i (identify_data),
    .identify_strb_i (identify_strb),
    .clear_o(clear),
    .doorbells_enable_o(doorbells_enable),
    .doorbell_stride_o (doorbell_stride)
  );

  nvs_requester #(
    .Entries(Entries),
    .TimeoutTicks(TimeoutTicks)
  ) u_requester (
    .*,  // bar_*
    .req_valid_i(req_valid),
    .req_ready_o(req_ready),
    .req_write_i(req_write),
    .req_addr_i (req_addr),
    .req_data_i (req_data),
    .rsp_valid_o(rsp_valid),
    .rsp_data_o (rsp_data),
    .rsp_error_o(rsp_error),
    .doorbells_enable_i(doorbells_enable),
    .doorbell_stride_i (doorbell_stride),
    .sq_db_valid_i(sq_db_valid),
    .sq_db_ready_o(sq_db_ready),
    .sq_db_value_i(sq_db_value),
    .cq_db_valid_i(cq_db_valid),
    .cq_db_ready_o(cq_db_ready),
    .cq_db_value_i(cq_db_value),
    .doorbell_error_o(doorbell_error)
  );

  // Whether a burst of a drive is one of whole bus words at consecutive addresses: a single beat is, whatever its size.
  function automatic logic is_whole(input logic [7:0] len, input logic [2:0] size, input logic [1:0] burst);
    is_whole = len == '0 || (size == 3'($clog2(BeatBytes)) && burst == 2'b01) || {size, burst} == '0;
  endfunction

  // What the drive reads and writes.
  logic [2*IndexWidth-1:0] record_index;
  logic [1:0]              record_flush;
  logic [2*TagWidth-1:0]   record_tag;
  logic [2*SlotWidth-1:0]  record_slot;
  logic [2*PageWidth-1:0]  record_page;
  logic [127:0]            record_lba;
  logic [31:0]             record_blocks;
  logic [1:0]              cqe_valid;
  logic [IndexWidth-1:0]   cqe_index;
  logic                    cqe_phase;
  logic [15:0]             cqe_cid;
  logic [14:0]             cqe_status;
  logic                    access_error;

  nvs_completer #(
    .DataWidth(DataWidth),
    .ChunkPages(ChunkPages),
    .Slots(Slots),
    .Entries(Entries),
    .IdWidth(IdWidth),
    .Drive(Drive),
    .BusBase(BusBase),
    .Namespace(Namespace)
  ) u_completer (
    .*,  // dev_*, mem_*
    .dev_aw_whole_i(is_whole(dev_aw_len_i, dev_aw_size_i, dev_aw_burst_i)),
    .dev_ar_whole_i(is_whole(dev_ar_len_i, dev_ar_size_i, dev_ar_burst_i)),
    .clear_i(clear),
    .block_shift_i(block_shift_o),
    .record_index_o (record_index),
    .record_flush_i (record_flush),
    .record_tag_i   (record_tag),
    .record_slot_i  (record_slot),
    .record_page_i  (record_page),
    .record_lba_i   (record_lba),
    .record_blocks_i(record_blocks),
    .pass_admin_i(pass_admin_entry),
    .pass_flush_i(pass_io_entry),
    .pass_part_o (pass_part),
    .pass_word_i (pass_word),
    .admin_opcode_i(admin_opcode),
    .admin_nsid_i  (admin_nsid),
    .admin_prp1_i  (admin_prp1),
    .admin_cdw10_i (admin_cdw10),
    .admin_cdw11_i (admin_cdw11),
    .admin_cid_i   (admin_cid),
    .cqe_valid_o (cqe_valid),
    .cqe_index_o (cqe_index),
    .cqe_phase_o (cqe_phase),
    .cqe_cid_o   (cqe_cid),
    .cqe_status_o(cqe_status),
    .admin_cqe_valid_o (admin_cqe_valid),
    .admin_cqe_phase_o (admin_cqe_phase),
    .admin_cqe_index_o (admin_cqe_index),
    .admin_cqe_cid_o   (admin_cqe_cid),
    .admin_cqe_status_o(admin_cqe_status),
    .admin_cqe_dw0_o   (admin_cqe_dw0),
    .identify_valid_o(identify_valid),
    .identify_addr_o (identify_addr),
    .identify_data_o (identify_data),
    .identify_strb_o (identify_strb),
    .protocol_error_o(access_error)
  );

  // The queue pairs.
  logic [1:0] queue_error, part_valid, part_ready;
  logic [1:0] accepted_q;
  logic       access_error_q, queue_error_q;
  for (genvar i = 0; i < 2; i++) begin : gen_queues
    logic                 part_flush, part_last, done_valid, done_ready, done_flush, done_last, done_failed, done_idle;
    logic [63:0]          part_lba;
    logic [15:0]          part_blocks;
    logic [SlotWidth-1:0] part_slot;
    logic [PageWidth-1:0] part_page, done_page;
    logic [14:0]          done_status;
    nvs_split #(
      .ChunkPages(ChunkPages),
      .Slots(Slots)
    ) u_split (
      .clk_i,
      .rst_ni,
      .clear_i (clear),
      .enable_i(ready),
      .rewind_i(rewind_i[i]),
      .block_shift_i(block_shift_o),
      .max_pages_i  (max_transfer_pages),
      .cmd_valid_i (cmd_valid_i[i] || (i == 0 && pass_io)),
      .cmd_ready_o (split_ready[i]),
      .cmd_flush_i (cmd_flush_i[i] || (i == 0 && pass_io)),
      .cmd_lba_i   (cmd_lba_i[64*i +: 64]),
      .cmd_blocks_i(cmd_blocks_i[16*i +: 16]),
      .retire_valid_o (retire_valid_o[i]),
      .retire_ready_i (retire_ready_i[i]),
      .retire_flush_o (retire_flush_o[i]),
      .retire_slot_o  (retire_slot_o[SlotWidth*i +: SlotWidth]),
      .retire_page_o  (retire_page_o[PageWidth*i +: PageWidth]),
      .retire_status_o(retire_status_o[15*i +: 15]),
      .retire_failed_o(retire_failed_o[i]),
      .release_i(release_i[i]),
      .idle_o   (idle_o[i]),
      .part_valid_o (part_valid[i]),
      .part_ready_i (part_ready[i]),
      .part_flush_o (part_flush),
      .part_lba_o   (part_lba),
      .part_blocks_o(part_blocks),
      .part_slot_o  (part_slot),
      .part_page_o  (part_page),
      .part_last_o  (part_last),
      .done_valid_i (done_valid),
      .done_ready_o (done_ready),
      .done_flush_i (done_flush),
      .done_last_i  (done_last),
      .done_page_i  (done_page),
      .done_status_i(done_status),
      .done_failed_i(done_failed),
      .done_idle_i  (done_idle)
    );
    nvs_queues #(
      .ChunkPages(ChunkPages),
      .Slots(Slots),
      .Entries(Entries),
      .HeadBatch(Entries < 16 ? Entries / 2 : 8)
    ) u_queues (
      .clk_i,
      .rst_ni,
      .tick_i,
      .clear_i (clear),
      .cmd_valid_i (part_valid[i]),
      .cmd_ready_o (part_ready[i]),
      .cmd_flush_i (part_flush),
      .cmd_lba_i   (part_lba),
      .cmd_blocks_i(part_blocks),
      .cmd_slot_i  (part_slot),
      .cmd_page_i  (part_page),
      .cmd_last_i  (part_last),
      .record_index_i (record_index[IndexWidth*i +: IndexWidth]),
      .record_flush_o (record_flush[i]),
      .record_tag_o   (record_tag[TagWidth*i +: TagWidth]),
      .record_slot_o  (record_slot[SlotWidth*i +: SlotWidth]),
      .record_page_o  (record_page[PageWidth*i +: PageWidth]),
      .record_lba_o   (record_lba[64*i +: 64]),
      .record_blocks_o(record_blocks[16*i +: 16]),
      .cqe_valid_i (cqe_valid[i]),
      .cqe_index_i (cqe_index),
      .cqe_phase_i (cqe_phase),
      .cqe_cid_i   (cqe_cid),
      .cqe_status_i(cqe_status),
      .retire_valid_o (done_valid),
      .retire_ready_i (done_ready),
      .retire_flush_o (done_flush),
      .retire_last_o  (done_last),
      .retire_page_o  (done_page),
      .retire_status_o(done_status),
      .retire_failed_o(done_failed),
      .sq_db_valid_o(sq_db_valid[i]),
      .sq_db_ready_i(sq_db_ready[i]),
      .sq_db_value_o(sq_db_value[IndexWidth*i +: IndexWidth]),
      .cq_db_valid_o(cq_db_valid[i]),
      .cq_db_ready_i(cq_db_ready[i]),
      .cq_db_value_o(cq_db_value[IndexWidth*i +: IndexWidth]),
      .timeout_us_i,
      .age_us_o(ages[32*i +: 32]),
      .late_o (late_o[i]),
      .idle_o (done_idle),
      .error_o(queue_error[i])
    );
  end

  assign pass_late = pass_busy && late_o[0];

  // A drive that is being brought up may still complete commands of before: no error. An access outside is one at any time.
  assign protocol_error_o = access_error_q || queue_error_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      accepted_q        <= '0;
      commands_o        <= '0;
      protocol_errors_o <= '0;
      lost_q            <= '0;
      access_error_q    <= 1'b0;
      queue_error_q     <= 1'b0;
    end else begin
      access_error_q    <= access_error;
      queue_error_q     <= ready && queue_error != 2'b00;
      accepted_q        <= part_valid & part_ready & {2{!pass_busy}};
      commands_o        <= commands_o + 32'(accepted_q[0]) + 32'(accepted_q[1]);
      protocol_errors_o <= protocol_errors_o + 32'(access_error_q) + 32'(queue_error_q);
      // Bits of LOST. Only a drive that is ready can be lost, but a late access may be reported in the cycle after.
      lost_q <= (control_valid_i && control_i[2] ? '0 : lost_q)
              | {lost[2] || doorbell_error, lost[1], lost[0], lost[3] || pass_late || (ready && late_i),
                 (ready || pass_busy) && !link_up_i};
    end
  end

endmodule
