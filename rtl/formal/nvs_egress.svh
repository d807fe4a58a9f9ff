// Properties of nvs_egress. Included in the module under FORMAL.

logic f_started = 1'b0;
always_ff @(posedge clk_i) f_started <= 1'b1;
always_comb assume (rst_ni == f_started);

// Environment: chunks have 1 byte ... all pages; memory answers reads in order, each beat with its own address.
localparam int unsigned FMax = 8;
localparam int unsigned FBeat = RingWidth - BeatShift;  // a beat's address in beats
always_comb if (rst_ni && chunk_valid_i) assume (chunk_bytes_i != '0 && 32'(chunk_bytes_i) <= ChunkPages * PageBytes && 32'(chunk_drive_i) < Drives);

logic [FBeat*FMax-1:0] f_reads_q = '0;  // beats asked for, oldest first
logic [3:0]            f_reads_count_q = '0;
logic [FBeat*FMax-1:0] f_reads;
logic [3:0]            f_reads_count;
always_comb begin
  f_reads       = f_reads_q;
  f_reads_count = f_reads_count_q;
  if (r_valid_i) begin
    f_reads       = f_reads >> FBeat;
    f_reads_count = f_reads_count - 1'b1;
  end
  if (ar_valid_o && ar_ready_i) begin
    for (integer b = 0; b < PageBeats; b++) begin
      if (b <= 32'(ar_len_o)) begin
        f_reads[FBeat*(f_reads_count % FMax) +: FBeat] = ar_addr_o[RingWidth-1:BeatShift] + FBeat'(b);
        f_reads_count = f_reads_count + 1'b1;
      end
    end
  end
end
always_ff @(posedge clk_i) if (rst_ni) begin
  f_reads_q       <= f_reads;
  f_reads_count_q <= f_reads_count;
end
always_comb if (rst_ni) begin
  if (f_reads_count_q == '0) assume (!r_valid_i);
  if (r_valid_i) assume (r_data_i == DataWidth'(f_reads_q[FBeat-1:0]));
end

// Chunks taken and not yet delivered, oldest first: {last, drive, slot, offset of the last byte}.
localparam int unsigned FChunk = 1 + 2 + SlotWidth + OffsetWidth;
logic [FChunk*FMax-1:0] f_chunks_q = '0;
logic [3:0]             f_chunks_count_q = '0;
logic [OffsetWidth-BeatShift-1:0] f_position_q = '0;  // beat of the oldest chunk that is delivered next
logic [OffsetWidth-1:0] f_end;
logic [SlotWidth-1:0]   f_slot;
logic [1:0]             f_drive;
logic                   f_last, f_at_end, f_taken, f_left, f_drop_q, f_offered_q;
assign {f_last, f_drive, f_slot, f_end} = f_chunks_q[FChunk-1:0];
assign f_at_end = f_position_q == f_end[OffsetWidth-1:BeatShift];
assign f_taken  = rst_ni && chunk_valid_i && chunk_ready_o;
assign f_left   = rst_ni && m_valid_o && m_ready_i;

// Dropping: nothing but a beat that was offered before goes to the stream.
initial f_drop_q = 1'b0;
initial f_offered_q = 1'b0;
logic [DataWidth+BeatBytes:0] f_out_q;
always_ff @(posedge clk_i) begin
  f_drop_q    <= rst_ni && (abort_i || (f_drop_q && !idle_o));
  f_offered_q <= rst_ni && m_valid_o && !m_ready_i;
  f_out_q     <= {m_data_o, m_keep_o, m_last_o};
  if (rst_ni) begin
    if (f_drop_q) begin
      f_chunks_count_q <= 4'(f_taken && idle_o && !abort_i);
      f_position_q     <= '0;
      if (f_taken) f_chunks_q[FChunk-1:0] <= {chunk_last_i, 2'(chunk_drive_i), chunk_slot_i, OffsetWidth'(chunk_bytes_i - 1'b1)};
    end else begin
      f_chunks_count_q <= f_chunks_count_q + 4'(f_taken) - 4'(f_left && f_at_end);
      if (f_left) f_position_q <= f_at_end ? '0 : f_position_q + 1'b1;
      if (f_left && f_at_end) f_chunks_q <= f_chunks_q >> FChunk;
      if (f_taken) begin
        f_chunks_q[FChunk*((f_chunks_count_q - 4'(f_left && f_at_end)) % FMax) +: FChunk] <=
          {chunk_last_i, 2'(chunk_drive_i), chunk_slot_i, OffsetWidth'(chunk_bytes_i - 1'b1)};
      end
    end
  end
end
always_comb if (rst_ni) begin
  if (f_offered_q) assert (m_valid_o && {m_data_o, m_keep_o, m_last_o} == f_out_q);
  if (f_drop_q) assert (!m_valid_o || f_offered_q);
  // The stream gets the beats of the oldest chunk.
  else if (m_valid_o) begin
    assert (f_chunks_count_q != '0);
    assert (m_data_o == DataWidth'({1'b1, f_drive, f_slot, f_position_q}));
    assert (m_last_o == (f_at_end && f_last));
    for (integer b = 0; b < BeatBytes; b++) assert (m_keep_o[b] == (!f_at_end || b <= 32'(f_end[BeatShift-1:0])));
    assert (delivered_o == (m_ready_i && f_at_end));
  end
  assert (!delivered_o || f_left);
  if (idle_o && !f_drop_q) assert (f_chunks_count_q == '0);
end

// Room: what was asked for and has not left never exceeds the queue, which takes each beat.
logic [3:0] f_room_q = '0;
always_ff @(posedge clk_i) begin
  if (rst_ni) f_room_q <= f_room_q + (asked ? 4'(ar_len_o) + 1'b1 : '0) - 4'(pop);
end
always_comb if (rst_ni) begin
  assert (f_room_q <= FifoBeats);
  assert (!r_valid_i || (r_ready_o && fifo_ready && burst_valid));
  if (ar_valid_o) assert (32'(f_room_q) + 32'(ar_len_o) + 1 <= FifoBeats);
  if (idle_o) assert (f_room_q == '0 && f_reads_count_q == '0 && !ar_valid_o);
end

// Addresses stay until they are taken.
logic                 f_asking_q = 1'b0;
logic [RingWidth+7:0] f_ask_q;
always_ff @(posedge clk_i) begin
  f_asking_q <= rst_ni && ar_valid_o && !ar_ready_i;
  f_ask_q    <= {ar_addr_o, ar_len_o};
end
always_comb if (rst_ni && f_asking_q) assert (ar_valid_o && {ar_addr_o, ar_len_o} == f_ask_q);

// Releases: one per chunk taken. A chosen chunk, by its number: its release comes after its last read, and none after it is for it.
logic       f_pick;
logic       f_picked_q = 1'b0, f_open_q = 1'b0;
logic [3:0] f_unreleased_q = '0, f_before_q, f_beats_q;  // chunks not released; before the chosen one; its beats and those before not read
always_ff @(posedge clk_i) begin
  if (rst_ni) begin
    f_unreleased_q <= f_unreleased_q + 4'(f_taken) - 4'(release_o);
    if (f_picked_q) begin
      if (release_o) begin
        if (f_before_q == '0) f_picked_q <= 1'b0;
        else f_before_q <= f_before_q - 1'b1;
      end
      if (f_taken) f_open_q <= 1'b0;
      f_beats_q <= f_beats_q - 4'(r_valid_i && f_beats_q != '0) + (f_open_q && asked ? 4'(ar_len_o) + 1'b1 : '0);
    end else if (f_taken && f_pick) begin
      f_picked_q <= 1'b1;
      f_open_q   <= 1'b1;
      f_before_q <= f_unreleased_q - 4'(release_o);
      f_beats_q  <= f_reads_count;
    end
  end
end
always_comb if (rst_ni) begin
  assert (!release_o || f_unreleased_q != '0);
  if (idle_o) assert (f_unreleased_q == '0);
  if (f_picked_q && f_before_q == '0 && release_o) assert (f_beats_q == '0 && !(f_open_q && (active_q || ar_valid_o)));
end

// Progress: with a ready memory and a ready stream, a chunk is taken soon.
logic [4:0] f_wait_q = '0;
always_ff @(posedge clk_i) begin
  if (!rst_ni || !m_ready_i || !ar_ready_i || (!r_valid_i && f_reads_count_q != '0) || chunk_ready_o) f_wait_q <= '0;
  else f_wait_q <= f_wait_q + 1'b1;
end
always_comb if (rst_ni) assert (f_wait_q < 16);
