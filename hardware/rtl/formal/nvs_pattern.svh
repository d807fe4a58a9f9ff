// Properties of nvs_pattern. Included in the module under FORMAL.

logic f_started = 1'b0;
always_ff @(posedge clk_i) f_started <= 1'b1;
always_comb assume (rst_ni == f_started);

// Oracle: 128 clocks of the LFSR, each times x. `times_x128` consists of XORs only, so it is linear, and a linear function that is right
// for every single bit is right.
function automatic logic [127:0] f_clocked(input logic [127:0] r);
  f_clocked = r;
  for (integer n = 0; n < 128; n++) f_clocked = {f_clocked[126:0], 1'b0} ^ (f_clocked[127] ? 128'h87 : 128'h0);
endfunction
for (genvar b = 0; b < 128; b++) begin : gen_f_unit
  localparam logic [127:0] Clocked = f_clocked(128'b1 << b);
  localparam logic [127:0] Product = times_x128(128'b1 << b, 1);
  always_comb assert (Product == Clocked);
end

// Beats that are computed follow each other.
for (genvar k = 0; k + 1 < Beats; k++) begin : gen_f_order
  always_comb if (rst_ni && filled_q[k]) assert (filled_q[k+1] && beats_q[k+1] == times_x128(beats_q[k], 1));
end

// The next word continues the last.
logic         f_stepped_q = 1'b0;
logic [127:0] f_last_q;
always_ff @(posedge clk_i) begin
  f_stepped_q <= rst_ni && valid_o && step_i && !load_i;
  f_last_q    <= beats_q[Beats-1];
end
always_comb if (rst_ni && f_stepped_q) assert (valid_o && beats_q[0] == times_x128(f_last_q, 1));

// The first word begins with beat 0.
logic         f_loaded_q = 1'b0;
logic [127:0] f_beat0_q;
logic [$clog2(Beats+1)-1:0] f_since_q;
always_ff @(posedge clk_i) begin
  if (rst_ni && load_i) begin
    f_loaded_q <= 1'b1;
    f_beat0_q  <= beat0_i;
    f_since_q  <= '0;
  end else if (f_loaded_q) begin
    if (32'(f_since_q) + 1 < Beats) f_since_q <= f_since_q + 1'b1;
    else f_loaded_q <= 1'b0;
  end
end
always_comb if (rst_ni && f_loaded_q) begin
  assert (filled_q == ~((Beats'(1) << (Beats - 1 - 32'(f_since_q))) - 1'b1));
  assert (beats_q[Beats - 1 - 32'(f_since_q)] == f_beat0_q);
end

// A word waits for the step.
logic                 f_waiting_q = 1'b0;
logic [DataWidth-1:0] f_word_q;
always_ff @(posedge clk_i) begin
  f_waiting_q <= rst_ni && valid_o && !step_i && !load_i;
  f_word_q    <= word_o;
end
always_comb if (rst_ni && f_waiting_q) assert (valid_o && word_o == f_word_q);
