// Bring-up and shutdown of one drive: PCIe enumeration, NVMe initialisation, queues.
//
// Purpose: a sequencer over a table of steps. A step is a register write, a register read with a check (repeated where the table says
// "poll" or "walk"), an admin command (tail doorbell, completion, head doorbell) or an end. After the last step I/O may run.
//
// Interface:
//   tick_i             once per microsecond; times are counted in units of 2^UnitShift ticks (0.52 s)
//   link_up_i          level; a link that goes down begins again when it is up
//   restart_i          pulse: begin again, with a reset of the controller (CC.EN)
//   reset_i            pulse: begin again, with a reset of the drive by PERST# and by the root port (hot reset)
//   shutdown_i         level: orderly shutdown as soon as step 40 is reached; outstanding I/O commands should have completed
//   req_*, rsp_*       accesses through nvs_requester
//   admin_*_o          the admin command, the same in every entry of the admin submission queue; `admin_prp1_o` without BusBase
//   admin_cqe_*        completion entries of the admin queue as the drive writes them
//   identify_*         bus words of the Identify data as the drive writes them; whole dwords, in any order
//   perst_o            level: PERST# of the drive's slot is to be low; from the core's reset on, until the end of step 45
//   pass_i             level: a command of the software (nvs_passthrough) is to be sent in step 40; it is the entry of step 47
//   pass_busy_o        level: it is under way; pass_done_o: pulse, it was completed, whatever its status
//   ready_o            level: I/O may run
//   lost_o             pulse: a drive that was ready, or in step 47, has failed: 0 by CSTS.CFS, 1 by reading as ones, 2 by no or an error
//                      response or a wrong completion, 3 by no completion in step 47
//   clear_o            pulse when a bring-up begins, and again when the controller has stopped (RDY = 0): queues begin anew
//   doorbells_enable_o level, as ready_o
//   doorbell_stride_o, cap_o, block_shift_o (9 or 12), media_blocks_o, max_transfer_pages_o (0: unlimited)   valid with ready_o
//   sequencer_o        7:0 step, 15:8 reason, 16 ready, 17 failed, 18 endpoint found, 19 enumerated, 20 shut down
//
// Root port: bus 0; endpoint: bus 1 device 0 function 0; BAR 0 at 1000_0000h, window 1000_0000h to 1fff_ffffh: the core's addresses
// (BusBase and above) must lie outside it.
//
//   step  what                                                                   can fail with (besides 1, 2, 3)
//      0  link up, for 2^SettleShift ticks (PCIe asks for 100 ms after a reset: before the first access at up to 5 GT/s, after link up above)
//      1  root port: write bus numbers (primary 0, secondary 1, subordinate 1)
//      2  root port: write prefetchable memory base and limit: closed
//      3  root port: write memory base and limit
//      4  endpoint: poll vendor identifier; error responses and retry status (0001h) are repeated      4
//      5  endpoint: write command: memory space and bus master off
//      6  endpoint: read class code, must be 01 08 02                                                  5
//      7  root port: read capability pointer                                                           6
//      8  root port: walk to the PCI Express capability                                                6
//      9  root port: read device capabilities: largest payload (MPS)
//     10  endpoint: read capability pointer                                                            6
//     11  endpoint: walk to the PCI Express capability                                                 6
//     12  endpoint: read device capabilities: smaller largest payload, extended tags
//     13  root port: write device control: MPS, MRRS 512, no relaxed ordering, no no-snoop
//     14  endpoint: write device control: the same; extended tags where supported
//     15  endpoint: write ones to BAR 0
//     16  endpoint: read BAR 0: memory of 8 KiB to 256 MiB                                             7
//     17  endpoint: write BAR 0
//     18  endpoint: write BAR 1 (upper half of BAR 0): 0
//     19  endpoint: write command: memory space, bus master, no INTx
//     20  root port: write command: memory space, bus master, no INTx
//     21  read CAP 31:0: MQES, TO                                                                      8
//     22  read CAP 63:32: DSTRD, CSS, MPSMIN                                                           9, 10
//     23  write CC = 0
//     24  poll CSTS until RDY = 0, within CAP.TO                                                       11
//     25  write AQA: 2 entries each
//     26  write ASQ 31:0
//     27  write ASQ 63:32
//     28  write ACQ 31:0
//     29  write ACQ 63:32
//     30  write CC: EN, entries of 64 and 16 bytes, pages of 4 KiB
//     31  poll CSTS until RDY = 1, within CAP.TO                                                       12, 13
//     32  admin: Identify controller: MDTS                                                             14 to 17
//     33  admin: Identify namespace: NSZE, FLBAS
//     34  admin: Identify namespace again: LBA format in use                                           14 to 16, 18, 19
//     35  admin: Set Features, number of queues: 2 pairs                                               14 to 16, 20
//     36  admin: Create I/O Completion Queue 1                                                         14 to 16
//     37  admin: Create I/O Completion Queue 2
//     38  admin: Create I/O Submission Queue 1
//     39  admin: Create I/O Submission Queue 2
//     40  ready: every 2^PollShift ticks read CSTS; with CFS, ones or no response the drive is lost    (lost_o)
//     41  write CC: EN, SHN = normal
//     42  poll CSTS until SHST = complete                                                              13, 21
//     43  shut down
//     44  PERST#; root port: write bridge control: secondary bus reset (Bridge Control bit 6)
//     45  PERST# and secondary bus reset for 2^ResetShift ticks (T_PERST: 100 us; T_rst: 1 ms)
//     46  root port: write bridge control: 0
//     47  admin: the command of the software; then step 40 again. CSTS is not read meanwhile                 (lost_o)
//
//   reason  what
//        1  error response, or none within the requester's time
//        2  register read as ones: the drive is gone
//        3  step not finished in 1.5 s
//        4  no endpoint answers in 1.5 s
//        5  class code is not 01 08 02 (NVMe)
//        6  no PCI Express capability
//        7  BAR 0 cannot be used
//        8  queues of fewer than Entries entries (CAP.MQES)
//        9  no NVM command set (CAP.CSS)
//       10  no pages of 4 KiB (CAP.MPSMIN)
//       11  RDY stays 1 after EN = 0
//       12  RDY stays 0 after EN = 1
//       13  controller fatal status (CSTS.CFS)
//       14  no completion of an admin command in 10 s
//       15  admin command failed
//       16  admin completion at a wrong place, with a wrong phase or a wrong identifier
//       17  the Identify data did not come
//       18  block size is neither 512 nor 4096 bytes, or no such namespace
//       19  blocks have metadata
//       20  fewer than 2 queue pairs
//       21  shutdown not complete in 31 s
//
// A failure stops in its step; a restart or a link that went down begins again with step 0, when the access under way has been answered, as
// does a drive that is lost while it is ready. A reset begins with step 44, the core's own reset with step 45 and no access to the root port,
// which may not answer yet. What the root port answers to steps 44 and 46 does not count: a platform may have one of the two resets only.
//
// Invariants, proven in formal/nvs_init.svh:
//   - steps are taken in order, each once (walks and polls repeat their read); a failed sequencer asks for nothing;
//   - admin commands are rung, completed and acknowledged one by one, in the order of the table, with alternating places; then those of
//     the software, whose status counts only for it;
//   - ready only after all admin commands of this bring-up succeeded; not after link down, restart, shutdown or failure;
//   - clear_o between two ready times; no access while the link was seen down, beyond the one under way;
//   - requests are stable until they are taken; one at a time;
//   - PERST# is asserted from a reset on for 2^ResetShift ticks after the root port was told, and no access leaves the root port meanwhile;
//   - while ready, CSTS is asked for in 2^PollShift ticks after the last answer and one more, and a fatal status ends ready_o.

module nvs_init #(
  parameter  int unsigned DataWidth   = 128,
  parameter  int unsigned Entries     = 64,     // of each I/O queue
  parameter  logic [63:0] BusBase     = 64'h0,
  parameter  logic [31:0] Namespace   = 32'd1,
  parameter  int unsigned UnitShift   = 19,     // at least 19 on hardware, or CAP.TO (units of 500 ms) is cut short
  parameter  int unsigned SettleShift = 0,
  parameter  int unsigned ResetShift  = 10,     // at most UnitShift, as PollShift
  parameter  int unsigned PollShift   = 10,
  localparam int unsigned BeatBytes   = DataWidth / 8
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 tick_i,

  input  logic                 link_up_i,
  input  logic                 restart_i,
  input  logic                 reset_i,
  input  logic                 shutdown_i,
  output logic                 perst_o,

  input  logic                 pass_i,
  output logic                 pass_busy_o,
  output logic                 pass_done_o,

  output logic                 req_valid_o,
  input  logic                 req_ready_i,
  output logic                 req_write_o,
  output logic [31:0]          req_addr_o,
  output logic [31:0]          req_data_o,
  input  logic                 rsp_valid_i,
  input  logic [31:0]          rsp_data_i,
  input  logic                 rsp_error_i,

  output logic [7:0]           admin_opcode_o,
  output logic [31:0]          admin_nsid_o,
  output logic [39:0]          admin_prp1_o,
  output logic [31:0]          admin_cdw10_o,
  output logic [31:0]          admin_cdw11_o,
  output logic [15:0]          admin_cid_o,
  input  logic                 admin_cqe_valid_i,
  input  logic                 admin_cqe_phase_i,
  input  logic                 admin_cqe_index_i,
  input  logic [15:0]          admin_cqe_cid_i,
  input  logic [14:0]          admin_cqe_status_i,
  input  logic [31:0]          admin_cqe_dw0_i,

  input  logic                 identify_valid_i,
  input  logic [11:0]          identify_addr_i,
  input  logic [DataWidth-1:0] identify_data_i,
  input  logic [BeatBytes-1:0] identify_strb_i,

  output logic                 ready_o,
  output logic [3:0]           lost_o,
  output logic                 clear_o,
  output logic                 doorbells_enable_o,
  output logic [3:0]           doorbell_stride_o,
  output logic [3:0]           block_shift_o,
  output logic [63:0]          media_blocks_o,
  output logic [15:0]          max_transfer_pages_o,
  output logic [63:0]          cap_o,
  output logic [31:0]          sequencer_o
);

  localparam logic [31:0] BarBase    = 32'h1000_0000;
  localparam logic [23:0] Registers  = BarBase[31:8];
  localparam logic [23:0] RootPort   = 24'h80_0000;  // configuration space, bus 0
  localparam logic [23:0] Endpoint   = 24'h80_1000;  // configuration space, bus 1
  localparam logic [39:0] Control    = 40'h80_0000_0000;  // queues and Identify data, as the drive sees them
  localparam logic [63:0] AdminBase  = BusBase | 64'(Control);

  localparam logic [5:0] StepLink = 0, StepBuses = 1, StepPrefetch = 2, StepWindow = 3, StepPresent = 4, StepQuiet = 5, StepClass = 6,
    StepRootList = 7, StepRootWalk = 8, StepRootCap = 9, StepEndList = 10, StepEndWalk = 11, StepEndCap = 12, StepRootControl = 13,
    StepEndControl = 14, StepBarProbe = 15, StepBarSize = 16, StepBarLow = 17, StepBarHigh = 18, StepEndOn = 19, StepRootOn = 20,
    StepCapLow = 21, StepCapHigh = 22, StepDisable = 23, StepDisabled = 24, StepAqa = 25, StepAsqLow = 26, StepAsqHigh = 27,
    StepAcqLow = 28, StepAcqHigh = 29, StepEnable = 30, StepEnabled = 31, StepController = 32, StepNamespace = 33, StepFormat = 34,
    StepFeatures = 35, StepCq1 = 36, StepCq2 = 37, StepSq1 = 38, StepSq2 = 39, StepReady = 40, StepShutdown = 41, StepWaitShut = 42,
    StepDown = 43, StepReset = 44, StepHold = 45, StepRelease = 46, StepPass = 47;

  localparam logic [4:0] ReasonNone = 0, ReasonAccess = 1, ReasonGone = 2, ReasonTimeout = 3, ReasonEndpoint = 4, ReasonClass = 5,
    ReasonCapability = 6, ReasonBar = 7, ReasonEntries = 8, ReasonCommandSet = 9, ReasonPageSize = 10, ReasonDisable = 11,
    ReasonEnable = 12, ReasonFatal = 13, ReasonCommand = 14, ReasonStatus = 15, ReasonCompletion = 16, ReasonIdentify = 17,
    ReasonBlockSize = 18, ReasonMetadata = 19, ReasonQueues = 20, ReasonShutdown = 21;

  // State. An admin step goes through Tail (doorbell), Wait (completion) and Head (doorbell).
  localparam logic [1:0] Tail = 0, Wait = 1, Head = 2;
  logic [5:0]  step_q;
  logic [1:0]  part_q;
  logic        begin_q;            // begin again when no access is under way
  logic        failed_q;
  logic [4:0]  reason_q;
  logic        access_q, req_q;    // under way; not taken yet
  logic        pause_q;            // a poll waits for the next tick
  logic        cqe_q;              // the completion of the command has come
  logic [1:0]  place_q;            // of the admin command in its queue of 2 entries, and whether the queue was passed: the inverted phase
  logic        hot_q;              // the root port resets the drive
  logic        shutting_q;         // the shutdown waits for the access of step 40
  logic        ready_q, clear_q;
  logic [UnitShift+8:0] timer_q;   // since the step began

  // What was read.
  logic [5:0]  root_list_q, end_list_q;  // dword of the capability
  logic [2:0]  payload_q;
  logic        tags_q;
  logic [63:0] cap_q, blocks_q;
  logic        mdts_any_q;               // it came in this bring-up
  logic [3:0]  mdts_q;                   // 0: unlimited
  logic [5:0]  format_q;
  logic        block_512_q, block_4096_q, metadata_q, queues_q;

  // ---- Table ----

  logic        is_write, is_read, is_admin;
  logic        write_q, read_q, admin_q;  // the same for the step, from the second cycle on
  logic        stepped_q;                 // the first cycle of the step
  logic [23:0] space;        // of the register: bits 31:8 of its address
  logic [5:0]  dword;        // of the register
  logic [31:0] value;        // to be written
  logic [31:0] device_control;
  assign device_control = {17'b0, 3'd2, 3'b0, tags_q && step_q == StepEndControl, payload_q, 5'b0};

  always_comb begin
    is_write = 1'b0;
    is_read  = 1'b0;
    is_admin = 1'b0;
    space    = Registers;
    dword    = '0;
    value    = '0;
    case (step_q)
      StepBuses:       begin is_write = 1'b1; space = RootPort; dword = 6'h18 >> 2; value = 32'h0001_0100; end
      StepPrefetch:    begin is_write = 1'b1; space = RootPort; dword = 6'h24 >> 2; value = 32'h0000_fff0; end
      StepWindow:      begin is_write = 1'b1; space = RootPort; dword = 6'h20 >> 2; value = 32'h1ff0_1000; end
      StepPresent:     begin is_read  = 1'b1; space = Endpoint; dword = 6'h00 >> 2; end
      StepQuiet:       begin is_write = 1'b1; space = Endpoint; dword = 6'h04 >> 2; end
      StepClass:       begin is_read  = 1'b1; space = Endpoint; dword = 6'h08 >> 2; end
      StepRootList:    begin is_read  = 1'b1; space = RootPort; dword = 6'h34 >> 2; end
      StepRootWalk:    begin is_read  = 1'b1; space = RootPort; dword = root_list_q; end
      StepRootCap:     begin is_read  = 1'b1; space = RootPort; dword = root_list_q + 6'd1; end
      StepEndList:     begin is_read  = 1'b1; space = Endpoint; dword = 6'h34 >> 2; end
      StepEndWalk:     begin is_read  = 1'b1; space = Endpoint; dword = end_list_q; end
      StepEndCap:      begin is_read  = 1'b1; space = Endpoint; dword = end_list_q + 6'd1; end
      StepRootControl: begin is_write = 1'b1; space = RootPort; dword = root_list_q + 6'd2; value = device_control; end
      StepEndControl:  begin is_write = 1'b1; space = Endpoint; dword = end_list_q + 6'd2;  value = device_control; end
      StepBarProbe:    begin is_write = 1'b1; space = Endpoint; dword = 6'h10 >> 2; value = 32'hffff_ffff; end
      StepBarSize:     begin is_read  = 1'b1; space = Endpoint; dword = 6'h10 >> 2; end
      StepBarLow:      begin is_write = 1'b1; space = Endpoint; dword = 6'h10 >> 2; value = BarBase; end
      StepBarHigh:     begin is_write = 1'b1; space = Endpoint; dword = 6'h14 >> 2; end
      StepEndOn:       begin is_write = 1'b1; space = Endpoint; dword = 6'h04 >> 2; value = 32'h0000_0406; end
      StepRootOn:      begin is_write = 1'b1; space = RootPort; dword = 6'h04 >> 2; value = 32'h0000_0406; end
      StepCapLow:      begin is_read  = 1'b1; dword = 6'h00 >> 2; end
      StepCapHigh:     begin is_read  = 1'b1; dword = 6'h04 >> 2; end
      StepDisable:     begin is_write = 1'b1; dword = 6'h14 >> 2; end
      StepDisabled:    begin is_read  = 1'b1; dword = 6'h1c >> 2; end
      StepAqa:         begin is_write = 1'b1; dword = 6'h24 >> 2; value = 32'h0001_0001; end
      StepAsqLow:      begin is_write = 1'b1; dword = 6'h28 >> 2; value = AdminBase[31:0]; end
      StepAsqHigh:     begin is_write = 1'b1; dword = 6'h2c >> 2; value = AdminBase[63:32]; end
      StepAcqLow:      begin is_write = 1'b1; dword = 6'h30 >> 2; value = AdminBase[31:0] | 32'h1000; end
      StepAcqHigh:     begin is_write = 1'b1; dword = 6'h34 >> 2; value = AdminBase[63:32]; end
      StepEnable:      begin is_write = 1'b1; dword = 6'h14 >> 2; value = 32'h0046_0001; end
      StepEnabled:     begin is_read  = 1'b1; dword = 6'h1c >> 2; end
      StepController, StepNamespace, StepFormat, StepFeatures, StepCq1, StepCq2, StepSq1, StepSq2, StepPass:
                       begin is_admin = 1'b1; value = {31'b0, !place_q[0]}; end
      StepReady:       begin is_read  = 1'b1; dword = 6'h1c >> 2; end
      StepShutdown:    begin is_write = 1'b1; dword = 6'h14 >> 2; value = 32'h0046_4001; end
      StepWaitShut:    begin is_read  = 1'b1; dword = 6'h1c >> 2; end
      StepReset:       begin is_write = 1'b1; space = RootPort; dword = 6'h3c >> 2; value = 32'h0040_0000; end
      StepRelease:     begin is_write = 1'b1; space = RootPort; dword = 6'h3c >> 2; end
      default: ;
    endcase
  end

  // Admin doorbells: tail at 1000h, head at 1000h + (4 << stride), which carries into bit 13 for stride 10.
  logic [15:0] head_bit;
  logic [17:0] doorbell;
  assign head_bit = 16'(part_q == Head) << cap_q[35:32];
  assign doorbell = {head_bit[15:12], head_bit[11] || head_bit[10], !head_bit[10], head_bit[9:0], 2'b00};

  assign req_valid_o = req_q;
  assign req_write_o = !read_q;
  assign req_addr_o  = admin_q ? {BarBase[31:18], doorbell} : {space, dword, 2'b00};
  assign req_data_o  = value;

  // Admin commands. The identifier is the step.
  always_comb begin
    admin_opcode_o = 8'h06;
    admin_nsid_o   = '0;
    admin_prp1_o   = '0;
    admin_cdw10_o  = '0;
    admin_cdw11_o  = '0;
    case (step_q)
      StepController:            begin admin_prp1_o = Control | 40'h6000; admin_cdw10_o = 32'd1; end
      StepNamespace, StepFormat: begin admin_prp1_o = Control | 40'h6000; admin_nsid_o = Namespace; end
      StepFeatures:              begin admin_opcode_o = 8'h09; admin_cdw10_o = 32'h07; admin_cdw11_o = 32'h0001_0001; end
      StepCq1:                   begin admin_opcode_o = 8'h05; admin_prp1_o = Control | 40'h3000; admin_cdw11_o = 32'h0000_0001; end
      StepCq2:                   begin admin_opcode_o = 8'h05; admin_prp1_o = Control | 40'h5000; admin_cdw11_o = 32'h0000_0001; end
      StepSq1:                   begin admin_opcode_o = 8'h01; admin_prp1_o = Control | 40'h2000; admin_cdw11_o = 32'h0001_0001; end
      StepSq2:                   begin admin_opcode_o = 8'h01; admin_prp1_o = Control | 40'h4000; admin_cdw11_o = 32'h0002_0001; end
      default: ;
    endcase
    if (step_q == StepCq1 || step_q == StepSq1) admin_cdw10_o = {16'(Entries - 1), 16'd1};
    if (step_q == StepCq2 || step_q == StepSq2) admin_cdw10_o = {16'(Entries - 1), 16'd2};
  end
  assign admin_cid_o = {10'b0, step_q};

  // ---- Checks ----

  logic in_reset;
  assign in_reset = step_q >= StepReset && step_q != StepPass;

  // Of a response: `again` repeats the read, `verdict` is the reason to fail.
  logic       again, no_vendor, no_capability;
  logic [4:0] verdict;
  logic [5:0] next_list;
  assign no_vendor     = rsp_data_i[15:0] == 16'hffff || rsp_data_i[15:0] == 16'h0001;
  assign next_list     = step_q == StepRootList || step_q == StepEndList ? rsp_data_i[7:2] : rsp_data_i[15:10];
  assign no_capability = next_list == '0;
  always_comb begin
    again   = 1'b0;
    verdict = ReasonNone;
    case (step_q)
      StepPresent:  again = rsp_error_i || no_vendor;
      StepClass:    if (rsp_data_i[31:8] != 24'h01_0802) verdict = ReasonClass;
      StepRootList, StepEndList: if (no_capability) verdict = ReasonCapability;
      StepRootWalk, StepEndWalk: begin
        again = rsp_data_i[7:0] != 8'h10;
        if (again && no_capability) verdict = ReasonCapability;
      end
      StepBarSize:  if (rsp_data_i[31:28] != '1 || rsp_data_i[12:4] != '0 || rsp_data_i[1:0] != '0) verdict = ReasonBar;
      StepCapLow:   if (rsp_data_i[15:0] < 16'(Entries - 1)) verdict = ReasonEntries;
      StepCapHigh: begin
        if (rsp_data_i[19:16] != '0) verdict = ReasonPageSize;
        if (!rsp_data_i[5]) verdict = ReasonCommandSet;
      end
      StepDisabled: again = rsp_data_i[0];
      StepEnabled: begin
        again = !rsp_data_i[0];
        if (rsp_data_i[1]) verdict = ReasonFatal;
      end
      StepReady: begin
        again = 1'b1;
        if (rsp_data_i[1]) verdict = ReasonFatal;
      end
      StepWaitShut: begin
        again = rsp_data_i[3:2] != 2'b10;
        if (rsp_data_i[1]) verdict = ReasonFatal;
      end
      default: ;
    endcase
    // What the command brought is checked with its head doorbell.
    if (part_q == Head) begin
      case (step_q)
        StepController: if (!mdts_any_q) verdict = ReasonIdentify;
        StepFormat: begin
          if (!block_512_q && !block_4096_q) verdict = ReasonBlockSize;
          if (metadata_q) verdict = ReasonMetadata;
        end
        StepFeatures: if (!queues_q) verdict = ReasonQueues;
        default: ;
      endcase
    end
    if (step_q != StepPresent && !in_reset) begin
      if (read_q && rsp_data_i == '1) verdict = ReasonGone;
      if (rsp_error_i) verdict = ReasonAccess;
    end
  end

  // Of a completion: expected only from the tail doorbell on, once.
  logic cqe_expected, cqe_failed;
  assign cqe_expected = (part_q == Wait || (part_q == Tail && access_q && !req_q)) && !cqe_q && admin_cqe_index_i == place_q[0] &&
                        admin_cqe_phase_i == !place_q[1] && admin_cqe_cid_i == admin_cid_o;
  assign cqe_failed   = admin_cqe_status_i[10:0] != '0 && step_q != StepPass;  // status code and its type

  // Of the time.
  logic [7:0] limit, limit_q;  // in units; the second for the step, from its second cycle on, before which its time is 0
  logic [4:0] limit_reason;
  logic       timed, expired;
  always_comb begin
    limit        = 8'd2;
    limit_reason = ReasonTimeout;
    timed        = write_q || read_q || admin_q;
    case (step_q)
      StepPresent:  limit_reason = ReasonEndpoint;
      StepDisabled: begin limit = cap_q[31:24]; limit_reason = ReasonDisable; end
      StepEnabled:  begin limit = cap_q[31:24]; limit_reason = ReasonEnable; end
      StepWaitShut: begin limit = 8'd59; limit_reason = ReasonShutdown; end
      default: if (admin_q) begin limit = 8'd19; limit_reason = ReasonCommand; end
    endcase
  end
  assign expired = timed && timer_q[UnitShift +: 9] > {1'b0, limit_q};
  logic expired_q;  // the step was late in the cycle before, and is still the same

  // ---- Sequence ----

  // A response is judged in the cycle in which it comes, and takes effect in the next one.
  logic       arrived, answer_q, again_q;
  logic [4:0] verdict_q;
  assign arrived = access_q && rsp_valid_i && !answer_q;

  logic live, answer, good, start, step_done, leave_link, settled, held, polls, shuts, cqe_event, cqe_good, cqe_bad, restart;
  assign live       = !failed_q && !begin_q;
  assign answer     = answer_q;
  assign good       = answer && live && !again_q && verdict_q == ReasonNone;
  assign settled    = |(timer_q >> SettleShift);
  assign leave_link = step_q == StepLink && live && link_up_i && settled;
  assign held       = step_q == StepHold && live && |(timer_q >> ResetShift);
  assign shuts      = shutdown_i || shutting_q;
  assign polls      = step_q != StepReady || (timer_q[PollShift] && !shuts && !pass_i);
  assign start      = live && !access_q && !pause_q && !stepped_q && polls && (write_q || read_q || (admin_q && part_q != Wait));
  assign cqe_event  = admin_cqe_valid_i && is_admin && live;
  assign cqe_good   = cqe_event && cqe_expected && !cqe_failed;
  assign cqe_bad    = cqe_event && !cqe_good;
  assign step_done  = (good && (!admin_q || part_q == Head)) || leave_link || held
                   || (step_q == StepReady && live && (shuts || pass_i) && !access_q);
  assign restart    = begin_q && !access_q;

  logic       fail, lost;  // lost: ready until now, so brought up again
  logic [4:0] fail_reason;
  always_comb begin
    fail        = 1'b0;
    fail_reason = limit_reason;
    if (expired_q && !answer) fail = 1'b1;
    if (answer && verdict_q != ReasonNone) begin
      fail        = 1'b1;
      fail_reason = verdict_q;
    end
    if (cqe_bad) begin
      fail        = 1'b1;
      fail_reason = cqe_expected ? ReasonStatus : ReasonCompletion;
    end
    if (!live) fail = 1'b0;
  end
  assign lost = fail && (step_q == StepReady || step_q == StepPass);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      step_q     <= StepHold;
      part_q     <= Tail;
      begin_q    <= 1'b0;
      failed_q   <= 1'b0;
      reason_q   <= ReasonNone;
      perst_o    <= 1'b1;
      hot_q      <= 1'b0;
      shutting_q <= 1'b0;
      lost_o     <= '0;
      access_q   <= 1'b0;
      req_q      <= 1'b0;
      pause_q    <= 1'b0;
      cqe_q      <= 1'b0;
      place_q    <= '0;
      ready_q    <= 1'b0;
      clear_q    <= 1'b0;
      timer_q    <= '0;
      expired_q  <= 1'b0;
      answer_q   <= 1'b0;
      limit_q    <= '0;
      write_q    <= 1'b0;
      read_q     <= 1'b0;
      admin_q    <= 1'b0;
      stepped_q  <= 1'b1;
      again_q    <= 1'b0;
      verdict_q  <= ReasonNone;
    end else begin
      write_q   <= is_write;
      read_q    <= is_read;
      admin_q   <= is_admin;
      stepped_q <= step_done || restart;
      limit_q   <= limit;
      answer_q  <= arrived;
      again_q   <= again;
      verdict_q <= verdict;
      expired_q <= expired && !arrived && !step_done && !restart;
      if (start) begin
        access_q <= 1'b1;
        req_q    <= 1'b1;
      end else begin
        if (req_ready_i) req_q <= 1'b0;
        if (answer) access_q <= 1'b0;
      end

      if (tick_i) begin
        timer_q <= timer_q + 1'b1;
        pause_q <= 1'b0;
      end
      if (answer && again_q) pause_q <= 1'b1;
      if (step_done || (step_q == StepLink && !link_up_i) || (step_q == StepReady && answer)) timer_q <= '0;

      if (cqe_good) cqe_q <= 1'b1;
      if (admin_q && part_q == Tail && good) part_q <= Wait;
      if (part_q == Wait && cqe_q) begin
        part_q <= Head;
        cqe_q  <= 1'b0;
      end
      if (step_done) begin
        step_q <= step_q == StepRelease || (held && !hot_q) ? StepLink : step_q == StepPass ? StepReady
                : step_q == StepReady && !shuts ? StepPass : step_q + 1'b1;
        part_q <= Tail;
      end
      if (leave_link) place_q <= '0;
      else if (good && part_q == Head) place_q <= place_q + 1'b1;
      if (reset_i) perst_o <= 1'b1;
      else if (held) perst_o <= 1'b0;
      if (step_q == StepReset) hot_q <= 1'b1;
      if (step_q == StepRelease && good) hot_q <= 1'b0;

      lost_o <= {fail_reason == ReasonCommand, fail_reason != ReasonFatal && fail_reason != ReasonGone && fail_reason != ReasonCommand,
                 fail_reason == ReasonGone, fail_reason == ReasonFatal} & {4{lost}};
      if (fail && !lost) begin
        failed_q <= 1'b1;
        reason_q <= fail_reason;
      end

      ready_q <= step_q == StepReady && live && link_up_i && !restart_i && !reset_i && !shuts;
      shutting_q <= step_q == StepReady && live && shuts && access_q;
      clear_q <= leave_link || (step_q == StepDisabled && good);

      if (restart) begin
        step_q     <= perst_o ? StepReset : hot_q ? StepRelease : StepLink;
        part_q     <= Tail;
        failed_q   <= 1'b0;
        reason_q   <= ReasonNone;
        pause_q    <= 1'b0;
        cqe_q      <= 1'b0;
        timer_q    <= '0;
      end
      begin_q <= (begin_q && !restart) || restart_i || reset_i || lost || (!link_up_i && step_q != StepLink && !in_reset);
    end
  end

  // ---- Capture ----

  // Byte `b` of the Identify data is in this bus word.
  localparam int unsigned BeatShift = $clog2(BeatBytes);
  logic [11-BeatShift:0] word;
  assign word = identify_addr_i[11:BeatShift];

  logic [31:0] format;                   // the LBA format in use, if the word has it
  logic        format_strb;
  logic [8:0]  format_addr;
  assign format_addr = {format_q[5], !format_q[5], format_q[4:0], 2'b00};  // 128 + 4 * format
  always_comb begin
    format      = '0;
    format_strb = 1'b0;
    for (int unsigned d = 0; d < BeatBytes / 4; d++) begin
      if (format_addr[BeatShift-1:2] == (BeatShift-2)'(d)) begin
        format      = identify_data_i[32*d +: 32];
        format_strb = identify_strb_i[4*d];
      end
    end
  end

  localparam int unsigned Mdts = 77, Formats = 25, Flbas = 26;
  logic taken, at_mdts, at_size, at_flbas, at_format;
  assign taken     = identify_valid_i && part_q != Head;  // nothing that comes after the completion
  assign at_mdts   = taken && step_q == StepController && word == (12-BeatShift)'(Mdts >> BeatShift) &&
                     identify_strb_i[Mdts % BeatBytes];
  assign at_size   = taken && step_q == StepNamespace && word == '0;
  assign at_flbas  = taken && step_q == StepNamespace && word == (12-BeatShift)'(Flbas >> BeatShift) &&
                     identify_strb_i[Flbas % BeatBytes];
  assign at_format = taken && step_q == StepFormat && word == (12-BeatShift)'(format_addr >> BeatShift) && format_strb;

  logic [7:0] mdts, formats, flbas;
  assign mdts    = identify_data_i[8*(Mdts % BeatBytes) +: 8];
  assign formats = identify_data_i[8*(Formats % BeatBytes) +: 8];
  assign flbas   = identify_data_i[8*(Flbas % BeatBytes) +: 8];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      root_list_q  <= '0;
      end_list_q   <= '0;
      payload_q    <= '0;
      tags_q       <= 1'b0;
      cap_q        <= '0;
      blocks_q     <= '0;
      mdts_any_q   <= 1'b0;
      mdts_q       <= '0;
      max_transfer_pages_o <= '0;
      format_q     <= '0;
      block_512_q  <= 1'b0;
      block_4096_q <= 1'b0;
      metadata_q   <= 1'b0;
      queues_q     <= 1'b0;
    end else begin
      if (arrived) begin
        if (step_q == StepRootList || (step_q == StepRootWalk && again)) root_list_q <= next_list;
        if (step_q == StepEndList || (step_q == StepEndWalk && again)) end_list_q <= next_list;
        if (step_q == StepRootCap || (step_q == StepEndCap && rsp_data_i[2:0] < payload_q)) payload_q <= rsp_data_i[2:0];
        if (step_q == StepEndCap) tags_q <= rsp_data_i[5];
        if (step_q == StepCapLow) cap_q[31:0] <= rsp_data_i;
        if (step_q == StepCapHigh) cap_q[63:32] <= rsp_data_i;
      end

      max_transfer_pages_o <= mdts_q == '0 ? '0 : 16'd1 << mdts_q;
      if (cqe_good) queues_q <= admin_cqe_dw0_i[15:0] != '0 && admin_cqe_dw0_i[31:16] != '0;
      if (at_mdts) begin
        mdts_any_q <= 1'b1;
        mdts_q     <= mdts[7:4] != '0 ? 4'd0 : mdts[3:0];
      end
      if (at_size && identify_strb_i[0]) blocks_q[31:0] <= identify_data_i[31:0];
      if (at_size && identify_strb_i[4]) blocks_q[63:32] <= identify_data_i[63:32];
      if (at_flbas) format_q <= {formats[7:4] != '0 ? flbas[6:5] : 2'b00, flbas[3:0]};
      if (at_format) begin
        block_512_q  <= format[23:16] == 8'd9;
        block_4096_q <= format[23:16] == 8'd12;
        metadata_q   <= format[15:0] != '0;
      end

      // Nothing of an earlier bring-up passes for what a drive did not send.
      if (leave_link) begin
        mdts_any_q   <= 1'b0;
        block_512_q  <= 1'b0;
        block_4096_q <= 1'b0;
      end
    end
  end

  // ---- Outputs ----

  assign ready_o              = ready_q;
  assign pass_busy_o          = step_q == StepPass;
  assign pass_done_o          = step_q == StepPass && step_done;
  assign doorbells_enable_o   = ready_q;
  assign clear_o              = clear_q;
  assign doorbell_stride_o    = cap_q[35:32];
  assign cap_o                = cap_q;
  assign block_shift_o        = block_4096_q ? 4'd12 : 4'd9;
  assign media_blocks_o       = blocks_q;
  assign sequencer_o          = {11'b0, step_q == StepDown, step_q > StepRootOn && !in_reset, step_q > StepPresent && !in_reset,
                                 failed_q, ready_q, 3'b0, reason_q, 2'b0, step_q};

  // Bits of the inputs that have no meaning here.
  logic unused;
  assign unused = ^{identify_data_i, identify_strb_i, identify_addr_i, admin_cqe_status_i, format, flbas, formats};

`ifdef FORMAL
  `include "formal/nvs_init.svh"
`endif

endmodule
