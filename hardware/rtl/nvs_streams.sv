// Both streams: their sessions, their data, and the memory of the ring between them and the drives.
//
// Purpose: joins the sessions (nvs_session), the stream to record (nvs_discard, nvs_generator, nvs_ingress, nvs_page_buffer), the stream
// replayed (nvs_egress, nvs_checker) and the drives to one memory port (nvs_memory). The sessions decide when chunks are made and sent.
//
// Interface: vectors of two are per direction, 0 record, 1 replay; those of 2 * Drives have both directions of a drive together, drive 0
// lowest. `s_*`, `m_*`, `mem_*`, trigger_i, irq_o: see nvs_core.
//   control_*, first_address_i ... packet_beats_i, status_o ... cycles_o   registers of the banks
//   flush_i          FLUSH_CONTROL: begin, end, begin when the recording has ended; pulses
//   discard*, dropped_beats_o, error_beat_o   nvs_discard, nvs_checker
//   index_*, now_o   nvs_index; zeroes without one
//   running_o, started_o   of the sessions (nvs_session)
//   ready_i ... queue_idle_i   of the drives, as of nvs_session
//   late_o           pulse: the drive is late in either direction
//   release_o        pulse: the oldest slot of the ring was retired (record), or read (replay)
//   ring_*           masters of nvs_memory, one per drive
//   mem_*_addr_o     the ring without gaps: {direction, drive} is a number below 2 * Drives
// A replay that is stopped gives up what is on its way to the stream, but for the beats at the port, which AXI4-Stream forbids to withdraw
// (two at most). A packet that has begun is ended behind that, by a beat that keeps no byte, with `m_user_o` 1 STOP, 2 ABORT, 3 error; it is
// 0 with each other beat. The end of a session does not wait for that beat; the next session's beats do.
// No output of s_*, m_*, mem_* and ring_* depends on an input of the same cycle.

module nvs_streams #(
  parameter  int unsigned DataWidth  = 128,
  parameter  int unsigned ChunkPages = 32,
  parameter  int unsigned Slots      = 32,
  parameter  int unsigned Drives     = 1,
  parameter  int unsigned IndexEntries = 0,
  localparam int unsigned BeatBytes  = DataWidth / 8,
  localparam int unsigned SlotWidth  = $clog2(Slots),
  localparam int unsigned PageWidth  = $clog2(ChunkPages),
  localparam int unsigned SizeWidth  = PageWidth + 13,
  localparam int unsigned RingWidth  = 1 + 2 + SlotWidth + PageWidth + 12,
  localparam int unsigned DriveWidth = Drives > 1 ? $clog2(Drives) : 1
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,

  input  logic                        s_valid_i,
  output logic                        s_ready_o,
  input  logic [DataWidth-1:0]        s_data_i,
  input  logic [BeatBytes-1:0]        s_keep_i,
  input  logic                        s_last_i,
  output logic                        m_valid_o,
  input  logic                        m_ready_i,
  output logic [DataWidth-1:0]        m_data_o,
  output logic [BeatBytes-1:0]        m_keep_o,
  output logic                        m_last_o,
  output logic [1:0]                  m_user_o,

  input  logic [1:0]                  control_valid_i,
  input  logic [2*32-1:0]             control_i,
  input  logic [2*64-1:0]             first_address_i,
  input  logic [2*64-1:0]             last_address_i,
  input  logic [63:0]                 length_i,
  input  logic [31:0]                 post_chunks_i,
  input  logic                        trigger_i,
  input  logic                        tick_i,
  input  logic [2:0]                  flush_i,
  input  logic [2*64-1:0]             seed_i,
  input  logic [2*64-1:0]             seed_high_i,
  input  logic [2*64-1:0]             packet_beats_i,
  input  logic                        index_select_valid_i,
  input  logic [31:0]                 index_select_i,
  output logic [2*32-1:0]             status_o,
  output logic [2*64-1:0]             last_address_written_o,
  output logic [2*64-1:0]             next_address_o,
  output logic [2*64-1:0]             bytes_o,
  output logic [2*64-1:0]             beats_o,
  output logic [2*64-1:0]             stalls_o,
  output logic [2*64-1:0]             stall_time_ns_o,
  output logic [2*64-1:0]             durable_bytes_o,
  output logic [2*64-1:0]             device_status_o,
  output logic [2*64-1:0]             cycles_o,
  output logic                        discarding_o,
  output logic                        discarded_o,
  output logic [63:0]                 dropped_beats_o,
  output logic [63:0]                 error_beat_o,
  output logic [31:0]                 index_count_o,
  output logic [63:0]                 index_position_o,
  output logic [63:0]                 index_time_o,
  output logic [63:0]                 now_o,
  output logic [1:0]                  running_o,
  output logic [1:0]                  started_o,
  output logic [1:0]                  irq_o,

  input  logic [Drives-1:0]           ready_i,
  input  logic [64*Drives-1:0]        media_blocks_i,
  input  logic [4*Drives-1:0]         block_shift_i,
  input  logic [Drives-1:0]           protocol_error_i,
  output logic [Drives-1:0]           late_o,
  output logic [2*Drives-1:0]         cmd_valid_o,
  input  logic [2*Drives-1:0]         cmd_ready_i,
  output logic [1:0]                  cmd_flush_o,
  output logic [2*64-1:0]             cmd_lba_o,
  output logic [2*16-1:0]             cmd_blocks_o,
  input  logic [2*Drives-1:0]         retire_valid_i,
  output logic [2*Drives-1:0]         retire_ready_o,
  input  logic [2*Drives-1:0]         retire_flush_i,
  input  logic [2*SlotWidth*Drives-1:0] retire_slot_i,
  input  logic [2*PageWidth*Drives-1:0] retire_page_i,
  input  logic [2*15*Drives-1:0]      retire_status_i,
  input  logic [2*Drives-1:0]         retire_failed_i,
  input  logic [2*Drives-1:0]         queue_late_i,
  input  logic [2*Drives-1:0]         queue_idle_i,
  output logic [2*Drives-1:0]         release_o,

  input  logic [Drives-1:0]           ring_aw_valid_i,
  output logic [Drives-1:0]           ring_aw_ready_o,
  input  logic [RingWidth*Drives-1:0] ring_aw_addr_i,
  input  logic [8*Drives-1:0]         ring_aw_len_i,
  input  logic [Drives-1:0]           ring_w_valid_i,
  output logic [Drives-1:0]           ring_w_ready_o,
  input  logic [DataWidth*Drives-1:0] ring_w_data_i,
  input  logic [BeatBytes*Drives-1:0] ring_w_strb_i,
  input  logic [Drives-1:0]           ring_w_last_i,
  output logic [Drives-1:0]           ring_b_valid_o,
  input  logic [Drives-1:0]           ring_ar_valid_i,
  output logic [Drives-1:0]           ring_ar_ready_o,
  input  logic [RingWidth*Drives-1:0] ring_ar_addr_i,
  input  logic [8*Drives-1:0]         ring_ar_len_i,
  output logic [Drives-1:0]           ring_r_valid_o,
  input  logic [Drives-1:0]           ring_r_ready_i,
  output logic [DataWidth-1:0]        ring_r_data_o,
  output logic                        ring_r_last_o,

  output logic                        mem_aw_valid_o,
  input  logic                        mem_aw_ready_i,
  output logic [2:0]                  mem_aw_id_o,
  output logic [RingWidth-1:0]        mem_aw_addr_o,
  output logic [7:0]                  mem_aw_len_o,
  output logic                        mem_w_valid_o,
  input  logic                        mem_w_ready_i,
  output logic [DataWidth-1:0]        mem_w_data_o,
  output logic [BeatBytes-1:0]        mem_w_strb_o,
  output logic                        mem_w_last_o,
  input  logic                        mem_b_valid_i,
  output logic                        mem_b_ready_o,
  input  logic [2:0]                  mem_b_id_i,
  input  logic [1:0]                  mem_b_resp_i,
  output logic                        mem_ar_valid_o,
  input  logic                        mem_ar_ready_i,
  output logic [2:0]                  mem_ar_id_o,
  output logic [RingWidth-1:0]        mem_ar_addr_o,
  output logic [7:0]                  mem_ar_len_o,
  input  logic                        mem_r_valid_i,
  output logic                        mem_r_ready_o,
  input  logic [2:0]                  mem_r_id_i,
  input  logic [DataWidth-1:0]        mem_r_data_i,
  input  logic [1:0]                  mem_r_resp_i,
  input  logic                        mem_r_last_i
);

  // Bits of CONTROL, of the write bank and of the read bank.
  logic [1:0]      control_valid;
  logic [2*32-1:0] control;
  logic            close;
  assign close = control_valid[0] && control[5];
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) control_valid <= '0;
    else         control_valid <= control_valid_i;
  end
  always_ff @(posedge clk_i) control <= control_i;

  // Sessions. Vectors of both directions and all drives: recording first, drive 0 lowest.
  logic [1:0]                    started, stopping, stopped, aborted, ended, hold, triggered, drop, memory_error, pattern_q;
  logic [2*2-1:0]                ending;
  logic [2*Drives-1:0]           restart, cmd_valid, cmd_ready, retire_valid, retire_ready, retire_flush, retire_failed;
  logic [2*Drives-1:0]           queue_late, queue_idle;
  logic [2*SlotWidth*Drives-1:0] retire_slot;
  logic [2*PageWidth*Drives-1:0] retire_page;
  logic [2*15*Drives-1:0]        retire_status;
  logic                          source_valid, source_ended, source_done, source_full, source_error, keep_error, packets_q;
  logic                          pattern_error, length_error;
  logic [SizeWidth-1:0]          source_bytes;
  logic [1:0]                    source_ready, chunk_valid, chunk_last;
  logic [2*40-1:0]               source_chunks;
  logic [2*SizeWidth-1:0]        chunk_bytes;
  logic [2*2-1:0]                chunk_drive;
  logic [2*SlotWidth-1:0]        chunk_slot;
  logic                          chunk_ready, delivered, egress_idle;
  logic [2*32-1:0]               status;
  assign status_o  = status | {20'b0, length_error, pattern_error, 42'b0};
  assign started_o = started;

  for (genvar i = 0; i < 2; i++) begin : gen_session
    nvs_session #(
      .Replay    (i),
      .ChunkPages(ChunkPages),
      .Slots     (Slots),
      .Drives    (Drives)
    ) u_session (
      .clk_i,
      .rst_ni,
      .tick_i,
      .start_i      (control_valid[i] && control[32*i+0]),
      .stop_i       (control_valid[i] && control[32*i+1]),
      .abort_i      (control_valid[i] && control[32*i+2]),
      .flush_now_i  (control_valid[i] && control[32*i+3]),
      .flush_after_i(control_valid[i] && control[32*i+4]),
      .first_address_i(first_address_i[64*i +: 64]),
      .last_address_i (last_address_i[64*i +: 64]),
      .length_i       (i == 1 ? length_i : 64'h0),
      .ring_i         (control[32*i+8]),
      .trigger_i      (i == 0 && (trigger_i || (control_valid[i] && control[32*i+9]))),
      .post_chunks_i  (post_chunks_i),
      .status_o              (status[32*i +: 32]),
      .last_address_written_o(last_address_written_o[64*i +: 64]),
      .next_address_o        (next_address_o[64*i +: 64]),
      .bytes_o               (bytes_o[64*i +: 64]),
      .stalls_o              (stalls_o[64*i +: 64]),
      .stall_time_ns_o       (stall_time_ns_o[64*i +: 64]),
      .durable_bytes_o       (durable_bytes_o[64*i +: 64]),
      .device_status_o       (device_status_o[64*i +: 64]),
      .cycles_o              (cycles_o[64*i +: 64]),
      .running_o             (running_o[i]),
      .started_o             (started[i]),
      .hold_o                (hold[i]),
      .triggered_o           (triggered[i]),
      .stopping_o            (stopping[i]),
      .stopped_o             (stopped[i]),
      .aborted_o             (aborted[i]),
      .ended_o               (ended[i]),
      .end_o                 (ending[2*i +: 2]),
      .drop_o                (drop[i]),
      .ready_i         (ready_i),
      .media_blocks_i  (media_blocks_i),
      .block_shift_i   (block_shift_i),
      .protocol_error_i(protocol_error_i != '0 || memory_error[i] || (i == 0 && (source_error || keep_error))),
      .restart_o       (restart[Drives*i +: Drives]),
      .source_chunks_o(source_chunks[40*i +: 40]),
      .source_valid_i (source_valid),
      .source_ready_o (source_ready[i]),
      .source_bytes_i (source_bytes),
      .source_ended_i (source_ended),
      .source_done_i  (source_done),
      .source_full_i  (source_full),
      .queue_cmd_valid_o    (cmd_valid[Drives*i +: Drives]),
      .queue_cmd_ready_i    (cmd_ready[Drives*i +: Drives]),
      .queue_cmd_flush_o    (cmd_flush_o[i]),
      .queue_cmd_lba_o      (cmd_lba_o[64*i +: 64]),
      .queue_cmd_blocks_o   (cmd_blocks_o[16*i +: 16]),
      .queue_retire_valid_i (retire_valid[Drives*i +: Drives]),
      .queue_retire_ready_o (retire_ready[Drives*i +: Drives]),
      .queue_retire_flush_i (retire_flush[Drives*i +: Drives]),
      .queue_retire_slot_i  (retire_slot[SlotWidth*Drives*i +: SlotWidth*Drives]),
      .queue_retire_page_i  (retire_page[PageWidth*Drives*i +: PageWidth*Drives]),
      .queue_retire_status_i(retire_status[15*Drives*i +: 15*Drives]),
      .queue_retire_failed_i(retire_failed[Drives*i +: Drives]),
      .queue_late_i         (queue_late[Drives*i +: Drives]),
      .queue_idle_i         (queue_idle[Drives*i +: Drives]),
      .chunk_valid_o(chunk_valid[i]),
      .chunk_ready_i(chunk_ready),
      .chunk_bytes_o(chunk_bytes[SizeWidth*i +: SizeWidth]),
      .chunk_last_o (chunk_last[i]),
      .chunk_drive_o(chunk_drive[2*i +: 2]),
      .chunk_slot_o (chunk_slot[SlotWidth*i +: SlotWidth]),
      .delivered_i  (delivered),
      .egress_idle_i(egress_idle)
    );
    assign beats_o[64*i +: 64] = (bytes_o[64*i +: 64] + 64'd15) >> 4;

    // The pattern bit counts with the start.
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) pattern_q[i] <= 1'b0;
      else if (control_valid[i] && control[32*i+0] && !running_o[i]) pattern_q[i] <= control[32*i+6];
    end
  end

  // So does that of packets.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) packets_q <= 1'b0;
    else if (control_valid[0] && control[0] && !running_o[0]) packets_q <= control[7];
  end

  // Slots are released as they retire by a recording, and by a replay when they were read from
  // memory: both in the order of the session.
  logic [Drives-1:0] retired, record_release_q;
  logic              release_ingress_q;
  assign retired = retire_valid[Drives*0 +: Drives] & retire_ready[Drives*0 +: Drives]
                 & ~retire_flush[Drives*0 +: Drives];
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      record_release_q  <= '0;
      release_ingress_q <= 1'b0;
      irq_o             <= 2'b00;
    end else begin
      // One cycle after the retirement, for which the queue has a slot to release then.
      record_release_q  <= retired;
      release_ingress_q <= retired != '0 && running_o[0] && !started[0];
      irq_o             <= ended;
    end
  end

  // Stream to record: a slice at the port, the discarder, the pattern generator instead of it,
  // chunks.
  localparam int unsigned StreamWidth = DataWidth + BeatBytes + 1;
  logic                 in_valid, in_ready, in_last, kept_valid, kept_ready, kept_last;
  logic                 made_valid, made_last, stream_ready, ended_q, closed_q;
  logic [DataWidth-1:0] in_data, kept_data, made_data;
  logic [BeatBytes-1:0] in_keep, kept_keep, made_keep;
  nvs_skid #(
    .Width(StreamWidth)
  ) u_slice_in (
    .clk_i,
    .rst_ni,
    .valid_i(s_valid_i),
    .ready_o(s_ready_o),
    .data_i ({s_last_i, s_keep_i, s_data_i}),
    .valid_o(in_valid),
    .ready_i(in_ready),
    .data_o ({in_last, in_keep, in_data})
  );

  logic [63:0]          discarded_beats;
  logic [SizeWidth-1:0] given_up_bytes;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ended_q  <= 1'b0;
      closed_q <= 1'b0;
    end else begin
      ended_q  <= ended[0];
      closed_q <= !started[0] && (closed_q || (close && !source_ended));
    end
  end
  nvs_discard #(
    .DataWidth(DataWidth)
  ) u_discard (
    .clk_i,
    .rst_ni,
    .begin_i  (flush_i[0]),
    .end_i    (flush_i[1]),
    .arm_i    (flush_i[2]),
    .start_i  (started[0]),
    .running_i(running_o[0]),
    .ended_i  (ended[0] && !ended_q),
    .aborted_i(aborted[0] && !pattern_q[0]),
    // The generator's last beat is not the stream's, and a stream that was closed goes on.
    .last_i   (source_ended && !pattern_q[0] && !closed_q),
    .s_valid_i(in_valid),
    .s_ready_o(in_ready),
    .s_data_i (in_data),
    .s_keep_i (in_keep),
    .s_last_i (in_last),
    .m_valid_o(kept_valid),
    .m_ready_i(kept_ready),
    .m_data_o (kept_data),
    .m_keep_o (kept_keep),
    .m_last_o (kept_last),
    .active_o  (discarding_o),
    .finished_o(discarded_o),
    .beats_o   (discarded_beats)
  );
  logic [SizeWidth-4:0] given_up_q;  // the same in beats of 16 bytes
  always_ff @(posedge clk_i) given_up_q <= {1'b0, given_up_bytes[SizeWidth-1:4]} + (SizeWidth - 3)'(given_up_bytes[3:0] != '0);
  assign dropped_beats_o = discarded_beats + 64'(given_up_q);

  nvs_generator #(
    .DataWidth(DataWidth)
  ) u_generator (
    .clk_i,
    .rst_ni,
    .start_i       (started[0] && pattern_q[0]),
    .stop_i        (!running_o[0]),
    .beat0_i       ({seed_high_i[64*0 +: 64], seed_i[64*0 +: 64]}),
    .packet_beats_i(packet_beats_i[64*0 +: 64]),
    .m_valid_o     (made_valid),
    .m_ready_i     (stream_ready && pattern_q[0]),
    .m_data_o      (made_data),
    .m_keep_o      (made_keep),
    .m_last_o      (made_last)
  );
  assign kept_ready = stream_ready && !pattern_q[0];

  // What is recorded: the stream or the pattern.
  logic                 taken_valid, taken_last;
  logic [BeatBytes-1:0] taken_keep;
  assign taken_valid = pattern_q[0] ? made_valid : kept_valid;
  assign taken_keep  = pattern_q[0] ? made_keep : kept_keep;
  assign taken_last  = pattern_q[0] ? made_last : kept_last;

  if (IndexEntries != 0) begin : gen_index
    nvs_index #(
      .DataWidth (DataWidth),
      .ChunkPages(ChunkPages),
      .Entries   (IndexEntries)
    ) u_index (
      .clk_i,
      .rst_ni,
      .tick_i,
      .start_i  (started[0]),
      .beat_i   (taken_valid && stream_ready),
      .keep_i   (taken_keep),
      .last_i   (taken_last),
      .trigger_i(triggered[0]),
      .end_i    (ended[0]),
      .how_i    (ending[1:0]),
      .select_valid_i(index_select_valid_i),
      .select_i      (index_select_i),
      .count_o       (index_count_o),
      .position_o    (index_position_o),
      .time_o        (index_time_o),
      .now_o
    );
  end else begin : gen_no_index
    assign index_count_o    = '0;
    assign index_position_o = '0;
    assign index_time_o     = '0;
    assign now_o            = '0;
    logic unused_index;
    assign unused_index = ^{index_select_valid_i, index_select_i};
  end

  logic                 page_aw_valid, page_aw_ready, page_w_valid, page_w_ready, page_w_last;
  logic [RingWidth-1:0] page_aw_addr;
  logic [DataWidth-1:0] page_w_data;
  logic                 stream_b_valid, memory_b_error;
  nvs_ingress #(
    .DataWidth (DataWidth),
    .ChunkPages(ChunkPages),
    .Slots     (Slots),
    .Drives    (Drives)
  ) u_ingress (
    .clk_i,
    .rst_ni,
    .start_i (started[0]),
    .stop_i  (stopping[0]),
    .close_i (close),
    .chunks_i(source_chunks[39:0]),
    .packets_i(packets_q),
    .hold_i   (hold[0]),
    .s_valid_i(taken_valid),
    .s_ready_o(stream_ready),
    .s_data_i (pattern_q[0] ? made_data : kept_data),
    .s_keep_i (taken_keep),
    .s_last_i (taken_last),
    .aw_valid_o(page_aw_valid),
    .aw_ready_i(page_aw_ready),
    .aw_addr_o (page_aw_addr),
    .w_valid_o (page_w_valid),
    .w_ready_i (page_w_ready),
    .w_data_o  (page_w_data),
    .w_last_o  (page_w_last),
    .b_valid_i (stream_b_valid),
    .b_error_i (memory_b_error),
    .cmd_valid_o(source_valid),
    .cmd_ready_i(source_ready[0]),
    .cmd_bytes_o(source_bytes),
    .release_i  (release_ingress_q),
    .done_o   (source_done),
    .ended_o  (source_ended),
    .full_o   (source_full),
    .dropped_o(given_up_bytes),
    .error_o  (source_error),
    .keep_error_o(keep_error)
  );

  // The stream's master of nvs_memory: whole pages are written, what egress asks for is read.
  localparam int unsigned PageBeats = 4096 / BeatBytes;
  logic                 stream_aw_valid, stream_aw_ready, stream_w_valid, stream_w_ready;
  logic                 stream_w_last, stream_ar_valid, stream_ar_ready;
  logic                 stream_r_valid, stream_r_ready, memory_r_error;
  logic [RingWidth-1:0] stream_aw_addr, stream_ar_addr;
  logic [DataWidth-1:0] stream_w_data;
  logic [7:0]           stream_ar_len;
  nvs_page_buffer #(
    .DataWidth(DataWidth),
    .AddrWidth(RingWidth),
    .PageBeats(PageBeats)
  ) u_page_buffer (
    .clk_i,
    .rst_ni,
    .aw_valid_i(page_aw_valid),
    .aw_ready_o(page_aw_ready),
    .aw_addr_i (page_aw_addr),
    .w_valid_i (page_w_valid),
    .w_ready_o (page_w_ready),
    .w_data_i  (page_w_data),
    .w_last_i  (page_w_last),
    .m_aw_valid_o(stream_aw_valid),
    .m_aw_ready_i(stream_aw_ready),
    .m_aw_addr_o (stream_aw_addr),
    .m_w_valid_o (stream_w_valid),
    .m_w_ready_i (stream_w_ready),
    .m_w_data_o  (stream_w_data),
    .m_w_last_o  (stream_w_last)
  );

  logic [RingWidth-1:0] ring_aw_addr, ring_ar_addr;  // of all masters
  nvs_memory #(
    .DataWidth(DataWidth),
    .RingWidth(RingWidth),
    .Masters  (1 + Drives)
  ) u_memory (
    .*,  // mem_*
    .mem_aw_addr_o(ring_aw_addr),
    .mem_ar_addr_o(ring_ar_addr),
    .aw_valid_i({ring_aw_valid_i, stream_aw_valid}),
    .aw_ready_o({ring_aw_ready_o, stream_aw_ready}),
    .aw_addr_i ({ring_aw_addr_i, stream_aw_addr}),
    .aw_len_i  ({ring_aw_len_i, 8'(PageBeats - 1)}),
    .w_valid_i ({ring_w_valid_i, stream_w_valid}),
    .w_ready_o ({ring_w_ready_o, stream_w_ready}),
    .w_data_i  ({ring_w_data_i, stream_w_data}),
    .w_strb_i  ({ring_w_strb_i, {BeatBytes{1'b1}}}),
    .w_last_i  ({ring_w_last_i, stream_w_last}),
    .b_valid_o ({ring_b_valid_o, stream_b_valid}),
    .b_error_o (memory_b_error),
    .ar_valid_i({ring_ar_valid_i, stream_ar_valid}),
    .ar_ready_o({ring_ar_ready_o, stream_ar_ready}),
    .ar_addr_i ({ring_ar_addr_i, stream_ar_addr}),
    .ar_len_i  ({ring_ar_len_i, stream_ar_len}),
    .r_valid_o ({ring_r_valid_o, stream_r_valid}),
    .r_ready_i ({ring_r_ready_i, stream_r_ready}),
    .r_data_o  (ring_r_data_o),
    .r_last_o  (ring_r_last_o),
    .r_error_o (memory_r_error)
  );
  // Addresses of the ring to those of the port.
  function automatic logic [2:0] part_of(input logic [2:0] part);
    part_of = Drives == 1 ? {2'b00, part[2]} : Drives == 2 ? {1'b0, part[2], part[0]}
            : Drives == 3 && part[2] ? {1'b0, part[1:0]} + 3'd3 : part;
  endfunction
  assign mem_aw_addr_o = {part_of(ring_aw_addr[RingWidth-1 -: 3]), ring_aw_addr[RingWidth-4:0]};
  assign mem_ar_addr_o = {part_of(ring_ar_addr[RingWidth-1 -: 3]), ring_ar_addr[RingWidth-4:0]};

  // Of a drive's read of what is recorded; of a drive's write of what is replayed, or the stream's read of it.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) memory_error <= '0;
    else memory_error <= {(ring_b_valid_o != '0 && memory_b_error)
                            || (stream_r_valid && memory_r_error),
                            ring_r_valid_o != '0 && memory_r_error};
  end

  // Stream replayed: chunks from memory, the port or the pattern checker.
  logic                 out_valid, out_ready, out_last, out_end, check_ready, slice_ready, egress_release, reader_idle;
  logic [DataWidth-1:0] out_data;
  logic [BeatBytes-1:0] out_keep;
  nvs_egress #(
    .DataWidth (DataWidth),
    .ChunkPages(ChunkPages),
    .Slots     (Slots),
    .Drives    (Drives),
    .FifoBeats (512)
  ) u_egress (
    .clk_i,
    .rst_ni,
    .abort_i   (drop[1]),
    .chunk_valid_i(chunk_valid[1]),
    .chunk_ready_o(chunk_ready),
    .chunk_bytes_i(chunk_bytes[SizeWidth*1 +: SizeWidth]),
    .chunk_last_i (chunk_last[1]),
    .chunk_drive_i(chunk_drive[2 +: DriveWidth]),
    .chunk_slot_i (chunk_slot[SlotWidth*1 +: SlotWidth]),
    .ar_valid_o(stream_ar_valid),
    .ar_ready_i(stream_ar_ready),
    .ar_addr_o (stream_ar_addr),
    .ar_len_o  (stream_ar_len),
    .r_valid_i (stream_r_valid),
    .r_ready_o (stream_r_ready),
    .r_data_i  (ring_r_data_o),
    .m_valid_o(out_valid),
    .m_ready_i(out_ready),
    .m_data_o (out_data),
    .m_keep_o (out_keep),
    .m_last_o (out_last),
    .m_end_o  (out_end),
    .release_o(egress_release),
    .idle_o   (reader_idle)
  );

  // Ends of packets. Beats at the port that were given up are stale until the packet has ended.
  logic       open_q;         // a packet has begun at the slice, and not ended
  logic       stale_q;        // the port has to end the packet of a session before
  logic       close_q;        // by a beat of its own
  logic [1:0] close_user_q;
  logic       replay_ended_q, delivered_q, port_end, slice_valid, slice_last;
  assign out_ready   = pattern_q[1] ? check_ready : slice_ready && !stale_q;
  assign slice_valid = close_q || (out_valid && !pattern_q[1] && !stale_q);
  assign slice_last  = close_q || out_last;
  // A chunk is delivered, and a session at rest, when the consumer has taken the last beat.
  assign delivered   = delivered_q;
  assign egress_idle = reader_idle && !delivered_q && (drop[1] || pattern_q[1] || !m_valid_o);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      open_q         <= 1'b0;
      stale_q        <= 1'b0;
      close_q        <= 1'b0;
      close_user_q   <= '0;
      replay_ended_q <= 1'b0;
      delivered_q    <= 1'b0;
    end else begin
      replay_ended_q <= ended[1];
      delivered_q    <= pattern_q[1] ? out_valid && check_ready && out_end : m_valid_o && m_ready_i && port_end && !stale_q;
      if (slice_valid && slice_ready) open_q <= !slice_last;
      if (m_valid_o && m_ready_i && m_last_o) stale_q <= 1'b0;
      else if ((drop[1] && m_valid_o) || (ended[1] && !replay_ended_q && open_q)) stale_q <= 1'b1;
      if (close_q) begin
        close_q <= !slice_ready;
      end else if (ended[1] && !replay_ended_q && open_q) begin
        close_q      <= 1'b1;
        close_user_q <= ending[3:2];
      end
    end
  end

  // Slots are read from memory in the order of the session, that is drive by drive.
  logic [1:0] release_drive_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) release_drive_q <= '0;
    else if (started[1]) release_drive_q <= '0;
    else if (egress_release)
      release_drive_q <= release_drive_q == 2'(Drives - 1) ? 2'd0 : release_drive_q + 2'd1;
  end
  // A drive has both directions together.
  for (genvar d = 0; d < Drives; d++) begin : gen_drive
    assign late_o[d]    = restart[d] || restart[Drives+d];
    assign release_o[2*d +: 2] = {egress_release && release_drive_q == 2'(d), record_release_q[d]};
    for (genvar i = 0; i < 2; i++) begin : gen_direction
      assign cmd_valid_o[2*d+i]        = cmd_valid[Drives*i+d];
      assign retire_ready_o[2*d+i]     = retire_ready[Drives*i+d];
      assign cmd_ready[Drives*i+d]     = cmd_ready_i[2*d+i];
      assign retire_valid[Drives*i+d]  = retire_valid_i[2*d+i];
      assign retire_flush[Drives*i+d]  = retire_flush_i[2*d+i];
      assign retire_failed[Drives*i+d] = retire_failed_i[2*d+i];
      assign queue_late[Drives*i+d]    = queue_late_i[2*d+i];
      assign queue_idle[Drives*i+d]    = queue_idle_i[2*d+i];
      assign retire_slot[SlotWidth*(Drives*i+d) +: SlotWidth] = retire_slot_i[SlotWidth*(2*d+i) +: SlotWidth];
      assign retire_page[PageWidth*(Drives*i+d) +: PageWidth] = retire_page_i[PageWidth*(2*d+i) +: PageWidth];
      assign retire_status[15*(Drives*i+d) +: 15]             = retire_status_i[15*(2*d+i) +: 15];
    end
  end
  logic unused;
  assign unused = ^{control, stopping, stopped, aborted, drop, hold, triggered, ending, source_ready, source_chunks, chunk_valid,
                    chunk_last, chunk_bytes, chunk_drive, chunk_slot};

  nvs_checker #(
    .DataWidth(DataWidth)
  ) u_checker (
    .clk_i,
    .rst_ni,
    .pattern_error_o(pattern_error),
    .length_error_o (length_error),
    .error_beat_o,
    .start_i         (started[1]),
    .beat0_i         ({seed_high_i[64*1 +: 64], seed_i[64*1 +: 64]}),
    .expected_beats_i(packet_beats_i[64*1 +: 64]),
    .s_valid_i(out_valid && pattern_q[1]),
    .s_ready_o(check_ready),
    .s_data_i (out_data),
    .s_keep_i (out_keep),
    .s_last_i (out_last)
  );

  nvs_skid #(
    .Width(StreamWidth + 3)
  ) u_slice_out (
    .clk_i,
    .rst_ni,
    .valid_i(slice_valid),
    .ready_o(slice_ready),
    .data_i ({close_q ? close_user_q : 2'd0, out_end && !close_q, slice_last, out_keep & {BeatBytes{!close_q}}, out_data}),
    .valid_o(m_valid_o),
    .ready_i(m_ready_i),
    .data_o ({m_user_o, port_end, m_last_o, m_keep_o, m_data_o})
  );

endmodule
