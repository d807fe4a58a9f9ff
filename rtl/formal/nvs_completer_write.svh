// Properties of nvs_completer_write. Included in the module under FORMAL.

logic f_started = 1'b0;
always_ff @(posedge clk_i) f_started <= 1'b1;
always_comb assume (rst_ni == f_started);

always_comb if (rst_ni) begin
  if (m_aw_valid_o) assert (m_aw_addr_o >> OffsetWidth == 4 + Drive);
  // An answer and a completion entry leave the order only with an acknowledgement for a ring write.
  if (head_pop && head_ring) assert (acknowledged_q != '0 && !give);
end
