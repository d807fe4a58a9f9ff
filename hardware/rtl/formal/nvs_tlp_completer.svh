// Properties of nvs_tlp_completer. Included in the module under FORMAL.
//
// All reads of the proof are the same, of a chosen first byte and length, short, across a multiple of the payload size or not; some of them are not
// supported. Each dword of r_* carries its address. So what each completion must be follows from the one before it.

logic f_started = 1'b0;
always_ff @(posedge clk_i) f_started <= 1'b1;
always_comb assume (rst_ni == f_started);

logic [11:0] f_addr, f_addr_q;
logic [10:0] f_dwords, f_dwords_q;
logic [1:0]  f_rest, f_rest_q;  // bytes behind the last one
always_ff @(posedge clk_i) begin
  f_addr_q   <= f_started ? f_addr_q : f_addr;
  f_dwords_q <= f_started ? f_dwords_q : f_dwords;
  f_rest_q   <= f_started ? f_rest_q : f_rest;
end
logic [12:0] f_bytes;
assign f_bytes = {f_dwords_q, 2'b00} - 13'(f_addr_q[1:0]) - 13'(f_rest_q);

// Words of r_*: those of the reads, in order; none before its read.
logic [10:0] f_word_q = '0;                 // number of the word in its read
logic [3:0]  f_due_q = '0;                  // reads whose words have not all come
logic [10:0] f_words;
logic        f_read, f_word_last;
assign f_words     = 11'((32'(f_addr_q[11:2]) % Lanes + 32'(f_dwords_q) + Lanes - 1) / Lanes);
assign f_read      = read_valid_i && read_ready_o;
assign f_word_last = r_valid_i && r_ready_o && f_word_q + 1'b1 == f_words;
always_ff @(posedge clk_i) if (rst_ni) begin
  f_due_q <= f_due_q + 4'(f_read && !read_unsupported_i) - 4'(f_word_last);
  if (r_valid_i && r_ready_o) f_word_q <= f_word_last ? '0 : f_word_q + 1'b1;
end
logic [11:0] f_r_addr;  // of the first dword of the word
assign f_r_addr = {f_addr_q[11:2+LaneWidth], (2+LaneWidth)'(0)} + 12'(f_word_q) * 12'(4 * Lanes);
always_comb if (rst_ni) begin
  assume (max_payload_i == '0);
  // Within 4 KiB; a few dwords, around a multiple of the payload size.
  assume (f_dwords_q != '0 && f_dwords_q <= 6 && 32'(f_addr_q[11:2]) + 32'(f_dwords_q) <= 1024);
  assume (f_dwords_q != 11'd1 || 3'(f_addr_q[1:0]) + 3'(f_rest_q) < 3'd4);
  if (read_valid_i) begin
    assume (read_addr_i == f_addr_q && read_dwords_i == f_dwords_q && read_bytes_i == f_bytes);
    assume (read_label_i == LabelWidth'(read_unsupported_i));
  end
  assume (!r_valid_i || f_due_q != '0);
  for (integer m = 0; m < Lanes; m++) assume (r_data_i[32*m +: 32] == 32'(f_r_addr) + 4 * m);
  // Its words are taken once: a word is not asked for before its read.
  if (r_ready_o && !dead) assert (f_due_q != '0 || !r_valid_i);
end

// Packets: what has been answered of the read at the output.
logic [10:0] f_sent_q = '0;   // dwords in completions before this one
logic [3:0]  f_beat_q = '0;
logic        f_take;
logic [11:0] f_at;            // address of the completion's first byte
logic [10:0] f_place;         // dwords before this beat, the header among them
logic        f_abort_q = 1'b0;
assign f_take  = m_valid_o && m_ready_i;
assign f_at    = f_sent_q == '0 ? f_addr_q : {f_addr_q[11:2] + 10'(f_sent_q), 2'b00};
assign f_place = 11'(f_beat_q) * 11'(Lanes);
always_ff @(posedge clk_i) if (rst_ni) begin
  f_abort_q <= f_abort_q || abort_i;
  if (f_take) begin
    f_beat_q <= m_last_o ? '0 : f_beat_q + 1'b1;
    if (m_last_o && !m_unsupported_o) f_sent_q <= f_sent_q + m_dwords_o == f_dwords_q ? '0 : f_sent_q + m_dwords_o;
  end
end
always_comb if (rst_ni && m_valid_o && !f_abort_q) begin
  assert (m_first_o == (f_beat_q == '0));
  assert (m_label_o == LabelWidth'(m_unsupported_o));
  if (m_unsupported_o) begin
    assert (m_dwords_o == '0 && m_last_o && f_sent_q == '0);
  end else begin
    assert (m_lower_o == f_at[6:0]);
    assert (m_bytes_o == f_bytes - (f_sent_q == '0 ? 13'd0 : {f_sent_q, 2'b00} - 13'(f_addr_q[1:0])));
    assert (m_dwords_o != '0 && m_dwords_o + f_sent_q <= f_dwords_q);
    // It ends at the end of the read or at a multiple of 128 bytes, and crosses none.
    assert (m_dwords_o + f_sent_q == f_dwords_q || 7'(f_at[6:2] + 5'(m_dwords_o)) % 32 == 0);
    assert (32'(f_at[6:2]) + 32'(m_dwords_o) <= 32);
    for (integer m = 0; m < Lanes; m++) begin
      if (32'(f_place) + m >= HeaderLanes && 32'(f_place) + m < HeaderLanes + 32'(m_dwords_o)) begin
        assert (m_keep_o[m] && m_data_o[32*m +: 32] == {20'b0, f_at[11:2], 2'b00} + 4 * (32'(f_place) + m - HeaderLanes));
      end
    end
  end
  // Lanes in use: up to the last dword, in the last beat.
  assert (m_last_o == (32'(f_place) + Lanes >= HeaderLanes + 32'(m_dwords_o)));
  assert (32'(m_lanes_o) == (m_last_o ? (HeaderLanes + 32'(m_dwords_o) - 1) % Lanes : Lanes - 1));
  for (integer m = 0; m < Lanes; m++) assert (m_keep_o[m] == (m <= 32'(m_lanes_o)));
end

// Nothing stays: with words and a taker, all reads are answered; also after an abort.
logic [4:0] f_taking_q = '0;
always_ff @(posedge clk_i) begin
  if (!rst_ni || abort_i || read_valid_i || !m_ready_i || (f_due_q != '0 && !r_valid_i)) f_taking_q <= '0;
  else if (!(&f_taking_q)) f_taking_q <= f_taking_q + 1'b1;
end
always_comb if (rst_ni && f_taking_q >= 5'd12 && f_due_q == '0) assert (open_q == '0 && dead_q == '0 && !m_valid_o);

// Outputs are stable until they are taken.
logic                                                   f_waiting_q = 1'b0;
logic [DataWidth+Lanes+LaneWidth+3+7+13+11+LabelWidth-1:0] f_old_q, f_now;
assign f_now = {m_data_o, m_keep_o, m_lanes_o, m_first_o, m_last_o, m_unsupported_o, m_lower_o, m_bytes_o, m_dwords_o, m_label_o};
always_ff @(posedge clk_i) begin
  f_waiting_q <= rst_ni && m_valid_o && !m_ready_i;
  f_old_q     <= f_now;
end
always_comb if (rst_ni && f_waiting_q && !abort_i) assert (m_valid_o && f_now == f_old_q);
