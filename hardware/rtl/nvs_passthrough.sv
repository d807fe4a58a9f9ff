// A command of the software, between sessions: Identify, Get Log Page, Dataset Management and others.
//
// Purpose: keeps the dwords of one command, gives it to the admin queue (nvs_init) or to the I/O queue of recordings (nvs_split, as a
// flush), and says how it ended. The drive reads its entry through nvs_completer, word by word as it is made here.
//
// Interface:
//   dword_valid_i  pulse: `dword_i` is dword 0, 1 or 10 to 15 of the command, lowest bit first; without effect while busy_o is set.
//                  Of dword 0 count the opcode (7:0) and whether the command is for the I/O queue (31)
//   go_i           pulse, not together with dword_valid_i: send the command; without effect while busy_o is set. It is refused without
//                  allowed_i, and so is a command that moves data both ways (opcode bits 1:0 = 11b)
//   allowed_i      level: no session runs
//   ready_i        level: the drive is ready; admin_busy_i: it executes the command that admin_o asked for
//   admin_o, admin_done_i  level: an admin command is to be sent; pulse: it has been completed
//   io_*           the I/O command: taken with valid and ready; io_done_i: pulse, it has been completed
//   status_i       status field of the last completion
//   admin_entry_o, io_entry_o  levels: the entry of the admin queue, of a flush of recordings, is the one that is made here
//   part_i, word_o number of a bus word in the entry, that word
//   status_o       register PASS_STATUS
//
// The data are one page of the ring: PRP1 is the first page of slot 0, of the record half if the opcode is that of data to the drive, else
// of the replay half. A command that the drive does not complete ends with the loss of the drive (nvs_init, COMMAND_TIMEOUT).
//
// Invariants, proven in formal/nvs_passthrough.svh:
//   - no command is sent without go_i and allowed_i, and each is sent to one queue, once;
//   - each ends once, as completed or as lost, and no later than the loss of the drive;
//   - the entry has the dwords that were written, the identifier of its queue and a page of the right half; they do not change meanwhile.

module nvs_passthrough #(
  parameter  int unsigned DataWidth = 128,
  parameter  int unsigned Entries   = 64,
  parameter  int unsigned Drive     = 0,
  parameter  int unsigned RingWidth = 25,
  parameter  logic [63:0] BusBase   = 64'h0
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,

  input  logic [7:0]           dword_valid_i,
  input  logic [31:0]          dword_i,
  input  logic                 go_i,
  input  logic                 allowed_i,
  input  logic                 ready_i,
  input  logic                 admin_busy_i,
  output logic                 busy_o,

  output logic                 admin_o,
  input  logic                 admin_done_i,
  input  logic [15:0]          admin_cid_i,
  output logic                 io_valid_o,
  input  logic                 io_ready_i,
  input  logic                 io_done_i,
  input  logic [14:0]          status_i,

  output logic                 admin_entry_o,
  output logic                 io_entry_o,
  input  logic [1:0]           part_i,
  output logic [DataWidth-1:0] word_o,
  output logic [31:0]          status_o
);

  logic       busy_q, io_q, sent_q, done_q, refused_q, lost_q;
  logic [1:0] data_q;  // bits 1:0 of the opcode: to the drive, from it

  logic write, refused, done, lost;
  assign write   = dword_valid_i != '0 && !busy_q;
  assign refused = !allowed_i || !ready_i || data_q == 2'b11;
  assign done    = busy_q && (io_q ? io_done_i : admin_done_i);
  assign lost    = busy_q && !ready_i && !admin_busy_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q    <= 1'b0;
      io_q      <= 1'b0;
      sent_q    <= 1'b0;
      done_q    <= 1'b0;
      refused_q <= 1'b0;
      lost_q    <= 1'b0;
      data_q    <= '0;
    end else begin
      if (write && dword_valid_i[0]) begin
        io_q   <= dword_i[31];
        data_q <= dword_i[1:0];
      end
      if (io_valid_o && io_ready_i) sent_q <= 1'b1;
      if (go_i && !busy_q) begin
        busy_q    <= !refused;
        refused_q <= refused;
        sent_q    <= 1'b0;
        done_q    <= 1'b0;
        lost_q    <= 1'b0;
      end else if (done || lost) begin
        busy_q <= 1'b0;
        done_q <= done;
        lost_q <= !done;
      end
    end
  end

  assign busy_o        = busy_q;
  assign admin_o       = busy_q && !io_q;
  assign io_valid_o    = busy_q && io_q && !sent_q;
  assign admin_entry_o = busy_q && !io_q;
  assign io_entry_o    = busy_q && io_q;
  assign status_o      = {1'b0, done_q ? status_i : 15'h0, 12'b0, lost_q, refused_q, done_q, busy_q};

  // The dwords of each lane of the bus word, in distributed memory: one per bus word of the entry.
  localparam int unsigned Lanes = DataWidth / 32;
  logic [15:0] dword_valid;
  assign dword_valid = {dword_valid_i[7:2], 8'h00, dword_valid_i[1:0]};

  logic [63:0] page;
  assign page = data_q == 2'b00 ? '0 : BusBase | 64'({data_q[1], 2'(Drive), {(RingWidth - 3){1'b0}}});

  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    logic [31:0] dwords [4];
    logic [31:0] kept;
    logic [3:0]  valid;  // by bus word
    logic [1:0]  row;
    logic [3:0]  number;
    for (genvar r = 0; r < 4; r++) begin : gen_row
      if (r < 16 / Lanes) begin : gen_used
        assign valid[r] = dword_valid[r * Lanes + l];
      end else begin : gen_unused
        assign valid[r] = 1'b0;
      end
    end
    assign row    = {valid[3] || valid[2], valid[3] || valid[1]};
    assign kept   = dwords[part_i];
    assign number = 4'(32'(part_i) * Lanes + l);
    always_ff @(posedge clk_i) if (write && valid != '0) dwords[row] <= dword_i;

    always_comb begin
      case (number)
        4'd0:          word_o[32*l +: 32] = {io_q ? 16'(Entries / 2) : admin_cid_i, 8'h00, kept[7:0]};
        4'd6:          word_o[32*l +: 32] = page[31:0];
        4'd7:          word_o[32*l +: 32] = page[63:32];
        4'd2, 4'd3, 4'd4, 4'd5, 4'd8, 4'd9:
                       word_o[32*l +: 32] = '0;
        default:       word_o[32*l +: 32] = kept;
      endcase
    end
  end

`ifdef FORMAL
  `include "formal/nvs_passthrough.svh"
`endif

endmodule
