// The way of the data: streams, chunks, and the memory of the ring between them and the drives.
//
// Purpose: joins the stream to record (nvs_discard, nvs_generator, nvs_ingress, nvs_page_buffer),
// the stream replayed (nvs_egress, nvs_checker) and the drives to one memory port (nvs_memory).
// When chunks are made and sent is decided by the sessions.
//
// Interface: vectors of two are per direction, 0 record, 1 replay. `s_*`, `m_*`, `mem_*`: see
// nvs_core.
//   started_i        of the sessions (nvs_session)
//   running_i, stopping_i, ended_i, aborted_i   of the recording session
//   close_i     pulse: the stream that is recorded ends with the beats that were taken (nvs_ingress)
//   replay_drop_i    level, of the replaying session: what is on its way to the stream is given up, but for the beats at the port, which
//                    AXI4-Stream forbids to withdraw (two at most)
//   replay_ended_i, replay_end_i   of the replaying session. A packet that has begun is ended behind what was given up, by a beat that
//                    keeps no byte, with `m_user_o` 1 STOP, 2 ABORT, 3 error. It is 0 with each other beat. The end of a session does not
//                    wait for that beat; the next session's beats do
//   packets_i, hold_i   of the recording, as of nvs_ingress
//   triggered_i, record_end_i   of the recording, for the index
//   index_*, now_o   nvs_index; zeroes without one
//   pattern_i        the pattern generator or checker takes the place of the stream
//   seed_i, seed_high_i, packet_beats_i   registers of the pattern
//   flush_i          FLUSH_CONTROL: begin, end, begin when the recording has ended; pulses
//   source_*         chunks that are in memory, for the recording session
//   chunk_*          chunks to send, of the replaying session
//   record_release_i, replay_release_o   pulse: the oldest slot of the ring was retired; the one of
//                    this drive was read
//   ring_*           masters of nvs_memory, one per drive; vectors are flat, drive 0 lowest
//   memory_error_o   level of one cycle: the memory answered with an error to a drive's read of
//                    what is recorded; to a drive's write of what is replayed or the stream's read
//                    of it. Errors of the stream's writes are `source_error_o`
//   keep_error_o     pulse: the stream to record broke a rule of nvs_ingress
//   mem_*_addr_o     the ring without gaps: {direction, drive} is a number below 2 * Drives
// No output of s_*, m_*, mem_* and ring_* depends on an input of the same cycle.

module nvs_data_path #(
  parameter  int unsigned DataWidth  = 128,
  parameter  int unsigned ChunkPages = 32,
  parameter  int unsigned Slots      = 32,
  parameter  int unsigned Drives     = 1,
  parameter  int unsigned IndexEntries = 0,
  localparam int unsigned BeatBytes  = DataWidth / 8,
  localparam int unsigned SlotWidth  = $clog2(Slots),
  localparam int unsigned SizeWidth  = $clog2(ChunkPages) + 13,
  localparam int unsigned RingWidth  = 1 + 2 + SlotWidth + $clog2(ChunkPages) + 12,
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

  input  logic [1:0]                  started_i,
  input  logic                        running_i,
  input  logic                        stopping_i,
  input  logic                        close_i,
  input  logic                        ended_i,
  input  logic                        aborted_i,
  input  logic                        packets_i,
  input  logic                        hold_i,
  input  logic                        triggered_i,
  input  logic [1:0]                  record_end_i,
  input  logic                        tick_i,
  input  logic                        index_select_valid_i,
  input  logic [31:0]                 index_select_i,
  output logic [31:0]                 index_count_o,
  output logic [63:0]                 index_position_o,
  output logic [63:0]                 index_time_o,
  output logic [63:0]                 now_o,
  input  logic                        replay_drop_i,
  input  logic                        replay_ended_i,
  input  logic [1:0]                  replay_end_i,

  input  logic [1:0]                  pattern_i,
  input  logic [2*64-1:0]             seed_i,
  input  logic [2*64-1:0]             seed_high_i,
  input  logic [2*64-1:0]             packet_beats_i,
  input  logic [2:0]                  flush_i,
  output logic                        discarding_o,
  output logic                        discarded_o,
  output logic [63:0]                 dropped_beats_o,
  output logic                        pattern_error_o,
  output logic                        length_error_o,
  output logic [63:0]                 error_beat_o,

  input  logic [39:0]                 source_chunks_i,
  output logic                        source_valid_o,
  input  logic                        source_ready_i,
  output logic [SizeWidth-1:0]        source_bytes_o,
  output logic                        source_ended_o,
  output logic                        source_done_o,
  output logic                        source_full_o,
  output logic                        source_error_o,
  output logic                        keep_error_o,
  input  logic                        record_release_i,

  input  logic                        chunk_valid_i,
  output logic                        chunk_ready_o,
  input  logic [SizeWidth-1:0]        chunk_bytes_i,
  input  logic                        chunk_last_i,
  input  logic [DriveWidth-1:0]       chunk_drive_i,
  input  logic [SlotWidth-1:0]        chunk_slot_i,
  output logic                        delivered_o,
  output logic                        egress_idle_o,
  output logic [Drives-1:0]           replay_release_o,

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
  output logic [1:0]                  memory_error_o,

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
      ended_q  <= ended_i;
      closed_q <= !started_i[0] && (closed_q || (close_i && !source_ended_o));
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
    .start_i  (started_i[0]),
    .running_i(running_i),
    .ended_i  (ended_i && !ended_q),
    .aborted_i(aborted_i && !pattern_i[0]),
    // The generator's last beat is not the stream's, and a stream that was closed goes on.
    .last_i   (source_ended_o && !pattern_i[0] && !closed_q),
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
    .start_i       (started_i[0] && pattern_i[0]),
    .stop_i        (!running_i),
    .beat0_i       ({seed_high_i[64*0 +: 64], seed_i[64*0 +: 64]}),
    .packet_beats_i(packet_beats_i[64*0 +: 64]),
    .m_valid_o     (made_valid),
    .m_ready_i     (stream_ready && pattern_i[0]),
    .m_data_o      (made_data),
    .m_keep_o      (made_keep),
    .m_last_o      (made_last)
  );
  assign kept_ready = stream_ready && !pattern_i[0];

  // What is recorded: the stream or the pattern.
  logic                 taken_valid, taken_last;
  logic [BeatBytes-1:0] taken_keep;
  assign taken_valid = pattern_i[0] ? made_valid : kept_valid;
  assign taken_keep  = pattern_i[0] ? made_keep : kept_keep;
  assign taken_last  = pattern_i[0] ? made_last : kept_last;

  if (IndexEntries != 0) begin : gen_index
    nvs_index #(
      .DataWidth (DataWidth),
      .ChunkPages(ChunkPages),
      .Entries   (IndexEntries)
    ) u_index (
      .clk_i,
      .rst_ni,
      .tick_i,
      .start_i  (started_i[0]),
      .beat_i   (taken_valid && stream_ready),
      .keep_i   (taken_keep),
      .last_i   (taken_last),
      .trigger_i(triggered_i),
      .end_i    (ended_i),
      .how_i    (record_end_i),
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
    logic unused;
    assign unused = ^{tick_i, triggered_i, record_end_i, index_select_valid_i, index_select_i};
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
    .start_i (started_i[0]),
    .stop_i  (stopping_i),
    .close_i (close_i),
    .chunks_i(source_chunks_i),
    .packets_i,
    .hold_i,
    .s_valid_i(taken_valid),
    .s_ready_o(stream_ready),
    .s_data_i (pattern_i[0] ? made_data : kept_data),
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
    .cmd_valid_o(source_valid_o),
    .cmd_ready_i(source_ready_i),
    .cmd_bytes_o(source_bytes_o),
    .release_i  (record_release_i),
    .done_o   (source_done_o),
    .ended_o  (source_ended_o),
    .full_o   (source_full_o),
    .dropped_o(given_up_bytes),
    .error_o  (source_error_o),
    .keep_error_o
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

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) memory_error_o <= '0;
    else memory_error_o <= {(ring_b_valid_o != '0 && memory_b_error)
                            || (stream_r_valid && memory_r_error),
                            ring_r_valid_o != '0 && memory_r_error};
  end

  // Stream replayed: chunks from memory, the port or the pattern checker.
  logic                 out_valid, out_ready, out_last, out_end, check_ready, slice_ready, egress_release, egress_idle;
  logic [DataWidth-1:0] out_data;
  logic [BeatBytes-1:0] out_keep;
  nvs_egress #(
    .DataWidth (DataWidth),
    .ChunkPages(ChunkPages),
    .Slots     (Slots),
    .Drives    (Drives),
    .FifoBeats (512)
  ) u_egress (
    .*,  // chunk_*
    .abort_i   (replay_drop_i),
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
    .idle_o   (egress_idle)
  );

  // Ends of packets. Beats at the port that were given up are stale until the packet has ended.
  logic       open_q;         // a packet has begun at the slice, and not ended
  logic       stale_q;        // the port has to end the packet of a session before
  logic       close_q;        // by a beat of its own
  logic [1:0] close_user_q;
  logic       replay_ended_q, delivered_q, port_end, slice_valid, slice_last;
  assign out_ready   = pattern_i[1] ? check_ready : slice_ready && !stale_q;
  assign slice_valid = close_q || (out_valid && !pattern_i[1] && !stale_q);
  assign slice_last  = close_q || out_last;
  // A chunk is delivered, and a session at rest, when the consumer has taken the last beat.
  assign delivered_o   = delivered_q;
  assign egress_idle_o = egress_idle && !delivered_q && (replay_drop_i || pattern_i[1] || !m_valid_o);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      open_q         <= 1'b0;
      stale_q        <= 1'b0;
      close_q        <= 1'b0;
      close_user_q   <= '0;
      replay_ended_q <= 1'b0;
      delivered_q    <= 1'b0;
    end else begin
      replay_ended_q <= replay_ended_i;
      delivered_q    <= pattern_i[1] ? out_valid && check_ready && out_end : m_valid_o && m_ready_i && port_end && !stale_q;
      if (slice_valid && slice_ready) open_q <= !slice_last;
      if (m_valid_o && m_ready_i && m_last_o) stale_q <= 1'b0;
      else if ((replay_drop_i && m_valid_o) || (replay_ended_i && !replay_ended_q && open_q)) stale_q <= 1'b1;
      if (close_q) begin
        close_q <= !slice_ready;
      end else if (replay_ended_i && !replay_ended_q && open_q) begin
        close_q      <= 1'b1;
        close_user_q <= replay_end_i;
      end
    end
  end

  // Slots are read from memory in the order of the session, that is drive by drive.
  logic [1:0] release_drive_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) release_drive_q <= '0;
    else if (started_i[1]) release_drive_q <= '0;
    else if (egress_release)
      release_drive_q <= release_drive_q == 2'(Drives - 1) ? 2'd0 : release_drive_q + 2'd1;
  end
  for (genvar d = 0; d < Drives; d++) begin : gen_release
    assign replay_release_o[d] = egress_release && release_drive_q == 2'(d);
  end

  nvs_checker #(
    .DataWidth(DataWidth)
  ) u_checker (
    .*,  // what it found
    .start_i         (started_i[1]),
    .beat0_i         ({seed_high_i[64*1 +: 64], seed_i[64*1 +: 64]}),
    .expected_beats_i(packet_beats_i[64*1 +: 64]),
    .s_valid_i(out_valid && pattern_i[1]),
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
