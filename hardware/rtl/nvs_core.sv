// Streaming core: AXI4-Stream to NVMe drives and back, without a processor.
//
// Purpose: top level. Connects the registers, the sessions, the data path and up to four drives.
//
// The ports of a bus are single signals, here and below. Bridges and vendor tools need that of a
// top level. Inside, structs would save no lines: their fields cannot depend on a parameter.
//
// Interface (no output depends on an input of the same cycle):
//   tick_i    pulse, once per microsecond; the only source of time
//   s_reg_*   AXI4-Lite, registers (registers.toml)
//   s_*, m_*  AXI4-Stream: stream to record, stream replayed
//   mem_*     AXI4, INCR bursts within 4 KiB: the ring of chunk buffers, 2 * Drives * Slots chunks from address 0 on, without gaps.
//             Identifier 0: stream side; 1 + d: drive d
//   dev_*     AXI4, one port per drive: what the drive reads and writes of the core, through the PCIe bridge
//   bar_*     AXI4-Lite, one port per drive: the drive's registers and configuration space (bit 31)
//   link_*    link state of each drive's PCIe block: up, speed (1 = 2.5 GT/s ... 5 = 32 GT/s), width in lanes
//   dev_*_size_i, dev_*_burst_i   AxSIZE and AxBURST. A burst of several beats that are narrower than the bus, or that is not INCR, is
//             refused: answered (reads with zeroes), counted in PROTOCOL_ERRORS, and never recorded. Both 0, the idle value for a bridge
//             without these signals, stand for INCR bursts of the whole width
//   m_user_o  how the packet ends, with m_last_o: 0 complete, 1 by STOP, 2 by ABORT, 3 by an error (DEVICE_ERROR). A packet that is not
//             complete ends with a beat that keeps no byte. A replay that gave no beat has no packet
//   trigger_i  level: as CONTROL.TRIGGER, the trigger of a ring recording
//   irq_o     level per direction, 0 record, 1 replay: its session has ended since its last start
//   irq_lost_o  level per drive: it was lost while it was ready (register LOST), until that is acknowledged
//   perst_o   level per drive: PERST# of its slot is to be low (the pin is the inverse)

module nvs_core #(
  parameter  int unsigned DataWidth  = 128,  // 128, 256 or 512
  parameter  int unsigned ChunkPages = 32,   // pages of 4 KiB per chunk; a power of two, 4 to 512
  parameter  int unsigned Slots      = 32,   // chunks in flight per drive and direction; a power of two, 2 to 32
  parameter  int unsigned Entries    = 64,   // of each I/O queue; a power of two above Slots, 4 to 64
  parameter  int unsigned Drives     = 1,    // 1 to 4
  parameter  int unsigned IdWidth    = 4,    // of dev_*, 1 to 16
  parameter  logic [63:0] BusBase    = 64'h0,  // bus address of the core, as the drives see it; a multiple of 1 TiB
  parameter  logic [31:0] Namespace  = 32'd1,  // identifier of the namespace of each drive, from 1 to ffff_fffeh
  parameter  int unsigned UnitShift    = 19,     // unit of the sequencer's times: 2^UnitShift us; at least 19 on hardware (nvs_init), to 24
  parameter  int unsigned SettleShift  = 0,      // rest after link up: 2^SettleShift us; 17 above 5 GT/s; below UnitShift
  parameter  int unsigned ResetShift   = 10,     // length of PERST# and of a hot reset: 2^ResetShift us, at least 10 (PCIe); to UnitShift
  parameter  int unsigned PollShift    = 10,     // a ready drive's CSTS is read every 2^PollShift us; to UnitShift
  parameter  int unsigned TimeoutTicks = 50000,  // us in which bar_* must answer, 1 to 65535
  parameter  int unsigned IndexEntries = 0,      // of the index of recordings; 0: none, or a power of two, 16 to 4096
  localparam int unsigned BeatBytes  = DataWidth / 8,
  localparam int unsigned RingWidth  = 1 + 2 + $clog2(Slots) + $clog2(ChunkPages) + 12
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,
  input  logic                        tick_i,
  input  logic                        trigger_i,

  input  logic                        s_reg_aw_valid_i,
  output logic                        s_reg_aw_ready_o,
  input  logic [11:0]                 s_reg_aw_addr_i,
  input  logic                        s_reg_w_valid_i,
  output logic                        s_reg_w_ready_o,
  input  logic [31:0]                 s_reg_w_data_i,
  input  logic [3:0]                  s_reg_w_strb_i,
  output logic                        s_reg_b_valid_o,
  input  logic                        s_reg_b_ready_i,
  output logic [1:0]                  s_reg_b_resp_o,
  input  logic                        s_reg_ar_valid_i,
  output logic                        s_reg_ar_ready_o,
  input  logic [11:0]                 s_reg_ar_addr_i,
  output logic                        s_reg_r_valid_o,
  input  logic                        s_reg_r_ready_i,
  output logic [31:0]                 s_reg_r_data_o,
  output logic [1:0]                  s_reg_r_resp_o,

  input  logic                        s_valid_i,
  output logic                        s_ready_o,
  input  logic [DataWidth-1:0]        s_data_i,
  input  logic [BeatBytes-1:0]        s_keep_i,
  input  logic                        s_last_i,

  output logic                        m_valid_o,
  input  logic                        m_ready_i,
  output logic [DataWidth-1:0]        m_data_o,
  output logic [BeatBytes-1:0]        m_keep_o,
  output logic                        m_last_o,
  output logic [1:0]                  m_user_o,

  output logic                        mem_aw_valid_o,
  input  logic                        mem_aw_ready_i,
  output logic [2:0]                  mem_aw_id_o,
  output logic [RingWidth-1:0]        mem_aw_addr_o,
  output logic [7:0]                  mem_aw_len_o,
  output logic                        mem_w_valid_o,
  input  logic                        mem_w_ready_i,
  output logic [DataWidth-1:0]        mem_w_data_o,
  output logic [BeatBytes-1:0]        mem_w_strb_o,
  output logic                        mem_w_last_o,
  input  logic                        mem_b_valid_i,
  output logic                        mem_b_ready_o,
  input  logic [2:0]                  mem_b_id_i,
  input  logic [1:0]                  mem_b_resp_i,
  output logic                        mem_ar_valid_o,
  input  logic                        mem_ar_ready_i,
  output logic [2:0]                  mem_ar_id_o,
  output logic [RingWidth-1:0]        mem_ar_addr_o,
  output logic [7:0]                  mem_ar_len_o,
  input  logic                        mem_r_valid_i,
  output logic                        mem_r_ready_o,
  input  logic [2:0]                  mem_r_id_i,
  input  logic [DataWidth-1:0]        mem_r_data_i,
  input  logic [1:0]                  mem_r_resp_i,
  input  logic                        mem_r_last_i,

  input  logic [Drives-1:0]           dev_aw_valid_i,
  output logic [Drives-1:0]           dev_aw_ready_o,
  input  logic [IdWidth*Drives-1:0]   dev_aw_id_i,
  input  logic [40*Drives-1:0]        dev_aw_addr_i,
  input  logic [8*Drives-1:0]         dev_aw_len_i,
  input  logic [3*Drives-1:0]         dev_aw_size_i,
  input  logic [2*Drives-1:0]         dev_aw_burst_i,
  input  logic [Drives-1:0]           dev_w_valid_i,
  output logic [Drives-1:0]           dev_w_ready_o,
  input  logic [DataWidth*Drives-1:0] dev_w_data_i,
  input  logic [BeatBytes*Drives-1:0] dev_w_strb_i,
  input  logic [Drives-1:0]           dev_w_last_i,
  output logic [Drives-1:0]           dev_b_valid_o,
  input  logic [Drives-1:0]           dev_b_ready_i,
  output logic [IdWidth*Drives-1:0]   dev_b_id_o,
  output logic [2*Drives-1:0]         dev_b_resp_o,
  input  logic [Drives-1:0]           dev_ar_valid_i,
  output logic [Drives-1:0]           dev_ar_ready_o,
  input  logic [IdWidth*Drives-1:0]   dev_ar_id_i,
  input  logic [40*Drives-1:0]        dev_ar_addr_i,
  input  logic [8*Drives-1:0]         dev_ar_len_i,
  input  logic [3*Drives-1:0]         dev_ar_size_i,
  input  logic [2*Drives-1:0]         dev_ar_burst_i,
  output logic [Drives-1:0]           dev_r_valid_o,
  input  logic [Drives-1:0]           dev_r_ready_i,
  output logic [IdWidth*Drives-1:0]   dev_r_id_o,
  output logic [DataWidth*Drives-1:0] dev_r_data_o,
  output logic [2*Drives-1:0]         dev_r_resp_o,
  output logic [Drives-1:0]           dev_r_last_o,

  output logic [Drives-1:0]           bar_aw_valid_o,
  input  logic [Drives-1:0]           bar_aw_ready_i,
  output logic [32*Drives-1:0]        bar_aw_addr_o,
  output logic [Drives-1:0]           bar_w_valid_o,
  input  logic [Drives-1:0]           bar_w_ready_i,
  output logic [32*Drives-1:0]        bar_w_data_o,
  output logic [4*Drives-1:0]         bar_w_strb_o,
  input  logic [Drives-1:0]           bar_b_valid_i,
  output logic [Drives-1:0]           bar_b_ready_o,
  input  logic [2*Drives-1:0]         bar_b_resp_i,
  output logic [Drives-1:0]           bar_ar_valid_o,
  input  logic [Drives-1:0]           bar_ar_ready_i,
  output logic [32*Drives-1:0]        bar_ar_addr_o,
  input  logic [Drives-1:0]           bar_r_valid_i,
  output logic [Drives-1:0]           bar_r_ready_o,
  input  logic [32*Drives-1:0]        bar_r_data_i,
  input  logic [2*Drives-1:0]         bar_r_resp_i,

  input  logic [Drives-1:0]           link_up_i,
  input  logic [4*Drives-1:0]         link_speed_i,
  input  logic [8*Drives-1:0]         link_width_i,

  output logic [Drives-1:0]           perst_o,

  output logic [1:0]                  irq_o,
  output logic [Drives-1:0]           irq_lost_o,
  output logic                        quiet_o   // level, some cycles late: without an input nothing changes but times and CYCLES
);

  // Every set of parameters that the core is not made for ends the elaboration.
  if (DataWidth != 128 && DataWidth != 256 && DataWidth != 512) begin : gen_bad_width
    $error("DataWidth must be 128, 256 or 512");
  end
  if (ChunkPages < 4 || ChunkPages > 512 || (ChunkPages & (ChunkPages - 1)) != 0) begin : gen_bad_chunk
    $error("ChunkPages must be a power of two from 4 to 512");
  end
  if (Slots < 2 || Slots > 32 || (Slots & (Slots - 1)) != 0) begin : gen_bad_slots
    $error("Slots must be a power of two from 2 to 32");
  end
  if (Entries < 4 || Entries > 64 || (Entries & (Entries - 1)) != 0 || Entries <= Slots) begin : gen_bad_entries
    $error("Entries must be a power of two from 4 to 64, and above Slots");
  end
  if (Drives < 1 || Drives > 4) begin : gen_bad_drives
    $error("Drives must be 1 to 4");
  end
  if (IdWidth < 1 || IdWidth > 16) begin : gen_bad_id
    $error("IdWidth must be 1 to 16");
  end
  if (BusBase[39:0] != '0) begin : gen_bad_base
    $error("BusBase must be a multiple of 1 TiB");
  end
  // The root port's window is 1000_0000h to 1fff_ffffh (nvs_init).
  if (BusBase == '0 && RingWidth > 28) begin : gen_bad_window
    $error("the ring lies on the window of BAR 0: BusBase must be 1 TiB or more, or Slots * ChunkPages at most 8192");
  end
  if (Namespace == 32'd0 || Namespace == 32'hffff_ffff) begin : gen_bad_namespace
    $error("Namespace must be the identifier of one namespace");
  end
  if (UnitShift < 1 || UnitShift > 24) begin : gen_bad_unit
    $error("UnitShift must be 1 to 24");
  end
  if (SettleShift >= UnitShift) begin : gen_bad_settle
    $error("SettleShift must be below UnitShift");
  end
  if (ResetShift > UnitShift) begin : gen_bad_reset
    $error("ResetShift must be at most UnitShift");
  end
  if (PollShift > UnitShift) begin : gen_bad_poll
    $error("PollShift must be at most UnitShift");
  end
  if (TimeoutTicks < 1 || TimeoutTicks > 65535) begin : gen_bad_timeout
    $error("TimeoutTicks must be 1 to 65535");
  end
  if (IndexEntries != 0 && (IndexEntries < 16 || IndexEntries > 4096 || (IndexEntries & (IndexEntries - 1)) != 0)) begin : gen_bad_index
    $error("IndexEntries must be 0, or a power of two from 16 to 4096");
  end

  localparam int unsigned SlotWidth  = $clog2(Slots);
  localparam int unsigned PageWidth  = $clog2(ChunkPages);

  // Registers. Index 0 is the write bank, 1 the read bank.
  logic [31:0]          control_write, control_read, flush_write, flush_read;
  logic                 control_write_valid, control_read_valid, flush_write_valid, flush_read_valid;
  logic [2*64-1:0] first_address, last_address, seed, seed_high, packet_beats;
  logic [63:0]          length;
  logic [31:0]          post_chunks, index_count, index_select;
  logic                 index_select_valid;
  logic [63:0]          index_position, index_time, now;
  logic [2*64-1:0]      next_address;
  logic [2*32-1:0] status;
  logic [2*64-1:0] last_written, bytes, beats, stalls, stall_ns, durable, device_status, cycles;
  logic [63:0]          error_beat, dropped_beats;
  logic                 discarding, discarded;
  logic [32*Drives-1:0] drive_link, drive_sequencer, drive_block_bytes, drive_max_transfer, drive_timeout, drive_oldest, drive_commands;
  logic [32*Drives-1:0] drive_doorbells, drive_errors, drive_control, drive_lost;
  logic [64*Drives-1:0] drive_media_bytes, drive_cap;
  logic [Drives-1:0]    drive_control_valid;
  // Dwords of commands of the software: the word that is written is the same at all of these ports.
  logic [8*Drives-1:0]    pass_valid;
  logic [32*Drives-1:0]   pass_dword, pass_status, pass_result;
  logic [7*32*Drives-1:0] pass_same;

  nvs_registers #(
    .Drives(Drives)
  ) u_registers (
    .*,  // s_reg_*
    .write_control_o             (control_write),
    .write_control_valid_o       (control_write_valid),
    .write_status_i              (status[32*0 +: 32]),
    .write_first_address_o       (first_address[64*0 +: 64]),
    .write_last_address_o        (last_address[64*0 +: 64]),
    .write_chunk_bytes_i         (32'(ChunkPages * 4096)),
    .write_last_address_written_i(last_written[64*0 +: 64]),
    .write_bytes_i               (bytes[64*0 +: 64]),
    .write_beats_i               (beats[64*0 +: 64]),
    .write_stalls_i              (stalls[64*0 +: 64]),
    .write_stall_time_i          (stall_ns[64*0 +: 64]),
    .write_pattern_seed_o        (seed[64*0 +: 64]),
    .write_packet_beats_o        (packet_beats[64*0 +: 64]),
    .write_durable_bytes_i       (durable[64*0 +: 64]),
    .write_error_beat_i          (64'h0),
    .write_device_status_i       (device_status[64*0 +: 64]),
    .write_flush_control_o       (flush_write),
    .write_flush_control_valid_o (flush_write_valid),
    .write_flush_status_i        ({30'b0, discarded, discarding}),
    .write_dropped_beats_i       (dropped_beats),
    .write_cycles_i              (cycles[64*0 +: 64]),
    .write_pattern_seed_high_o   (seed_high[64*0 +: 64]),
    .write_post_chunks_o         (post_chunks),
    .write_next_address_i        (next_address[64*0 +: 64]),
    .write_index_count_i         (index_count),
    .write_index_select_o        (index_select),
    .write_index_select_valid_o  (index_select_valid),
    .write_index_position_i      (index_position),
    .write_index_time_i          (index_time),
    .write_time_i                (now),
    .read_control_o              (control_read),
    .read_control_valid_o        (control_read_valid),
    .read_status_i               (status[32*1 +: 32]),
    .read_first_address_o        (first_address[64*1 +: 64]),
    .read_last_address_o         (last_address[64*1 +: 64]),
    .read_chunk_bytes_i          (32'(ChunkPages * 4096)),
    .read_last_address_written_i (last_written[64*1 +: 64]),
    .read_bytes_i                (bytes[64*1 +: 64]),
    .read_beats_i                (beats[64*1 +: 64]),
    .read_stalls_i               (stalls[64*1 +: 64]),
    .read_stall_time_i           (stall_ns[64*1 +: 64]),
    .read_pattern_seed_o         (seed[64*1 +: 64]),
    .read_packet_beats_o         (packet_beats[64*1 +: 64]),
    .read_durable_bytes_i        (durable[64*1 +: 64]),
    .read_error_beat_i           (error_beat),
    .read_device_status_i        (device_status[64*1 +: 64]),
    .read_flush_control_o        (flush_read),
    .read_flush_control_valid_o  (flush_read_valid),
    .read_flush_status_i         (32'h0),
    .read_dropped_beats_i        (64'h0),
    .read_cycles_i               (cycles[64*1 +: 64]),
    .read_pattern_seed_high_o    (seed_high[64*1 +: 64]),
    .read_length_o               (length),
    .drive_link_i           (drive_link),
    .drive_sequencer_i      (drive_sequencer),
    .drive_media_bytes_i    (drive_media_bytes),
    .drive_block_bytes_i    (drive_block_bytes),
    .drive_max_transfer_i   (drive_max_transfer),
    .drive_cap_i            (drive_cap),
    .drive_command_timeout_o(drive_timeout),
    .drive_oldest_command_i (drive_oldest),
    .drive_commands_i       (drive_commands),
    .drive_doorbells_i      (drive_doorbells),
    .drive_protocol_errors_i(drive_errors),
    .drive_lost_i           (drive_lost),
    .drive_pass_dw0_o       (pass_dword),
    .drive_pass_dw0_valid_o (pass_valid[Drives*0 +: Drives]),
    .drive_pass_dw1_valid_o (pass_valid[Drives*1 +: Drives]),
    .drive_pass_dw10_valid_o(pass_valid[Drives*2 +: Drives]),
    .drive_pass_dw11_valid_o(pass_valid[Drives*3 +: Drives]),
    .drive_pass_dw12_valid_o(pass_valid[Drives*4 +: Drives]),
    .drive_pass_dw13_valid_o(pass_valid[Drives*5 +: Drives]),
    .drive_pass_dw14_valid_o(pass_valid[Drives*6 +: Drives]),
    .drive_pass_dw15_valid_o(pass_valid[Drives*7 +: Drives]),
    .drive_pass_dw1_o       (pass_same[32*Drives*0 +: 32*Drives]),
    .drive_pass_dw10_o      (pass_same[32*Drives*1 +: 32*Drives]),
    .drive_pass_dw11_o      (pass_same[32*Drives*2 +: 32*Drives]),
    .drive_pass_dw12_o      (pass_same[32*Drives*3 +: 32*Drives]),
    .drive_pass_dw13_o      (pass_same[32*Drives*4 +: 32*Drives]),
    .drive_pass_dw14_o      (pass_same[32*Drives*5 +: 32*Drives]),
    .drive_pass_dw15_o      (pass_same[32*Drives*6 +: 32*Drives]),
    .drive_pass_status_i    (pass_status),
    .drive_pass_result_i    (pass_result),
    .drive_control_o        (drive_control),
    .drive_control_valid_o  (drive_control_valid)
  );

  // Sessions, streams and memory. Vectors of 2 * Drives: both directions of a drive together. ring_*: the drives' masters of the memory.
  logic [1:0]                    running, started, cmd_flush;
  logic [Drives-1:0]             ready, protocol_error, late;
  logic [64*Drives-1:0]          media_blocks;
  logic [4*Drives-1:0]           block_shift;
  logic [2*Drives-1:0]           cmd_valid, cmd_ready, retire_valid, retire_ready, retire_flush, retire_failed;
  logic [2*Drives-1:0]           queue_late, queue_idle, slot_release;
  logic [2*64-1:0]               cmd_lba;
  logic [2*16-1:0]               cmd_blocks;
  logic [2*SlotWidth*Drives-1:0] retire_slot;
  logic [2*PageWidth*Drives-1:0] retire_page;
  logic [2*15*Drives-1:0]        retire_status;
  logic [Drives-1:0]             ring_aw_valid, ring_aw_ready, ring_w_valid, ring_w_ready, ring_w_last, ring_b_valid;
  logic [Drives-1:0]             ring_ar_valid, ring_ar_ready, ring_r_valid, ring_r_ready;
  logic [RingWidth*Drives-1:0]   ring_aw_addr, ring_ar_addr;
  logic [8*Drives-1:0]           ring_aw_len, ring_ar_len;
  logic [DataWidth*Drives-1:0]   ring_w_data;
  logic [BeatBytes*Drives-1:0]   ring_w_strb;
  logic [DataWidth-1:0]          ring_r_data;
  logic                          ring_r_last;
  nvs_streams #(
    .DataWidth   (DataWidth),
    .ChunkPages  (ChunkPages),
    .Slots       (Slots),
    .Drives      (Drives),
    .IndexEntries(IndexEntries)
  ) u_streams (
    .*,  // s_*, m_*, mem_*, irq_o
    .control_valid_i       ({control_read_valid, control_write_valid}),
    .control_i             ({control_read, control_write}),
    .first_address_i       (first_address),
    .last_address_i        (last_address),
    .length_i              (length),
    .post_chunks_i         (post_chunks),
    .flush_i               (flush_write[2:0] & {3{flush_write_valid}}),
    .seed_i                (seed),
    .seed_high_i           (seed_high),
    .packet_beats_i        (packet_beats),
    .index_select_valid_i  (index_select_valid),
    .index_select_i        (index_select),
    .status_o              (status),
    .last_address_written_o(last_written),
    .next_address_o        (next_address),
    .bytes_o               (bytes),
    .beats_o               (beats),
    .stalls_o              (stalls),
    .stall_time_ns_o       (stall_ns),
    .durable_bytes_o       (durable),
    .device_status_o       (device_status),
    .cycles_o              (cycles),
    .discarding_o          (discarding),
    .discarded_o           (discarded),
    .dropped_beats_o       (dropped_beats),
    .error_beat_o          (error_beat),
    .index_count_o         (index_count),
    .index_position_o      (index_position),
    .index_time_o          (index_time),
    .now_o                 (now),
    .running_o             (running),
    .started_o             (started),
    .ready_i               (ready),
    .media_blocks_i        (media_blocks),
    .block_shift_i         (block_shift),
    .protocol_error_i      (protocol_error),
    .late_o                (late),
    .cmd_valid_o           (cmd_valid),
    .cmd_ready_i           (cmd_ready),
    .cmd_flush_o           (cmd_flush),
    .cmd_lba_o             (cmd_lba),
    .cmd_blocks_o          (cmd_blocks),
    .retire_valid_i        (retire_valid),
    .retire_ready_o        (retire_ready),
    .retire_flush_i        (retire_flush),
    .retire_slot_i         (retire_slot),
    .retire_page_i         (retire_page),
    .retire_status_i       (retire_status),
    .retire_failed_i       (retire_failed),
    .queue_late_i          (queue_late),
    .queue_idle_i          (queue_idle),
    .release_o             (slot_release),
    .ring_aw_valid_i       (ring_aw_valid),
    .ring_aw_ready_o       (ring_aw_ready),
    .ring_aw_addr_i        (ring_aw_addr),
    .ring_aw_len_i         (ring_aw_len),
    .ring_w_valid_i        (ring_w_valid),
    .ring_w_ready_o        (ring_w_ready),
    .ring_w_data_i         (ring_w_data),
    .ring_w_strb_i         (ring_w_strb),
    .ring_w_last_i         (ring_w_last),
    .ring_b_valid_o        (ring_b_valid),
    .ring_ar_valid_i       (ring_ar_valid),
    .ring_ar_ready_o       (ring_ar_ready),
    .ring_ar_addr_i        (ring_ar_addr),
    .ring_ar_len_i         (ring_ar_len),
    .ring_r_valid_o        (ring_r_valid),
    .ring_r_ready_i        (ring_r_ready),
    .ring_r_data_o         (ring_r_data),
    .ring_r_last_o         (ring_r_last)
  );

  // Drives.
  for (genvar d = 0; d < Drives; d++) begin : gen_drive
    logic [7:0]  pass_valid_d;
    for (genvar n = 0; n < 8; n++) begin : gen_dword
      assign pass_valid_d[n] = pass_valid[Drives*n + d];
    end

    nvs_drive #(
      .DataWidth (DataWidth),
      .ChunkPages(ChunkPages),
      .Slots     (Slots),
      .Entries   (Entries),
      .IdWidth   (IdWidth),
      .Drive     (d),
      .BusBase   (BusBase),
      .Namespace (Namespace),
      .UnitShift   (UnitShift),
      .SettleShift (SettleShift),
      .ResetShift  (ResetShift),
      .PollShift   (PollShift),
      .TimeoutTicks(TimeoutTicks)
    ) u_drive (
      .clk_i,
      .rst_ni,
      .tick_i,
      .link_up_i      (link_up_i[d]),
      .link_speed_i   (link_speed_i[4*d +: 4]),
      .link_width_i   (link_width_i[8*d +: 8]),
      .late_i         (late[d]),
      .control_valid_i(drive_control_valid[d]),
      .control_i      (drive_control[32*d +: 4]),
      .ready_o             (ready[d]),
      .media_blocks_o      (media_blocks[64*d +: 64]),
      .block_shift_o       (block_shift[4*d +: 4]),
      .link_o              (drive_link[32*d +: 32]),
      .media_bytes_o       (drive_media_bytes[64*d +: 64]),
      .block_bytes_o       (drive_block_bytes[32*d +: 32]),
      .max_transfer_o      (drive_max_transfer[32*d +: 32]),
      .cap_o               (drive_cap[64*d +: 64]),
      .sequencer_o         (drive_sequencer[32*d +: 32]),
      .perst_o             (perst_o[d]),
      .lost_o              (drive_lost[32*d +: 32]),
      .irq_lost_o          (irq_lost_o[d]),
      .commands_o          (drive_commands[32*d +: 32]),
      .doorbells_o         (drive_doorbells[32*d +: 32]),
      .protocol_errors_o   (drive_errors[32*d +: 32]),
      .protocol_error_o    (protocol_error[d]),
      .pass_dword_valid_i  (pass_valid_d),
      .pass_dword_i        (pass_dword[32*d +: 32]),
      .pass_allowed_i      (running == '0),
      .pass_status_o       (pass_status[32*d +: 32]),
      .pass_result_o       (pass_result[32*d +: 32]),
      .rewind_i       (started),
      .cmd_valid_i    (cmd_valid[2*d +: 2]),
      .cmd_ready_o    (cmd_ready[2*d +: 2]),
      .cmd_flush_i    (cmd_flush),
      .cmd_lba_i      (cmd_lba),
      .cmd_blocks_i   (cmd_blocks),
      .retire_valid_o (retire_valid[2*d +: 2]),
      .retire_ready_i (retire_ready[2*d +: 2]),
      .retire_flush_o (retire_flush[2*d +: 2]),
      .retire_slot_o  (retire_slot[2*SlotWidth*d +: 2*SlotWidth]),
      .retire_page_o  (retire_page[2*PageWidth*d +: 2*PageWidth]),
      .retire_status_o(retire_status[30*d +: 30]),
      .retire_failed_o(retire_failed[2*d +: 2]),
      .release_i      (slot_release[2*d +: 2]),
      .idle_o         (queue_idle[2*d +: 2]),
      .timeout_us_i   (drive_timeout[32*d +: 32]),
      .oldest_us_o    (drive_oldest[32*d +: 32]),
      .late_o         (queue_late[2*d +: 2]),
      .dev_aw_valid_i(dev_aw_valid_i[d]),
      .dev_aw_ready_o(dev_aw_ready_o[d]),
      .dev_aw_id_i   (dev_aw_id_i[IdWidth*d +: IdWidth]),
      .dev_aw_addr_i (dev_aw_addr_i[40*d +: 40]),
      .dev_aw_len_i  (dev_aw_len_i[8*d +: 8]),
      .dev_aw_size_i (dev_aw_size_i[3*d +: 3]),
      .dev_aw_burst_i(dev_aw_burst_i[2*d +: 2]),
      .dev_w_valid_i (dev_w_valid_i[d]),
      .dev_w_ready_o (dev_w_ready_o[d]),
      .dev_w_data_i  (dev_w_data_i[DataWidth*d +: DataWidth]),
      .dev_w_strb_i  (dev_w_strb_i[BeatBytes*d +: BeatBytes]),
      .dev_w_last_i  (dev_w_last_i[d]),
      .dev_b_valid_o (dev_b_valid_o[d]),
      .dev_b_ready_i (dev_b_ready_i[d]),
      .dev_b_id_o    (dev_b_id_o[IdWidth*d +: IdWidth]),
      .dev_ar_valid_i(dev_ar_valid_i[d]),
      .dev_ar_ready_o(dev_ar_ready_o[d]),
      .dev_ar_id_i   (dev_ar_id_i[IdWidth*d +: IdWidth]),
      .dev_ar_addr_i (dev_ar_addr_i[40*d +: 40]),
      .dev_ar_len_i  (dev_ar_len_i[8*d +: 8]),
      .dev_ar_size_i (dev_ar_size_i[3*d +: 3]),
      .dev_ar_burst_i(dev_ar_burst_i[2*d +: 2]),
      .dev_r_valid_o (dev_r_valid_o[d]),
      .dev_r_ready_i (dev_r_ready_i[d]),
      .dev_r_id_o    (dev_r_id_o[IdWidth*d +: IdWidth]),
      .dev_r_data_o  (dev_r_data_o[DataWidth*d +: DataWidth]),
      .dev_r_last_o  (dev_r_last_o[d]),
      .bar_aw_valid_o(bar_aw_valid_o[d]),
      .bar_aw_ready_i(bar_aw_ready_i[d]),
      .bar_aw_addr_o (bar_aw_addr_o[32*d +: 32]),
      .bar_w_valid_o (bar_w_valid_o[d]),
      .bar_w_ready_i (bar_w_ready_i[d]),
      .bar_w_data_o  (bar_w_data_o[32*d +: 32]),
      .bar_b_valid_i (bar_b_valid_i[d]),
      .bar_b_ready_o (bar_b_ready_o[d]),
      .bar_b_error_i (bar_b_resp_i[2*d +: 2] != 2'b00),
      .bar_ar_valid_o(bar_ar_valid_o[d]),
      .bar_ar_ready_i(bar_ar_ready_i[d]),
      .bar_ar_addr_o (bar_ar_addr_o[32*d +: 32]),
      .bar_r_valid_i (bar_r_valid_i[d]),
      .bar_r_ready_o (bar_r_ready_o[d]),
      .bar_r_data_i  (bar_r_data_i[32*d +: 32]),
      .bar_r_error_i (bar_r_resp_i[2*d +: 2] != 2'b00),
      .mem_aw_valid_o(ring_aw_valid[d]),
      .mem_aw_ready_i(ring_aw_ready[d]),
      .mem_aw_addr_o (ring_aw_addr[RingWidth*d +: RingWidth]),
      .mem_aw_len_o  (ring_aw_len[8*d +: 8]),
      .mem_w_valid_o (ring_w_valid[d]),
      .mem_w_ready_i (ring_w_ready[d]),
      .mem_w_data_o  (ring_w_data[DataWidth*d +: DataWidth]),
      .mem_w_strb_o  (ring_w_strb[BeatBytes*d +: BeatBytes]),
      .mem_w_last_o  (ring_w_last[d]),
      .mem_b_valid_i (ring_b_valid[d]),
      .mem_ar_valid_o(ring_ar_valid[d]),
      .mem_ar_ready_i(ring_ar_ready[d]),
      .mem_ar_addr_o (ring_ar_addr[RingWidth*d +: RingWidth]),
      .mem_ar_len_o  (ring_ar_len[8*d +: 8]),
      .mem_r_valid_i (ring_r_valid[d]),
      .mem_r_ready_o (ring_r_ready[d]),
      .mem_r_data_i  (ring_r_data),
      .mem_r_last_i  (ring_r_last)
    );
  end

  // Responses are always OKAY, and registers of drives are written whole.
  assign dev_b_resp_o = '0;
  assign dev_r_resp_o = '0;
  assign bar_w_strb_o = '1;

  // Outputs and bits without a reader.
  logic unused;
  assign unused = ^{flush_write, flush_read, flush_read_valid, drive_control, pass_same, next_address};

  // Quiet: no transfer and nothing offered for longer than any pipeline of the core.
  localparam int unsigned QuietCycles = 64;
  logic [$clog2(QuietCycles):0] quiet_q;
  logic busy_q;
  assign quiet_o = quiet_q[$clog2(QuietCycles)];
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q  <= 1'b1;
      quiet_q <= '0;
    end else begin
      busy_q <= tick_i || m_valid_o || (s_valid_i && s_ready_o) || mem_aw_valid_o || mem_w_valid_o || mem_b_valid_i || mem_ar_valid_o
             || mem_r_valid_i || dev_aw_valid_i != '0 || dev_w_valid_i != '0 || dev_b_valid_o != '0 || dev_ar_valid_i != '0
             || dev_r_valid_o != '0 || bar_aw_valid_o != '0 || bar_w_valid_o != '0 || bar_b_valid_i != '0 || bar_ar_valid_o != '0
             || bar_r_valid_i != '0 || s_reg_aw_valid_i || s_reg_w_valid_i || s_reg_b_valid_o || s_reg_ar_valid_i || s_reg_r_valid_o;
      if (busy_q) quiet_q <= '0;
      else if (!quiet_o) quiet_q <= quiet_q + 1'b1;
    end
  end

endmodule
