// Properties of nvs_egress. Included in the module under FORMAL.
//
// The module does not look at read data, so each beat that memory gives carries its number. Numbers wrap: beats under way are fewer.

logic f_started = 1'b0;
always_ff @(posedge clk_i) f_started <= 1'b1;
always_comb assume (rst_ni == f_started);

localparam int unsigned FWidth = $clog2(FifoBeats) + $clog2(ChunkPages * PageBeats) + 1;
logic [FWidth-1:0] f_asked_q = '0;   // beats asked for
logic [FWidth-1:0] f_read_q = '0;    // beats that memory gave
logic [FWidth-1:0] f_next_q = '0;    // number of the beat that the stream gets next
logic              f_taken, f_left;  // a chunk is taken; a beat leaves
assign f_taken = rst_ni && chunk_valid_i && chunk_ready_o;
assign f_left  = rst_ni && m_valid_o && m_ready_i;

// Environment: chunks have one byte up to all pages; memory gives only what was asked for.
always_comb if (rst_ni) begin
  if (chunk_valid_i) assume (chunk_bytes_i != '0 && 32'(chunk_bytes_i) <= ChunkPages * PageBytes && 32'(chunk_drive_i) < Drives);
  if (f_read_q == f_asked_q) assume (!r_valid_i);
  if (r_valid_i) assume (r_data_i == DataWidth'(f_read_q));
end

// Addresses: pages of the newest chunk, one after the other.
logic [DriveWidth-1:0]  f_drive_q;
logic [SlotWidth-1:0]   f_slot_q;
logic [OffsetWidth-1:0] f_end_q;
logic [PageWidth:0]     f_pages_q = '0;  // of it, asked for
logic                   f_open_q = 1'b0;  // some are not
logic                   f_last_page;
assign f_last_page = f_pages_q == {1'b0, f_end_q[OffsetWidth-1:PageShift]};
always_ff @(posedge clk_i) begin
  if (rst_ni && asked) f_asked_q <= f_asked_q + FWidth'(ar_len_o) + 1'b1;
  if (rst_ni && r_valid_i) f_read_q <= f_read_q + 1'b1;
  if (f_taken) begin
    f_drive_q <= chunk_drive_i;
    f_slot_q  <= chunk_slot_i;
    f_end_q   <= OffsetWidth'(chunk_bytes_i - 1'b1);
    f_pages_q <= '0;
    f_open_q  <= 1'b1;
  end else if (rst_ni && asked) begin
    f_pages_q <= f_pages_q + 1'b1;
    if (f_last_page) f_open_q <= 1'b0;
  end
end
always_comb if (rst_ni && ar_valid_o) begin
  assert (f_open_q);
  assert (ar_addr_o == {1'b1, 2'(f_drive_q), f_slot_q, f_pages_q[PageWidth-1:0], {PageShift{1'b0}}});
  assert (ar_len_o == (f_last_page ? 8'(f_end_q[PageShift-1:BeatShift]) : 8'(PageBeats - 1)));
end
logic                 f_asking_q = 1'b0;
logic [RingWidth+7:0] f_ask_q;
always_ff @(posedge clk_i) begin
  f_asking_q <= rst_ni && ar_valid_o && !ar_ready_i;
  f_ask_q    <= {ar_addr_o, ar_len_o};
end
always_comb if (rst_ni && f_asking_q) assert (ar_valid_o && {ar_addr_o, ar_len_o} == f_ask_q);

// Beats leave in order; while dropping, none. After that, the next beat is the first that is asked for.
logic                         f_drop_q = 1'b0, f_offered_q = 1'b0;
logic [DataWidth+BeatBytes+1:0] f_out_q;
always_ff @(posedge clk_i) begin
  f_drop_q    <= rst_ni && (abort_i || (f_drop_q && !idle_o));
  f_offered_q <= rst_ni && m_valid_o && !m_ready_i;
  f_out_q     <= {m_data_o, m_keep_o, m_last_o, m_end_o};
  if (f_drop_q) f_next_q <= f_asked_q;
  else if (f_left) f_next_q <= f_next_q + 1'b1;
end
always_comb if (rst_ni) begin
  if (f_offered_q && !f_drop_q) assert (m_valid_o && {m_data_o, m_keep_o, m_last_o, m_end_o} == f_out_q);
  if (m_valid_o) assert (!f_drop_q && m_data_o == DataWidth'(f_next_q));
end

// Room: what was asked for and has not left fits the queue, which takes each beat.
logic [FWidth-1:0] f_gone_q = '0;  // beats that left or were dropped
always_ff @(posedge clk_i) if (rst_ni) f_gone_q <= f_gone_q + FWidth'(pop);
always_comb if (rst_ni) begin
  assert (FWidth'(f_asked_q - f_gone_q) <= FWidth'(FifoBeats));
  if (ar_valid_o) assert (FWidth'(f_asked_q - f_gone_q) + FWidth'(ar_len_o) + 1'b1 <= FWidth'(FifoBeats));
  assert (!r_valid_i || (r_ready_o && fifo_ready && burst_valid));
  if (idle_o) assert (f_asked_q == f_gone_q && f_read_q == f_asked_q && !ar_valid_o && !m_valid_o);
end

// A chosen chunk: its beats, by number; its release, by the releases before it.
logic                   f_pick;  // free
logic                   f_picked_q = 1'b0, f_asking_for_q = 1'b0, f_picked_last_q, f_picked_dropped_q;
logic [2:0]             f_unreleased_q = '0, f_before_q;
logic [FWidth-1:0]      f_first_q, f_beats_q;  // its first number; its beats that were asked for
logic [OffsetWidth-1:0] f_picked_end_q;
logic [FWidth-1:0]      f_place;               // of the beat at the output, in the chunk
logic                   f_inside, f_at_end;
assign f_place  = m_data_o[FWidth-1:0] - f_first_q;
assign f_inside = f_place <= FWidth'(f_picked_end_q >> BeatShift);
assign f_at_end = f_place == FWidth'(f_picked_end_q >> BeatShift);
always_ff @(posedge clk_i) if (rst_ni) begin
  f_unreleased_q <= f_unreleased_q + 3'(f_taken) - 3'(release_o);
  if (f_taken) f_asking_for_q <= 1'b0;
  if (f_taken && f_pick && !f_picked_q) begin
    f_picked_q         <= 1'b1;
    f_asking_for_q     <= 1'b1;
    f_picked_last_q    <= chunk_last_i;
    f_picked_end_q     <= OffsetWidth'(chunk_bytes_i - 1'b1);
    f_picked_dropped_q <= abort_i || f_drop_q;
    f_before_q         <= f_unreleased_q - 3'(release_o);
    f_first_q          <= f_asked_q;
    f_beats_q          <= '0;
  end else begin
    if (f_asking_for_q && asked) f_beats_q <= f_beats_q + FWidth'(ar_len_o) + 1'b1;
    if (abort_i) f_picked_dropped_q <= 1'b1;
    if (f_picked_q && release_o) f_before_q <= f_before_q - 1'b1;
  end
end
logic f_released_q = 1'b0, f_release;
assign f_release = f_picked_q && !f_released_q && release_o && f_before_q == '0;
always_ff @(posedge clk_i) if (rst_ni && f_release) f_released_q <= 1'b1;
always_comb if (rst_ni) begin
  assert (!release_o || f_unreleased_q != '0);
  if (idle_o) assert (f_unreleased_q == '0);
  // When it is released, all its beats have been read, and none is asked for later.
  if (f_release) begin
    assert (FWidth'(f_read_q - f_first_q - f_beats_q) < (FWidth'(1) << (FWidth - 1)));
    assert (f_picked_dropped_q || f_beats_q == FWidth'(f_picked_end_q >> BeatShift) + 1'b1);
  end
  if (f_released_q) assert (!(f_asking_for_q && ar_valid_o));
  if (f_picked_q && !f_picked_dropped_q && m_valid_o && f_inside) begin
    assert (m_last_o == (f_at_end && f_picked_last_q));
    assert (m_end_o == f_at_end);
    for (integer b = 0; b < BeatBytes; b++) assert (m_keep_o[b] == (!f_at_end || b <= 32'(f_picked_end_q[BeatShift-1:0])));
  end
end

// Progress: with a ready memory and a ready stream, a chunk is taken soon. An abort needs no ready stream.
logic [3:0] f_wait_q = '0;
always_ff @(posedge clk_i) begin
  if (!rst_ni || !(m_ready_i || abort_i) || !ar_ready_i || (!r_valid_i && f_read_q != f_asked_q) || chunk_ready_o || (abort_i && idle_o)) f_wait_q <= '0;
  else f_wait_q <= f_wait_q + 1'b1;
end
always_comb if (rst_ni) assert (f_wait_q != 4'd12);

// What is dropped does not wait for the stream: a beat that was read leaves the queue soon.
logic [1:0] f_kept_q = '0;
always_ff @(posedge clk_i) begin
  if (!rst_ni || !f_drop_q || f_read_q == f_gone_q || pop) f_kept_q <= '0;
  else f_kept_q <= f_kept_q + 1'b1;
end
always_comb if (rst_ni) assert (f_kept_q != 2'd3);
