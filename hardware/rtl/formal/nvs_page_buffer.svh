// Properties of nvs_page_buffer. Included in the module under FORMAL. The queues have proofs of their own.

logic f_started = 1'b0;
always_ff @(posedge clk_i) f_started <= 1'b1;
always_comb assume (rst_ni == f_started);

// Environment: as nvs_ingress, the address comes with the first beat of its burst; a burst has at most PageBeats beats.
logic                         f_open_q = 1'b0;  // inside a burst at the input
logic [$clog2(PageBeats):0]   f_length_q = '0;
logic                         f_push, f_pop;
assign f_push = w_valid_i && w_ready_o;
assign f_pop  = m_w_valid_o && m_w_ready_i;
always_ff @(posedge clk_i) begin
  if (!rst_ni) begin
    f_open_q   <= 1'b0;
    f_length_q <= '0;
  end else if (f_push) begin
    f_open_q   <= !w_last_i;
    f_length_q <= w_last_i ? '0 : f_length_q + 1'b1;
  end
end
always_comb begin
  assume (aw_valid_i == (w_valid_i && !f_open_q && aw_ready_o && w_ready_o));
  if (w_valid_i && !f_open_q) assume (aw_ready_o && w_ready_o);
  if (f_length_q == PageBeats - 1) assume (w_last_i);
end

// Bursts in and out, counted.
logic [7:0] f_bursts_in_q = '0, f_addresses_out_q = '0, f_bursts_out_q = '0;
always_ff @(posedge clk_i) begin
  if (!rst_ni) begin
    f_bursts_in_q     <= '0;
    f_addresses_out_q <= '0;
    f_bursts_out_q    <= '0;
  end else begin
    if (f_push && w_last_i) f_bursts_in_q <= f_bursts_in_q + 1'b1;
    if (m_aw_valid_o && m_aw_ready_i) f_addresses_out_q <= f_addresses_out_q + 1'b1;
    if (f_pop && m_w_last_o) f_bursts_out_q <= f_bursts_out_q + 1'b1;
  end
end
always_comb if (rst_ni) begin
  if (m_aw_valid_o) assert (f_addresses_out_q != f_bursts_in_q);
  if (m_w_valid_o) assert (f_bursts_out_q != f_addresses_out_q);
  assert (complete_q == (CountWidth)'(f_bursts_in_q - f_addresses_out_q));
  assert (open_q == (CountWidth)'(f_addresses_out_q - f_bursts_out_q));
end

// A chosen beat: it leaves unchanged after those before it; likewise a chosen address.
logic                 f_pick, f_pick_address;
logic                 f_inside_q = 1'b0, f_address_inside_q = 1'b0;
logic [7:0]           f_ahead_q, f_count_q = '0, f_address_ahead_q, f_address_count_q = '0;
logic [DataWidth:0]   f_beat_q;
logic [AddrWidth-1:0] f_address_q;
always_ff @(posedge clk_i) begin
  if (!rst_ni) begin
    f_inside_q         <= 1'b0;
    f_count_q          <= '0;
    f_address_inside_q <= 1'b0;
    f_address_count_q  <= '0;
  end else begin
    f_count_q         <= f_count_q + 8'(f_push) - 8'(f_pop);
    f_address_count_q <= f_address_count_q + 8'(aw_valid_i && aw_ready_o) - 8'(m_aw_valid_o && m_aw_ready_i);
    if (f_inside_q) begin
      if (f_pop) begin
        if (f_ahead_q == '0) f_inside_q <= 1'b0;
        else f_ahead_q <= f_ahead_q - 1'b1;
      end
    end else if (f_push && f_pick) begin
      f_inside_q <= 1'b1;
      f_ahead_q  <= f_count_q - 8'(f_pop);
      f_beat_q   <= {w_last_i, w_data_i};
    end
    if (f_address_inside_q) begin
      if (m_aw_valid_o && m_aw_ready_i) begin
        if (f_address_ahead_q == '0) f_address_inside_q <= 1'b0;
        else f_address_ahead_q <= f_address_ahead_q - 1'b1;
      end
    end else if (aw_valid_i && aw_ready_o && f_pick_address) begin
      f_address_inside_q <= 1'b1;
      f_address_ahead_q  <= f_address_count_q - 8'(m_aw_valid_o && m_aw_ready_i);
      f_address_q        <= aw_addr_i;
    end
  end
end
always_comb if (rst_ni) begin
  if (f_inside_q && f_ahead_q == '0 && m_w_valid_o) assert ({m_w_last_o, m_w_data_o} == f_beat_q);
  if (f_address_inside_q && f_address_ahead_q == '0 && m_aw_valid_o) assert (m_aw_addr_o == f_address_q);
end

// Outputs are stable until they are taken; an open burst never waits for the stream.
logic                 f_aw_waits_q = 1'b0, f_w_waits_q = 1'b0;
logic [AddrWidth-1:0] f_aw_q;
logic [DataWidth:0]   f_w_q;
logic [1:0]           f_idle_q = '0;
always_ff @(posedge clk_i) begin
  f_aw_waits_q <= rst_ni && m_aw_valid_o && !m_aw_ready_i;
  f_aw_q       <= m_aw_addr_o;
  f_w_waits_q  <= rst_ni && m_w_valid_o && !m_w_ready_i;
  f_w_q        <= {m_w_last_o, m_w_data_o};
  f_idle_q     <= !rst_ni || open_q == '0 || m_w_valid_o ? '0 : f_idle_q + 1'b1;
end
always_comb if (rst_ni) begin
  if (f_aw_waits_q) assert (m_aw_valid_o && m_aw_addr_o == f_aw_q);
  if (f_w_waits_q) assert (m_w_valid_o && {m_w_last_o, m_w_data_o} == f_w_q);
  assert (f_idle_q < 2'd2);
end
