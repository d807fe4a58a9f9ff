// Properties of nvs_registers. Included in the module under FORMAL, after what the description says of the chosen word `f_word`.

logic f_started = 1'b0;
always_ff @(posedge clk_i) f_started <= 1'b1;
always_comb assume (rst_ni == f_started);

// The chosen word does not change.
always_ff @(posedge clk_i) begin
  f_chosen_q <= 1'b1;
  f_word_q   <= f_word;
end

// Requests that were taken and not answered. Address and data of the next write may come while a response waits.
logic aw_take, w_take, b_take, ar_take, r_take;
assign aw_take = s_reg_aw_valid_i && s_reg_aw_ready_o;
assign w_take  = s_reg_w_valid_i && s_reg_w_ready_o;
assign b_take  = s_reg_b_valid_o && s_reg_b_ready_i;
assign ar_take = s_reg_ar_valid_i && s_reg_ar_ready_o;
assign r_take  = s_reg_r_valid_o && s_reg_r_ready_i;
logic [1:0] f_addresses_q = '0, f_data_q = '0;
logic       f_reads_q = 1'b0;
logic       f_both_q = 1'b0, f_asked_q = 1'b0, f_asked2_q = 1'b0;  // a cycle before, a response was due; two cycles
always_ff @(posedge clk_i) if (rst_ni) begin
  f_addresses_q <= f_addresses_q + 2'(aw_take) - 2'(b_take);
  f_data_q      <= f_data_q + 2'(w_take) - 2'(b_take);
  f_reads_q     <= (f_reads_q || ar_take) && !r_take;
  f_both_q      <= f_addresses_q != 0 && f_data_q != 0 && !b_take;
  f_asked_q     <= f_reads_q && !r_take;
  f_asked2_q    <= f_asked_q && f_reads_q && !r_take;
end
always_comb if (rst_ni) begin
  assert (f_addresses_q == 2'(aw_full_q) + 2'(b_valid_q));
  assert (f_data_q == 2'(w_full_q) + 2'(b_valid_q));
  assert (f_reads_q == (ar_full_q || looked_q || r_valid_q));
  assert (!(ar_full_q && looked_q) && !(ar_full_q && r_valid_q) && !(looked_q && r_valid_q));
  if (s_reg_b_valid_o) assert (f_addresses_q != 0 && f_data_q != 0);
  if (s_reg_r_valid_o) assert (f_reads_q && !ar_take);
  if (f_both_q) assert (s_reg_b_valid_o);
  if (f_asked2_q) assert (s_reg_r_valid_o);
  if (f_asked_q) assert (looked_q || r_valid_q);
  assert (s_reg_b_resp_o == 0 && s_reg_r_resp_o == 0);
end

// Responses are stable until they are taken.
logic        f_b_waiting_q = 1'b0, f_r_waiting_q = 1'b0;
logic [31:0] f_r_data_q;
always_ff @(posedge clk_i) begin
  f_b_waiting_q <= rst_ni && s_reg_b_valid_o && !s_reg_b_ready_i;
  f_r_waiting_q <= rst_ni && s_reg_r_valid_o && !s_reg_r_ready_i;
  f_r_data_q    <= s_reg_r_data_o;
end
always_comb if (rst_ni) begin
  if (f_b_waiting_q) assert (s_reg_b_valid_o);
  if (f_r_waiting_q) assert (s_reg_r_valid_o && s_reg_r_data_o == f_r_data_q);
end

// The write under way as the bus saw it. In the first cycle of its response the next address and data may be taken; they are seen
// here after it.
logic [9:0]  f_aw_q;
logic [31:0] f_w_q;
logic [3:0]  f_strb_q;
logic        f_wrote;  // a response appears: the write has happened
always_ff @(posedge clk_i) begin
  if (aw_take) f_aw_q <= s_reg_aw_addr_i[11:2];
  if (w_take)  {f_w_q, f_strb_q} <= {s_reg_w_data_i, s_reg_w_strb_i};
end
assign f_wrote = s_reg_b_valid_o && !f_b_waiting_q;
always_comb if (rst_ni) begin
  if (aw_full_q) assert (aw_word_q == f_aw_q);
  if (w_full_q)  assert (w_data_q == f_w_q && w_strb_q == f_strb_q);
end

// A kept word is what was last written, byte by byte; one that acts gave its pulse in the cycle before the response, and no other.
logic [31:0] f_kept_q, f_due, f_command_q, f_masked;
logic        f_pulse_q = 1'b0;
always_comb begin
  f_due = f_kept_q;
  for (integer b = 0; b < 4; b++) begin
    if (f_wrote && f_aw_q == f_word && f_strb_q[b]) f_due[8*b +: 8] = f_w_q[8*b +: 8];
    f_masked[8*b +: 8] = f_strb_q[b] ? f_w_q[8*b +: 8] : 8'h00;
  end
end
always_ff @(posedge clk_i) begin
  f_kept_q    <= rst_ni ? f_due : f_reset;
  f_pulse_q   <= rst_ni && f_pulse;
  f_command_q <= f_order;
end
always_comb if (rst_ni) begin
  if (f_rw) assert (f_value == f_due);
  if (f_w1p) assert (f_pulse_q == (f_wrote && f_aw_q == f_word));
  if (f_w1p && f_pulse_q) assert (f_command_q == f_masked);
end

logic [63:0] f_row;
assign f_row = row;

// A read gives the value of two cycles before its response, or what was kept with the low half.
logic        f_any_q = 1'b0;      // there was a read
logic [9:0]  f_ar_q;              // word of the last read
logic        f_kept_high_q;       // it is the chosen word, a high half, and the read before it was of its low half
logic [31:0] f_value_q, f_value2_q, f_high_q; // the chosen word in the cycle before, in that before it, and when its low half was read
logic        f_answer, f_low;     // a response appears; the last read was of the chosen word's low half
assign f_answer = s_reg_r_valid_o && !f_r_waiting_q;
assign f_low    = f_any_q && f_held && f_word[0] && f_ar_q == {f_word[9:1], 1'b0};
always_ff @(posedge clk_i) begin
  f_value_q  <= f_value;
  f_value2_q <= f_value_q;
  if (ar_take && rst_ni) begin
    f_any_q       <= 1'b1;
    f_ar_q        <= s_reg_ar_addr_i[11:2];
    f_kept_high_q <= f_low && s_reg_ar_addr_i[11:2] == f_word;
  end
  if (f_answer && f_low) f_high_q <= f_value2_q;
end
always_comb if (rst_ni) begin
  if (f_answer && f_ar_q == f_word) assert (s_reg_r_data_o == (f_kept_high_q ? f_high_q : f_value2_q));
  // What the induction needs.
  if (f_kept_high_q && f_any_q) assert (f_held && f_word[0]);
  assert (ar_word_q == (f_any_q ? f_ar_q : 10'h000));
  assert (!f_reads_q || f_any_q);
  if ((ar_full_q || looked_q) && f_ar_q == f_word) assert (keep_q == f_kept_high_q);
  if (f_low && looked_q) assert (f_row[63:32] == f_value_q);
  if (looked_q && f_ar_q == f_word) assert ((f_word[0] ? f_row[63:32] : f_row[31:0]) == f_value_q);
  if (f_low && !ar_full_q && !looked_q) assert (row_q[63:32] == (f_answer ? f_value2_q : f_high_q));
  if ((ar_full_q || looked_q) && keep_q && f_ar_q == f_word) assert (row_q[63:32] == f_high_q);
end
