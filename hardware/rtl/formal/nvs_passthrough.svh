// Properties of nvs_passthrough. Included in the module under FORMAL.

logic f_started = 1'b0;
always_ff @(posedge clk_i) f_started <= 1'b1;
always_comb assume (rst_ni == f_started);

// Dwords as they were last written while no command was under way, one that the solver chooses and the first one.
logic [3:0]  f_number;  // free, constant
logic        f_known_q = 1'b0, f_first_known_q = 1'b0;
logic [31:0] f_dword_q, f_first_q;
logic [15:0] f_written;
assign f_written = {dword_valid_i[7:2], 8'h00, dword_valid_i[1:0]};
always_comb assume (({dword_valid_i, go_i} & ({dword_valid_i, go_i} - 1'b1)) == '0);
always_ff @(posedge clk_i) begin
  f_number <= f_number;
  if (rst_ni && !busy_o && f_written[f_number]) begin
    f_known_q <= 1'b1;
    f_dword_q <= dword_i;
  end
  if (rst_ni && !busy_o && dword_valid_i[0]) begin
    f_first_known_q <= 1'b1;
    f_first_q       <= dword_i;
  end
end

// The entry, in the bus word that is asked for.
logic        f_io;
logic [63:0] f_page;
logic [31:0] f_seen;
assign f_io   = f_first_q[31];
assign f_page = f_first_q[1:0] == 2'b00 ? 64'h0
              : BusBase + ((64'(f_first_q[1]) << (RingWidth - 1)) + (64'(Drive) << (RingWidth - 3)));
assign f_seen = 32'(word_o >> (32 * (32'(f_number) % Lanes)));
always_comb if (rst_ni && 32'(part_i) == 32'(f_number) / Lanes) begin
  case (f_number)
    4'd0: if (f_known_q) assert (f_seen == {f_io ? 16'(Entries / 2) : admin_cid_i, 8'h00, f_dword_q[7:0]});
    4'd1, 4'd10, 4'd11, 4'd12, 4'd13, 4'd14, 4'd15: if (f_known_q) assert (f_seen == f_dword_q);
    4'd6: if (f_first_known_q) assert (f_seen == f_page[31:0]);
    4'd7: if (f_first_known_q) assert (f_seen == f_page[63:32]);
    default: assert (f_seen == '0);
  endcase
end

// Life of a command.
logic f_past_q = 1'b0, f_go_q, f_refused_q, f_busy_q, f_done_q, f_lost_q, f_offer_q, f_status_set_q;
logic f_sent_q = 1'b0;  // the command that is under way was taken by nvs_split
always_ff @(posedge clk_i) begin
  f_past_q    <= rst_ni;
  f_go_q      <= go_i && !busy_o;
  f_refused_q <= !allowed_i || !ready_i || (f_first_known_q && f_first_q[1:0] == 2'b11);
  f_busy_q    <= busy_o;
  f_done_q    <= busy_o && (admin_o ? admin_done_i : io_done_i);
  f_lost_q    <= busy_o && !ready_i && !admin_busy_i;
  f_offer_q   <= io_valid_o && !io_ready_i;
  f_sent_q    <= rst_ni && busy_o && (f_sent_q || (io_valid_o && io_ready_i));
end
always_comb if (rst_ni) begin
  assert (busy_o == status_o[0]);
  assert (!(admin_o && io_valid_o) && !(admin_entry_o && io_entry_o));
  assert (admin_entry_o == admin_o && (admin_entry_o || io_entry_o) == busy_o);
  if (busy_o && f_first_known_q) assert (f_io == io_entry_o && f_first_q[1:0] != 2'b11);
  if (f_sent_q) assert (!io_valid_o);
  if (busy_o && io_entry_o && !f_sent_q) assert (io_valid_o);
  if (!busy_o) assert (!admin_o && !io_valid_o);
  // How it stands is one of busy, completed, refused, lost, or nothing yet.
  assert ((status_o[3:0] & (status_o[3:0] - 1'b1)) == '0);
  assert (status_o[30:16] == (status_o[1] ? status_i : 15'h0) && !status_o[31] && status_o[15:4] == '0);
  if (f_past_q) begin
    if (f_go_q && f_refused_q) assert (!busy_o && status_o[2]);
    if (busy_o && !f_busy_q) assert (f_go_q && !f_refused_q);
    if (f_go_q && f_first_known_q && !f_refused_q && f_first_q[1:0] != 2'b11) assert (busy_o || status_o[2]);
    if (f_busy_q) assert (busy_o == !(f_done_q || f_lost_q));
    if (f_done_q) assert (status_o[1]);
    if (f_lost_q && !f_done_q) assert (status_o[3]);
    if (f_offer_q && f_busy_q && busy_o) assert (io_valid_o);
  end
end
