// Properties of nvs_completer_read. Included in the module under FORMAL.
//
// What a bus address means; and that every request gets from the port to the head of the order, unchanged: one request, chosen by the
// solver, is followed. Of the answers only their number counts here.

logic f_started = 1'b0;
always_ff @(posedge clk_i) f_started <= 1'b1;
always_comb assume (rst_ni == f_started);

// The bursts of the drive stay within a page.
always_comb assume (32'(dev_ar_addr_i[11:BeatShift]) + 32'(dev_ar_len_i) < 4096 / BeatBytes);

// A forwarded request is stable until it is taken.
logic                 f_asking_q = 1'b0;
logic [RingWidth+7:0] f_asked_q;
always_ff @(posedge clk_i) begin
  f_asking_q <= rst_ni && mem_ar_valid_o && !mem_ar_ready_i;
  f_asked_q  <= {mem_ar_addr_o, mem_ar_len_o};
end
always_comb if (rst_ni && f_asking_q) assert (mem_ar_valid_o && {mem_ar_addr_o, mem_ar_len_o} == f_asked_q);

// Meaning of a bus address: ranges of the address map.
localparam int unsigned OffsetWidth = SlotWidth + PageWidth + 12;  // inside the ring part
localparam logic [2:0]  KindNone   = 3'd0;
localparam logic [2:0]  KindRing   = 3'd1;
localparam logic [2:0]  KindList   = 3'd3;
localparam logic [2:0]  KindAdmin  = 3'd4;
localparam logic [2:0]  KindRecord = 3'd5;
localparam logic [2:0]  KindReplay = 3'd6;
localparam logic [39:0] FControl = 40'h80_0000_0000;
localparam logic [39:0] FLists   = 40'h80_0001_0000;
localparam logic [39:0] FListEnd = FLists + (2 * Slots * ChunkPages * 8 + 4095) / 4096 * 4096;  // whole pages
logic [2:0]             f_kind;
logic [OffsetWidth-1:0] f_offset;
always_comb begin
  f_kind   = KindNone;
  f_offset = dev_ar_addr_i;
  if (dev_ar_addr_i < FControl) begin
    if (dev_ar_addr_i >= Drive * Slots * ChunkPages * 4096 && dev_ar_addr_i < (Drive + 1) * Slots * ChunkPages * 4096) f_kind = KindRing;
  end
  else if (dev_ar_addr_i < FControl + 'h1000) f_kind = KindAdmin;
  else if (dev_ar_addr_i >= FControl + 'h2000 && dev_ar_addr_i < FControl + 'h3000) f_kind = KindRecord;
  else if (dev_ar_addr_i >= FControl + 'h4000 && dev_ar_addr_i < FControl + 'h5000) f_kind = KindReplay;
  else if (dev_ar_addr_i >= FLists && dev_ar_addr_i < FListEnd) begin
    f_kind   = KindList;
    f_offset = dev_ar_addr_i - FLists;
  end
  if (!dev_ar_whole_i) f_kind = KindNone;
end

// Counts: accepted requests that have not left the order; ring requests that are not forwarded; words that memory owes.
logic f_accept, f_accept_ring, f_ask;
assign f_accept      = dev_ar_valid_i && dev_ar_ready_o;
assign f_accept_ring = f_accept && f_kind == KindRing;
assign f_ask         = mem_ar_valid_o && mem_ar_ready_i;
logic [4:0]  f_requests_q = '0, f_unasked_q = '0;
logic [11:0] f_owed_q = '0;
always_ff @(posedge clk_i) if (rst_ni) begin
  f_requests_q <= f_requests_q + 5'(f_accept) - 5'(head_pop);
  f_unasked_q  <= f_unasked_q + 5'(f_accept_ring) - 5'(f_ask);
  f_owed_q     <= f_owed_q + (f_ask ? 12'(mem_ar_len_o) + 12'd1 : 12'd0) - 12'(mem_r_valid_i && mem_r_ready_o);
end
always_comb if (rst_ni) begin
  if (head_valid_q) assert (f_requests_q != '0);
  if (mem_ar_valid_o) assert (f_unasked_q != '0);
  if (mem_r_ready_o) assert (f_owed_q != '0);
end

// The chosen request. f_head_q: length and first word of the oldest one.
logic [8+WordWidth-1:0] f_head_q;
always_ff @(posedge clk_i) if (head_ready) f_head_q <= next_q[8+WordWidth-1:0];
logic                   f_pick;             // free
logic                   f_inside_q = 1'b0;  // it has not left the order
logic                   f_to_ask_q = 1'b0;  // it is for memory and is not forwarded
logic [4:0]             f_ahead_q, f_ask_ahead_q;
logic [2:0]             f_kind_q;
logic [OffsetWidth-1:0] f_offset_q;
logic [7:0]             f_len_q;
logic [IdWidth-1:0]     f_id_q;
always_ff @(posedge clk_i) if (rst_ni) begin
  if (f_inside_q && head_pop) begin
    if (f_ahead_q == '0) f_inside_q <= 1'b0;
    else f_ahead_q <= f_ahead_q - 1'b1;
  end
  if (f_to_ask_q && f_ask) begin
    if (f_ask_ahead_q == '0) f_to_ask_q <= 1'b0;
    else f_ask_ahead_q <= f_ask_ahead_q - 1'b1;
  end
  if (f_accept && f_pick && !f_inside_q) begin
    f_inside_q    <= 1'b1;
    f_ahead_q     <= f_requests_q - 5'(head_pop);
    f_to_ask_q    <= f_accept_ring;
    f_ask_ahead_q <= f_unasked_q - 5'(f_ask);
    f_kind_q      <= f_kind;
    f_offset_q    <= f_offset;
    f_len_q       <= dev_ar_len_i;
    f_id_q        <= dev_ar_id_i;
  end
end
always_comb if (rst_ni) begin
  if (f_to_ask_q) assert (f_inside_q);
  if (f_to_ask_q && f_ask_ahead_q == '0 && mem_ar_valid_o) begin
    assert (mem_ar_addr_o == Drive * Slots * ChunkPages * 4096 + f_offset_q && mem_ar_len_o == f_len_q);
  end
  if (f_inside_q && f_ahead_q == '0 && head_valid_q) begin
    assert ({head_q, f_head_q[8+WordWidth-1:WordWidth]} == {f_kind_q, f_id_q, f_len_q});
    if (f_kind_q != KindNone && f_kind_q != KindRing) assert (f_head_q[WordWidth-1:0] == f_offset_q[MadeWidth-1:BeatShift]);
    if (f_kind_q == KindRing) assert (!f_to_ask_q);
  end
end

// Progress: with a ready drive and a ready memory, an accepted request is answered word by word.
logic [2:0] f_idle_q = '0;
always_ff @(posedge clk_i) begin
  if (!rst_ni || dev_r_valid_o || f_requests_q == '0 || !mem_ar_ready_i || !mem_r_valid_i || !dev_r_ready_i) f_idle_q <= '0;
  else f_idle_q <= f_idle_q + 1'b1;
end
always_comb if (rst_ni) assert (f_idle_q < 3'd6);
