// Properties of nvs_completer_request. Included in the module under FORMAL. What a bus address means; and that every request gets from the
// port to both receivers, unchanged: one request, chosen by the solver, is followed.

logic f_started = 1'b0;
always_ff @(posedge clk_i) f_started <= 1'b1;
always_comb assume (rst_ni == f_started);

// Meaning of a bus address: ranges of the address map.
localparam logic [39:0] FControl = 40'h80_0000_0000;
localparam logic [39:0] FLists   = 40'h80_0001_0000;
localparam logic [39:0] FListEnd = FLists + (2 * Slots * ChunkPages * 8 + 4095) / 4096 * 4096;  // whole pages
localparam logic [39:0] FRing    = (4 * Write + Drive) * Slots * ChunkPages * 4096;
logic [2:0]             f_kind;
logic [OffsetWidth-1:0] f_offset;
always_comb begin
  f_kind   = KindNone;
  f_offset = s_addr_i;
  if (s_addr_i >= FRing && s_addr_i < FRing + Slots * ChunkPages * 4096) f_kind = KindRing;
  for (integer q = 0; q < 3; q++) begin
    if (s_addr_i >= FControl + 'h2000 * q + 'h1000 * Write && s_addr_i < FControl + 'h2000 * q + 'h1000 * Write + 'h1000) f_kind = 3'(4 + q);
  end
  if (Write == 1 && s_addr_i >= FControl + 'h6000 && s_addr_i < FControl + 'h7000) f_kind = KindIdentify;
  if (Write == 0 && s_addr_i >= FLists && s_addr_i < FListEnd) begin
    f_kind   = KindList;
    f_offset = s_addr_i - FLists;
  end
  if (!s_whole_i) f_kind = KindNone;
end
always_comb if (rst_ni) assert (kind == f_kind && (f_kind == KindNone || offset == f_offset));

// A request that memory does not take is stable while its receiver is ready.
logic                 f_asking_q = 1'b0;
logic [RingWidth+7:0] f_asked_q;
always_ff @(posedge clk_i) begin
  f_asking_q <= rst_ni && m_valid_o && !m_ready_i;
  f_asked_q  <= {m_addr_o, m_len_o};
end
always_comb if (rst_ni && f_asking_q) assert (m_valid_o == next_ready_i && {m_addr_o, m_len_o} == f_asked_q);

// A request of the ring leaves to both in the same cycle, any other to one.
logic f_accept, f_leave;
assign f_accept = s_valid_i && s_ready_o;
assign f_leave  = next_valid_o && next_ready_i;
always_comb if (rst_ni) begin
  assert ((m_valid_o && m_ready_i) == (f_leave && next_kind_o == KindRing));
  if (!(m_valid_o && !m_ready_i)) assert (f_leave == (valid && next_ready_i));
end

// The chosen request.
logic                   f_pick;             // free
logic                   f_inside_q = 1'b0;  // it has not left
logic [1:0]             f_count_q = '0, f_ahead_q;
logic [2:0]             f_kind_q;
logic [OffsetWidth-1:0] f_offset_q;
logic [7:0]             f_len_q;
logic [IdWidth-1:0]     f_id_q;
always_ff @(posedge clk_i) if (rst_ni) begin
  f_count_q <= f_count_q + 2'(f_accept) - 2'(f_leave);
  if (f_inside_q && f_leave) begin
    if (f_ahead_q == '0) f_inside_q <= 1'b0;
    else f_ahead_q <= f_ahead_q - 1'b1;
  end
  if (f_accept && f_pick && !f_inside_q) begin
    f_inside_q <= 1'b1;
    f_ahead_q  <= f_count_q - 2'(f_leave);
    f_kind_q   <= f_kind;
    f_offset_q <= f_offset;
    f_len_q    <= s_len_i;
    f_id_q     <= s_id_i;
  end
end
always_comb if (rst_ni) begin
  assert (valid == (f_count_q != '0) && s_ready_o == (f_count_q != 2'd2));
  if (f_inside_q && f_ahead_q == '0) begin
    assert (valid && next_kind_o == f_kind_q && next_id_o == f_id_q && next_len_o == f_len_q);
    if (f_kind_q != KindNone) assert (next_word_o == f_offset_q[BeatShift +: WordWidth]);
    if (m_valid_o) assert (m_addr_o == FRing + f_offset_q && m_len_o == f_len_q);
  end
end
