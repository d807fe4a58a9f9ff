// Properties of nvs_completer. Included in the module under FORMAL. The two halves have proofs of their own; here: the boundary.

logic f_started = 1'b0;
always_ff @(posedge clk_i) f_started <= 1'b1;
always_comb assume (rst_ni == f_started);

localparam int unsigned PartWidth = RingWidth - 3;
always_comb if (rst_ni) begin
  // Memory is read in the own record part only and written in the own replay part only.
  if (mem_ar_valid_o) assert (mem_ar_addr_o >> PartWidth == Drive);
  if (mem_aw_valid_o) assert (mem_aw_addr_o >> PartWidth == 4 + Drive);
  // A completion entry is for one queue.
  assert (2'(cqe_valid_o[0]) + 2'(cqe_valid_o[1]) + 2'(admin_cqe_valid_o) <= 2'd1);
end

// A forwarded address is one that the drive asked for: as many reads and writes leave as came, at most.
logic [4:0] f_reads_q = '0, f_writes_q = '0;
always_ff @(posedge clk_i) if (rst_ni) begin
  f_reads_q  <= f_reads_q + 5'(dev_ar_valid_i && dev_ar_ready_o) - 5'(mem_ar_valid_o && mem_ar_ready_i);
  f_writes_q <= f_writes_q + 5'(dev_aw_valid_i && dev_aw_ready_o) - 5'(mem_aw_valid_o && mem_aw_ready_i);
end
always_comb if (rst_ni) begin
  if (mem_ar_valid_o) assert (f_reads_q != '0);
  if (mem_aw_valid_o) assert (f_writes_q != '0);
end

// Every error is reported.
always_comb if (rst_ni) assert (protocol_error_o == (read_error || write_error));
