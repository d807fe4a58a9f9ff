// What a drive reads and writes of the core.
//
// Purpose: the slave side of one drive. Only the ring is memory; queues, PRP lists and Identify data are made when they are read and
// consumed when they are written. Address map (bus address without `BusBase`, 40 bits):
//
//   bit 39 = 0  ring: {replay, drive (2 bits), slot, page, 12 bits}. The record half is read only, the replay half write only
//   bit 39 = 1, 0x0000 0x1000  admin submission, completion queue (2 entries)
//               0x2000 0x3000  record submission, completion queue
//               0x4000 0x5000  replay submission, completion queue
//               0x6000         Identify data
//               0x10000        PRP lists: {replay, slot, entry, 3 bits}; entry i is the address of page i + 1 of the slot
//
// Everything else is answered (reads with zeroes), ignored and reported by `protocol_error_o`; it never reaches memory.
//
// Interface:
//   clear_i        controller reset: completion entries that are held back are dropped
//   dev_*          AXI4 slave, one drive: INCR bursts of whole bus words within 4 KiB; the first
//                  address may be unaligned; strobes select the bytes of writes. All responses are
//                  OKAY, in request order per channel
//   mem_*          AXI4 master to the ring memory; answers in request order. `mem_r_last_i` is not
//                  used: the length is known
//   record_*       submission records (nvs_queues), direction 0 record and 1 replay; data one cycle after the index
//   admin_*        the admin submission entry, the same in every entry of its queue; `admin_prp1_i` without `BusBase`, 0: none
//   pass_*         a command of nvs_passthrough instead of the admin entry, or of a flush of recordings
//   cqe_*, admin_cqe_*  completion entries as the drive wrote them, in order, from flip-flops; nothing waits for their taker.
//                  admin_cqe_status_o and admin_cqe_dw0_o stay until the next entry of the admin queue or of a pass_flush_i
//   identify_*     Identify data as the drive writes them
//   protocol_error_o  pulse: an access outside, at most one per burst and channel; both channels at once are one pulse
//
// From dev_* only `dev_r_ready_i` and dev_w_* reach outputs in the same cycle: mem_r_ready_o and
// mem_w_*. Register slices of nvs_memory end these paths. No output of dev_* depends on an input of
// dev_*; `dev_w_ready_o` depends on `mem_w_ready_i`.
//
// Invariants: those of nvs_completer_read, nvs_completer_answer, nvs_completer_entry and nvs_completer_write. Proven in
// formal/nvs_completer.svh: memory is read in the own record half only, and written in the own replay half only.

module nvs_completer #(
  parameter  int unsigned DataWidth  = 128,  // 128, 256 or 512
  parameter  int unsigned ChunkPages = 32,   // a power of two, at least 4
  parameter  int unsigned Slots      = 32,   // a power of two, at least 2
  parameter  int unsigned Entries    = 64,   // of each I/O queue; a power of two above Slots, at most 64
  parameter  int unsigned IdWidth    = 4,
  parameter  int unsigned Drive      = 0,    // 0 to 3
  parameter  logic [63:0] BusBase    = 64'h0,
  parameter  logic [31:0] Namespace  = 32'd1,
  localparam int unsigned BeatBytes  = DataWidth / 8,
  localparam int unsigned PageWidth  = $clog2(ChunkPages),
  localparam int unsigned SlotWidth  = $clog2(Slots),
  localparam int unsigned IndexWidth = $clog2(Entries),
  localparam int unsigned TagWidth   = IndexWidth - 1,
  localparam int unsigned RingWidth  = 1 + 2 + SlotWidth + PageWidth + 12
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,
  input  logic                    clear_i,
  input  logic [3:0]              block_shift_i,

  input  logic                    dev_ar_valid_i,
  output logic                    dev_ar_ready_o,
  input  logic [IdWidth-1:0]      dev_ar_id_i,
  input  logic [39:0]             dev_ar_addr_i,
  input  logic [7:0]              dev_ar_len_i,
  input  logic                    dev_ar_whole_i,
  output logic                    dev_r_valid_o,
  input  logic                    dev_r_ready_i,
  output logic [IdWidth-1:0]      dev_r_id_o,
  output logic [DataWidth-1:0]    dev_r_data_o,
  output logic                    dev_r_last_o,
  input  logic                    dev_aw_valid_i,
  output logic                    dev_aw_ready_o,
  input  logic [IdWidth-1:0]      dev_aw_id_i,
  input  logic [39:0]             dev_aw_addr_i,
  input  logic [7:0]              dev_aw_len_i,
  input  logic                    dev_aw_whole_i,
  input  logic                    dev_w_valid_i,
  output logic                    dev_w_ready_o,
  input  logic [DataWidth-1:0]    dev_w_data_i,
  input  logic [BeatBytes-1:0]    dev_w_strb_i,
  input  logic                    dev_w_last_i,
  output logic                    dev_b_valid_o,
  input  logic                    dev_b_ready_i,
  output logic [IdWidth-1:0]      dev_b_id_o,

  output logic                    mem_ar_valid_o,
  input  logic                    mem_ar_ready_i,
  output logic [RingWidth-1:0]    mem_ar_addr_o,
  output logic [7:0]              mem_ar_len_o,
  input  logic                    mem_r_valid_i,
  output logic                    mem_r_ready_o,
  input  logic [DataWidth-1:0]    mem_r_data_i,
  input  logic                    mem_r_last_i,
  output logic                    mem_aw_valid_o,
  input  logic                    mem_aw_ready_i,
  output logic [RingWidth-1:0]    mem_aw_addr_o,
  output logic [7:0]              mem_aw_len_o,
  output logic                    mem_w_valid_o,
  input  logic                    mem_w_ready_i,
  output logic [DataWidth-1:0]    mem_w_data_o,
  output logic [BeatBytes-1:0]    mem_w_strb_o,
  output logic                    mem_w_last_o,
  input  logic                    mem_b_valid_i,

  output logic [2*IndexWidth-1:0] record_index_o,
  input  logic [1:0]              record_flush_i,
  input  logic [2*TagWidth-1:0]   record_tag_i,
  input  logic [2*SlotWidth-1:0]  record_slot_i,
  input  logic [2*PageWidth-1:0]  record_page_i,
  input  logic [2*64-1:0]         record_lba_i,
  input  logic [2*16-1:0]         record_blocks_i,

  input  logic [7:0]              admin_opcode_i,
  input  logic [31:0]             admin_nsid_i,
  input  logic [39:0]             admin_prp1_i,
  input  logic [31:0]             admin_cdw10_i,
  input  logic [31:0]             admin_cdw11_i,
  input  logic [15:0]             admin_cid_i,

  input  logic                    pass_admin_i,
  input  logic                    pass_flush_i,
  output logic [1:0]              pass_part_o,
  input  logic [DataWidth-1:0]    pass_word_i,

  output logic [1:0]              cqe_valid_o,
  output logic [IndexWidth-1:0]   cqe_index_o,
  output logic                    cqe_phase_o,
  output logic [15:0]             cqe_cid_o,
  output logic [14:0]             cqe_status_o,
  output logic                    admin_cqe_valid_o,
  output logic                    admin_cqe_phase_o,
  output logic                    admin_cqe_index_o,
  output logic [15:0]             admin_cqe_cid_o,
  output logic [14:0]             admin_cqe_status_o,
  output logic [31:0]             admin_cqe_dw0_o,

  output logic                    identify_valid_o,
  output logic [11:0]             identify_addr_o,
  output logic [DataWidth-1:0]    identify_data_o,
  output logic [BeatBytes-1:0]    identify_strb_o,

  output logic                    protocol_error_o
);

  logic [1:0]            cqe_valid;
  logic [IndexWidth-1:0] cqe_index;
  logic                  cqe_phase, admin_cqe_valid, admin_cqe_phase, admin_cqe_index;
  logic [15:0]           cqe_cid, admin_cqe_cid;
  logic [14:0]           cqe_status, admin_cqe_status;
  logic [31:0]           admin_cqe_dw0;
  logic read_error, write_error, unused_last;
  assign protocol_error_o = read_error || write_error;
  assign unused_last      = mem_r_last_i;

  nvs_completer_read #(
    .DataWidth (DataWidth),
    .ChunkPages(ChunkPages),
    .Slots     (Slots),
    .Entries   (Entries),
    .IdWidth   (IdWidth),
    .Drive     (Drive),
    .BusBase   (BusBase),
    .Namespace (Namespace)
  ) u_read (
    .*,  // dev_*, mem_*, record_*, admin_*, pass_*
    .error_o(read_error)
  );

  nvs_completer_write #(
    .DataWidth (DataWidth),
    .ChunkPages(ChunkPages),
    .Slots     (Slots),
    .Entries   (Entries),
    .IdWidth   (IdWidth),
    .Drive     (Drive)
  ) u_write (
    .*,  // dev_*, mem_*, identify_*
    .cqe_valid_o       (cqe_valid),
    .cqe_index_o       (cqe_index),
    .cqe_phase_o       (cqe_phase),
    .cqe_cid_o         (cqe_cid),
    .cqe_status_o      (cqe_status),
    .admin_cqe_valid_o (admin_cqe_valid),
    .admin_cqe_phase_o (admin_cqe_phase),
    .admin_cqe_index_o (admin_cqe_index),
    .admin_cqe_cid_o   (admin_cqe_cid),
    .admin_cqe_status_o(admin_cqe_status),
    .admin_cqe_dw0_o   (admin_cqe_dw0),
    .error_o(write_error)
  );

  // Completion entries leave through flip-flops: nvs_queues and nvs_init look up what they belong to. An entry that is here when clear_i
  // comes is ignored by both.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      cqe_valid_o       <= '0;
      admin_cqe_valid_o <= 1'b0;
    end else begin
      cqe_valid_o       <= cqe_valid;
      admin_cqe_valid_o <= admin_cqe_valid;
    end
  end
  always_ff @(posedge clk_i) begin
    cqe_index_o        <= cqe_index;
    cqe_phase_o        <= cqe_phase;
    cqe_cid_o          <= cqe_cid;
    cqe_status_o       <= cqe_status;
    admin_cqe_phase_o  <= admin_cqe_phase;
    admin_cqe_index_o  <= admin_cqe_index;
    admin_cqe_cid_o    <= admin_cqe_cid;
    if (admin_cqe_valid || (cqe_valid[0] && pass_flush_i)) begin
      admin_cqe_status_o <= admin_cqe_status;
      admin_cqe_dw0_o    <= admin_cqe_dw0;
    end
  end

`ifdef FORMAL
  `include "formal/nvs_completer.svh"
`endif

endmodule
