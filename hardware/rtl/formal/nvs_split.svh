// Properties of nvs_split. Included in the module under FORMAL. The session is free, the queue within its contract.

logic f_started = 1'b0;
always_ff @(posedge clk_i) f_started <= 1'b1;
always_comb assume (rst_ni == f_started);

// Environment: a drive's values; a chunk has at least one block and begins at a multiple of its size.
logic [3:0]            f_shift_q;
logic [15:0]           f_max_q;
logic [BlockWidth-1:0] f_chunk, f_step;  // blocks of a chunk, of a command at most
assign f_chunk = BlockWidth'(ChunkPages) << (12 - block_shift_i);
assign f_step  = max_pages_i == '0 || max_pages_i >= ChunkPages ? f_chunk : BlockWidth'(max_pages_i << (12 - block_shift_i));
always_ff @(posedge clk_i) begin
  f_shift_q <= block_shift_i;
  f_max_q   <= max_pages_i;
end
always_comb begin
  assume (block_shift_i == 4'd9 || block_shift_i == 4'd12);
  assume (max_pages_i != 16'd1 && (max_pages_i & (max_pages_i - 1'b1)) == '0);
  if (f_started) assume (block_shift_i == f_shift_q && max_pages_i == f_max_q);
  if (cmd_valid_i && !cmd_flush_i) assume (cmd_blocks_i != '0 && cmd_blocks_i <= 16'(f_chunk) && (cmd_lba_i & 64'(f_chunk - 1'b1)) == '0);
end

always_comb if (rst_ni) assert (step_q == BlockWidth'(16'(max_pages_i[PageWidth-1:0]) << (12 - block_shift_i)));

// Environment: the queue completes up to four commands in their order, and a flush alone.
logic [1:0]           f_in_q = '0, f_out_q = '0;
logic [2:0]           f_count_q = '0;
logic                 f_flush_q = 1'b0;
logic [3:0]           f_last_q;
logic [PageWidth-1:0] f_page_q [4];
logic                 f_part, f_done;
assign f_part = part_valid_o && part_ready_i;
assign f_done = done_valid_i && done_ready_o;
always_ff @(posedge clk_i) begin
  if (!rst_ni || clear_i) begin
    f_in_q    <= '0;
    f_out_q   <= '0;
    f_count_q <= '0;
    f_flush_q <= 1'b0;
  end else begin
    if (f_part && !part_flush_o) begin
      f_last_q[f_in_q] <= part_last_o;
      f_page_q[f_in_q] <= part_page_o;
      f_in_q <= f_in_q + 1'b1;
    end
    if (f_done && !done_flush_i) f_out_q <= f_out_q + 1'b1;
    f_count_q <= f_count_q + 3'(f_part && !part_flush_o) - 3'(f_done && !done_flush_i);
    f_flush_q <= (f_flush_q && !f_done) || (f_part && part_flush_o);
  end
end
always_comb begin
  if (f_flush_q || (part_flush_o ? f_count_q != '0 : f_count_q == 3'd4)) assume (!part_ready_i);
  if (f_count_q == '0 && !f_flush_q) assume (!done_valid_i);
  assume (done_flush_i == f_flush_q);
  if (!f_flush_q) assume (done_last_i == f_last_q[f_out_q] && done_page_i == f_page_q[f_out_q]);
  assume (done_failed_i == (done_status_i[10:0] != '0));
  assume (done_idle_i == (f_count_q == '0 && !f_flush_q));
end

// Commands: one after the other, all of the chunk and nothing else; a flush between chunks.
logic                  f_open_q = 1'b0;
logic [63:0]           f_lba_q;
logic [BlockWidth-1:0] f_blocks_q, f_made_q;  // of the chunk, of its commands until now
logic [SlotWidth-1:0]  f_slot_q = '0, f_of_slot_q;
logic                  f_waits_q = 1'b0;  // a flush was taken and is not given to the queue
logic                  f_take, f_take_flush;
assign f_take       = cmd_valid_i && cmd_ready_o && !cmd_flush_i;
assign f_take_flush = cmd_valid_i && cmd_ready_o && cmd_flush_i;
always_ff @(posedge clk_i) f_waits_q <= rst_ni && !clear_i && (f_take_flush || (f_waits_q && !(f_part && part_flush_o)));
always_ff @(posedge clk_i) begin
  if (!rst_ni || clear_i) f_open_q <= 1'b0;
  else if (f_take) begin
    f_open_q    <= 1'b1;
    f_lba_q     <= cmd_lba_i;
    f_blocks_q  <= cmd_blocks_i[BlockWidth-1:0];
    f_made_q    <= '0;
    f_of_slot_q <= f_slot_q;
  end else if (f_part && !part_flush_o) begin
    f_made_q <= f_made_q + part_blocks_o[BlockWidth-1:0];
    if (f_made_q + part_blocks_o[BlockWidth-1:0] == f_blocks_q) f_open_q <= 1'b0;
  end
end
always_comb if (rst_ni) begin
  if (f_part && !part_flush_o) begin
    assert (enable_i && f_open_q && !f_take);
    assert (part_lba_o == f_lba_q + 64'(f_made_q) && part_slot_o == f_of_slot_q);
    assert (part_blocks_o == 16'(f_blocks_q - f_made_q > f_step ? f_step : f_blocks_q - f_made_q));
    assert (part_last_o == (f_made_q + part_blocks_o[BlockWidth-1:0] == f_blocks_q));
    assert (32'(part_page_o) == 32'(f_made_q) >> (12 - block_shift_i) && !part_page_o[0]);
  end
  if (f_part && part_flush_o) assert (enable_i && f_waits_q && !f_open_q && f_count_q == '0);
  if ((f_open_q || f_waits_q) && enable_i && part_ready_i) assert (f_part);
  if (f_take || f_take_flush) assert (enable_i && !f_open_q && !f_waits_q);
  if (idle_o) assert (!f_open_q && !f_waits_q && f_count_q == '0 && !f_flush_q);
end

// Retirement: with the last command, in the order of the slots; the first failure is the chunk's.
logic                 f_bad_q = 1'b0;
logic [PageWidth-1:0] f_bad_page_q;
logic [14:0]          f_bad_status_q;
logic                 f_retire;
assign f_retire = retire_valid_o && retire_ready_i && !retire_flush_o;
always_ff @(posedge clk_i) begin
  if (!rst_ni || clear_i || f_retire) f_bad_q <= 1'b0;
  else if (f_done && !done_flush_i && done_failed_i && !f_bad_q) begin
    f_bad_q        <= 1'b1;
    f_bad_page_q   <= f_page_q[f_out_q];
    f_bad_status_q <= done_status_i;
  end
end
always_comb if (rst_ni && done_valid_i) begin
  assert (retire_valid_o == (f_flush_q || f_last_q[f_out_q]));
  if (!retire_valid_o) assert (done_ready_o);
  if (retire_valid_o) assert (done_ready_o == retire_ready_i && retire_flush_o == f_flush_q);
  if (retire_valid_o && !f_flush_q) begin
    assert (retire_failed_o == (f_bad_q || done_failed_i));
    assert (retire_status_o == (f_bad_q ? f_bad_status_q : done_status_i));
    if (retire_failed_o) assert (retire_page_o == (f_bad_q ? f_bad_page_q : f_page_q[f_out_q]));
  end
end

// Slots: in use from acceptance to retirement, kept until they are released, given out in turn.
logic [Slots-1:0]     f_busy_q = '0, f_kept_q = '0;
logic [SlotWidth-1:0] f_next_q = '0, f_release_q = '0;
logic                 f_could_q = 1'b0;
always_ff @(posedge clk_i) begin
  f_could_q <= rst_ni && !(cmd_valid_i && cmd_ready_o) && !f_open_q && !f_waits_q && !f_busy_q[f_slot_q] && !f_kept_q[f_slot_q];
end
always_ff @(posedge clk_i) begin
  if (!rst_ni || clear_i || (rewind_i && f_busy_q == '0 && !f_take && !f_take_flush && !f_waits_q)) begin
    f_busy_q    <= '0;
    f_kept_q    <= '0;
    f_slot_q    <= '0;
    f_next_q    <= '0;
    f_release_q <= '0;
  end else begin
    if (f_take) begin
      f_busy_q[f_slot_q] <= 1'b1;
      f_slot_q <= f_slot_q + 1'b1;
    end
    if (f_retire) begin
      f_busy_q[f_next_q] <= 1'b0;
      f_kept_q[f_next_q] <= 1'b1;
      f_next_q <= f_next_q + 1'b1;
    end
    if (release_i && f_kept_q[f_release_q]) begin
      f_kept_q[f_release_q] <= 1'b0;
      f_release_q <= f_release_q + 1'b1;
    end
  end
end
always_comb if (rst_ni) begin
  if (f_take) assert (!f_busy_q[f_slot_q] && !f_kept_q[f_slot_q]);
  if (f_retire) assert (f_busy_q[f_next_q] && retire_slot_o == f_next_q);
  // What could be taken in a cycle without anything is taken in the next.
  if (enable_i && f_could_q) assert (cmd_ready_o);
end

// State between these events.
logic [SlotWidth:0] f_in_use, f_unretired;
logic [SlotWidth+2:0] f_lasts;
logic [1:0]         f_newest;
assign f_in_use    = accepted_q - released_q;
assign f_unretired = accepted_q - retired_q;
assign f_newest    = f_in_q - 2'd1;
always_comb begin
  f_lasts = '0;
  for (integer i = 0; i < 4; i++) if ({1'b0, 2'(2'(i) - f_out_q)} < f_count_q) f_lasts = f_lasts + (SlotWidth + 3)'(f_last_q[i]);
end
always_comb if (rst_ni) begin
  assert (left_any_q == (f_open_q || f_waits_q) && !(f_open_q && f_waits_q));
  if (left_any_q) assert (flush_q == f_waits_q);
  if (ready_q) assert (!left_any_q && f_in_use != (SlotWidth + 1)'(Slots));
  if (f_open_q) begin
    assert (f_made_q < f_blocks_q && f_blocks_q <= f_chunk && (f_made_q & (f_step - 1'b1)) == '0 && (f_lba_q & 64'(f_chunk - 1'b1)) == '0);
    assert (left_q == f_blocks_q - f_made_q && lba_q == f_lba_q + 64'(f_made_q) && slot_q == f_of_slot_q);
    assert (32'(page_q) == 32'(f_made_q) >> (12 - block_shift_i));
  end
  assert (2'(f_in_q - f_out_q) == f_count_q[1:0] && f_count_q <= 3'd4);
  if (f_flush_q) assert (f_count_q == '0 && (!f_open_q || f_made_q == '0));
  assert (f_lasts + (SlotWidth + 3)'(f_open_q) == (SlotWidth + 3)'(f_unretired));
  if (f_count_q != '0 && !f_last_q[f_newest]) assert (f_open_q);
  if (f_open_q && f_made_q != '0 && f_count_q != '0) assert (!f_last_q[f_newest]);
  if (f_open_q && f_made_q == '0 && f_count_q != '0) assert (f_last_q[f_newest]);
  assert (failed_q == f_bad_q);
  if (f_bad_q) begin
    assert (failed_page_q == f_bad_page_q && failed_status_q == f_bad_status_q);
    assert (f_count_q != '0 || (f_open_q && f_made_q != '0));
  end
  assert (f_in_use <= Slots && f_unretired <= f_in_use);
  assert (f_slot_q == accepted_q[SlotWidth-1:0] && f_next_q == retired_q[SlotWidth-1:0] && f_release_q == released_q[SlotWidth-1:0]);
end
for (genvar s = 0; s < Slots; s++) begin : gen_f_slot
  logic [SlotWidth-1:0] from_retired, from_released;
  assign from_retired  = SlotWidth'(s) - retired_q[SlotWidth-1:0];
  assign from_released = SlotWidth'(s) - released_q[SlotWidth-1:0];
  always_comb if (rst_ni) begin
    assert (f_busy_q[s] == ({1'b0, from_retired} < f_unretired));
    assert (f_kept_q[s] == ({1'b0, from_released} < f_in_use - f_unretired));
  end
end
