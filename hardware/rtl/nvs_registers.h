/* Registers of the streaming core. Made from hardware/rtl/registers.toml by `make registers`;
 * do not edit.
 *
 * An address is that of the bank plus the register's offset. Words of 32 bits, little-endian. A
 * register of 64 bits is two words, low half first: reading the low half of a read-only one keeps
 * its high half for the next read. Constants of a register's bits: NAME_MASK in place, NAME_SHIFT;
 * of 64 bits where the register has 64.
 */
#ifndef NVS_REGISTERS_H
#define NVS_REGISTERS_H

#include <stdint.h>

/* Bank `write`: Stream to drives. */
#define NVS_WRITE_BANK UINT32_C(0x000)
/* Bank `read`: Drives to stream. */
#define NVS_READ_BANK UINT32_C(0x100)
/* Bank `drive`: One drive. */
#define NVS_DRIVE_BANK(number) (UINT32_C(0x200) + UINT32_C(0x100) * (number))
#define NVS_DRIVE_BANKS 4

/* Stream banks: offsets within the bank. */

/* "ASAY"; 32 bits, read only */
#define NVS_STREAM_ID UINT32_C(0x00)
#define NVS_STREAM_ID_VALUE UINT32_C(0x59415341)

/* version of this map; 32 bits, read only */
#define NVS_STREAM_VERSION UINT32_C(0x04)
#define NVS_STREAM_VERSION_VALUE UINT32_C(0x2)

/* write 1 to act; 32 bits, reads as 0 */
#define NVS_STREAM_CONTROL UINT32_C(0x08)
#define NVS_STREAM_CONTROL_START_MASK UINT32_C(0x1) /* Start. A software stream starts with its call; a core with this bit. */
#define NVS_STREAM_CONTROL_START_SHIFT 0
#define NVS_STREAM_CONTROL_STOP_MASK UINT32_C(0x2) /* Accept no more of the stream; I/Os in flight complete, no flush. */
#define NVS_STREAM_CONTROL_STOP_SHIFT 1
#define NVS_STREAM_CONTROL_ABORT_MASK UINT32_C(0x4) /* As `STOP`, or behind it, followed by a flush. */
#define NVS_STREAM_CONTROL_ABORT_SHIFT 2
#define NVS_STREAM_CONTROL_FLUSH_NOW_MASK UINT32_C(0x8) /* Flush completed chunks now, while the stream continues. */
#define NVS_STREAM_CONTROL_FLUSH_NOW_SHIFT 3
#define NVS_STREAM_CONTROL_FLUSH_AFTER_WRITE_MASK UINT32_C(0x10) /* Flush when the stream has ended. */
#define NVS_STREAM_CONTROL_FLUSH_AFTER_WRITE_SHIFT 4
#define NVS_STREAM_CONTROL_CLOSE_MASK UINT32_C(0x20) /* A core's recording ends with the beats that were taken; the open chunk is kept. */
#define NVS_STREAM_CONTROL_CLOSE_SHIFT 5
#define NVS_STREAM_CONTROL_PATTERN_MASK UINT32_C(0x40) /* With `START`: a core's pattern generator or checker instead of the stream. */
#define NVS_STREAM_CONTROL_PATTERN_SHIFT 6
#define NVS_STREAM_CONTROL_PACKETS_MASK UINT32_C(0x80) /* With `START`: a packet's last beat does not end a core's recording. */
#define NVS_STREAM_CONTROL_PACKETS_SHIFT 7
#define NVS_STREAM_CONTROL_RING_MASK UINT32_C(0x100) /* With `START`: a core's recording goes round its range until `TRIGGER`. */
#define NVS_STREAM_CONTROL_RING_SHIFT 8
#define NVS_STREAM_CONTROL_TRIGGER_MASK UINT32_C(0x200) /* A ring recording ends when `POST_CHUNKS` further chunks have begun. */
#define NVS_STREAM_CONTROL_TRIGGER_SHIFT 9

/* state of the stream; 32 bits, read only */
#define NVS_STREAM_STATUS UINT32_C(0x0c)
#define NVS_STREAM_STATUS_RUNNING_MASK UINT32_C(0x1) /* A stream is under way. */
#define NVS_STREAM_STATUS_RUNNING_SHIFT 0
#define NVS_STREAM_STATUS_FINISHED_MASK UINT32_C(0x2) /* The stream or the range ended. */
#define NVS_STREAM_STATUS_FINISHED_SHIFT 1
#define NVS_STREAM_STATUS_EARLY_LAST_MASK UINT32_C(0x4) /* The stream ended inside a chunk. */
#define NVS_STREAM_STATUS_EARLY_LAST_SHIFT 2
#define NVS_STREAM_STATUS_STOPPED_MASK UINT32_C(0x8) /* It was stopped. */
#define NVS_STREAM_STATUS_STOPPED_SHIFT 3
#define NVS_STREAM_STATUS_ABORTED_MASK UINT32_C(0x10) /* It was aborted. */
#define NVS_STREAM_STATUS_ABORTED_SHIFT 4
#define NVS_STREAM_STATUS_FIRST_AFTER_LAST_MASK UINT32_C(0x20) /* Refused: the first address lies after the last. */
#define NVS_STREAM_STATUS_FIRST_AFTER_LAST_SHIFT 5
#define NVS_STREAM_STATUS_UNALIGNED_MASK UINT32_C(0x40) /* Refused: an address is not a multiple of the chunk size. */
#define NVS_STREAM_STATUS_UNALIGNED_SHIFT 6
#define NVS_STREAM_STATUS_OUT_OF_RANGE_MASK UINT32_C(0x80) /* Refused: the range does not lie on the media, LENGTH exceeds it, or a ring is short. */
#define NVS_STREAM_STATUS_OUT_OF_RANGE_SHIFT 7
#define NVS_STREAM_STATUS_DEVICE_ERROR_MASK UINT32_C(0x100) /* The drive failed a command. */
#define NVS_STREAM_STATUS_DEVICE_ERROR_SHIFT 8
#define NVS_STREAM_STATUS_LAST_VALID_MASK UINT32_C(0x200) /* `LAST_ADDRESS_WRITTEN` holds an address: at least one chunk is done. */
#define NVS_STREAM_STATUS_LAST_VALID_SHIFT 9
#define NVS_STREAM_STATUS_PATTERN_ERROR_MASK UINT32_C(0x400) /* The pattern checker found a wrong beat; `ERROR_BEAT` is the first. */
#define NVS_STREAM_STATUS_PATTERN_ERROR_SHIFT 10
#define NVS_STREAM_STATUS_LENGTH_ERROR_MASK UINT32_C(0x800) /* The pattern checker found a packet of a length other than `PACKET_BEATS`. */
#define NVS_STREAM_STATUS_LENGTH_ERROR_SHIFT 11
#define NVS_STREAM_STATUS_PROTOCOL_ERROR_MASK UINT32_C(0x1000) /* A rule was broken. By the drive: wrong phase, unknown command, an access outside the core's addresses, a burst that is refused. By the memory: an error. By the stream: a partial beat inside a packet, a hole in the bytes kept. */
#define NVS_STREAM_STATUS_PROTOCOL_ERROR_SHIFT 12
#define NVS_STREAM_STATUS_WRAPPED_MASK UINT32_C(0x2000) /* A ring recording has been round its range: its oldest chunk is at `NEXT_ADDRESS`. */
#define NVS_STREAM_STATUS_WRAPPED_SHIFT 13
#define NVS_STREAM_STATUS_TRIGGERED_MASK UINT32_C(0x4000) /* The trigger of a ring recording has come. */
#define NVS_STREAM_STATUS_TRIGGERED_SHIFT 14
#define NVS_STREAM_STATUS_UNRECORDED_MASK UINT32_C(0x8000) /* A ring recording has ended with chunks that were begun and are not recorded: those from behind `LAST_ADDRESS_WRITTEN` to before `NEXT_ADDRESS` have unknown content. */
#define NVS_STREAM_STATUS_UNRECORDED_SHIFT 15

/* byte address of the first chunk; 64 bits, read and write */
#define NVS_STREAM_FIRST_ADDRESS UINT32_C(0x10)
#define NVS_STREAM_FIRST_ADDRESS_RESET UINT64_C(0x0)

/* byte address of the last chunk, inclusive; 64 bits, read and write */
#define NVS_STREAM_LAST_ADDRESS UINT32_C(0x18)
#define NVS_STREAM_LAST_ADDRESS_RESET UINT64_C(0x0)

/* size of a chunk; 32 bits, read only */
#define NVS_STREAM_CHUNK_BYTES UINT32_C(0x20)

/* byte address of the last chunk of the contiguous run of completed chunks (read bank: delivered); valid with `LAST_VALID`; 64 bits, read only */
#define NVS_STREAM_LAST_ADDRESS_WRITTEN UINT32_C(0x28)

/* bytes of the stream in that run; 64 bits, read only */
#define NVS_STREAM_BYTES UINT32_C(0x30)

/* the same in beats of 16 bytes, rounded up; 64 bits, read only */
#define NVS_STREAM_BEATS UINT32_C(0x38)

/* number of times the stream had to wait for the drive; a replay always waits for its first chunk; 64 bits, read only */
#define NVS_STREAM_STALLS UINT32_C(0x40)

/* total duration of these, nanoseconds; a core counts whole microseconds; 64 bits, read only */
#define NVS_STREAM_STALL_TIME UINT32_C(0x48)

/* first beat of the pattern generator or checker, bytes 0 to 7; 64 bits, read and write */
#define NVS_STREAM_PATTERN_SEED UINT32_C(0x50)
#define NVS_STREAM_PATTERN_SEED_RESET UINT64_C(0x0)

/* beats per packet of the pattern, 0 for one packet of the whole stream; 64 bits, read and write */
#define NVS_STREAM_PACKET_BEATS UINT32_C(0x58)
#define NVS_STREAM_PACKET_BEATS_RESET UINT64_C(0x0)

/* bytes of the stream covered by a completed flush (read bank: 0); 64 bits, read only */
#define NVS_STREAM_DURABLE_BYTES UINT32_C(0x60)

/* number of the first beat that the pattern checker found wrong; valid with `PATTERN_ERROR`; 64 bits, read only */
#define NVS_STREAM_ERROR_BEAT UINT32_C(0x68)

/* the first failed command of the stream; 64 bits, read only */
#define NVS_STREAM_DEVICE_STATUS UINT32_C(0x70)
#define NVS_STREAM_DEVICE_STATUS_STATUS_FIELD_MASK UINT64_C(0x7fff) /* status field of its completion entry, without the phase */
#define NVS_STREAM_DEVICE_STATUS_STATUS_FIELD_SHIFT 0
#define NVS_STREAM_DEVICE_STATUS_DRIVE_MASK UINT64_C(0x30000) /* drive */
#define NVS_STREAM_DEVICE_STATUS_DRIVE_SHIFT 16
#define NVS_STREAM_DEVICE_STATUS_VALID_MASK UINT64_C(0x80000000) /* a command failed */
#define NVS_STREAM_DEVICE_STATUS_VALID_SHIFT 31
#define NVS_STREAM_DEVICE_STATUS_LBA_MASK UINT64_C(0xffffffff00000000) /* low half of its first logical block */
#define NVS_STREAM_DEVICE_STATUS_LBA_SHIFT 32

/* take beats of the stream and drop them; has nothing to do with an NVMe flush; 32 bits, reads as 0 */
#define NVS_STREAM_FLUSH_CONTROL UINT32_C(0x78)
#define NVS_STREAM_FLUSH_CONTROL_START_MASK UINT32_C(0x1) /* begin now */
#define NVS_STREAM_FLUSH_CONTROL_START_SHIFT 0
#define NVS_STREAM_FLUSH_CONTROL_STOP_MASK UINT32_C(0x2) /* end */
#define NVS_STREAM_FLUSH_CONTROL_STOP_SHIFT 1
#define NVS_STREAM_FLUSH_CONTROL_AFTER_WRITE_MASK UINT32_C(0x4) /* begin when the present recording has ended */
#define NVS_STREAM_FLUSH_CONTROL_AFTER_WRITE_SHIFT 2

/* state of `FLUSH_CONTROL`; 32 bits, read only */
#define NVS_STREAM_FLUSH_STATUS UINT32_C(0x7c)
#define NVS_STREAM_FLUSH_STATUS_IN_PROGRESS_MASK UINT32_C(0x1) /* beats are dropped */
#define NVS_STREAM_FLUSH_STATUS_IN_PROGRESS_SHIFT 0
#define NVS_STREAM_FLUSH_STATUS_FINISHED_MASK UINT32_C(0x2) /* it has ended */
#define NVS_STREAM_FLUSH_STATUS_FINISHED_SHIFT 1

/* beats of the stream that were taken and are on no drive: dropped by `FLUSH_CONTROL`, or of an open chunk given up by STOP; 64 bits, read only */
#define NVS_STREAM_DROPPED_BEATS UINT32_C(0x80)

/* clock cycles from START to the end, or until now; 64 bits, read only */
#define NVS_STREAM_CYCLES UINT32_C(0x88)

/* first beat of the pattern, bytes 8 to 15; 64 bits, read and write */
#define NVS_STREAM_PATTERN_SEED_HIGH UINT32_C(0x90)
#define NVS_STREAM_PATTERN_SEED_HIGH_RESET UINT64_C(0x0)

/* bank `read` only: bytes to deliver, 0 for the whole range; 64 bits, read and write */
#define NVS_STREAM_LENGTH UINT32_C(0x98)
#define NVS_STREAM_LENGTH_RESET UINT64_C(0x0)

/* bank `write` only: chunks of a ring that begin behind its trigger; 0 is 1; 32 bits, read and write */
#define NVS_STREAM_POST_CHUNKS UINT32_C(0xa0)
#define NVS_STREAM_POST_CHUNKS_RESET UINT32_C(0x0)

/* bank `write` only: byte address of the next chunk; with `WRAPPED` the oldest one; 64 bits, read only */
#define NVS_STREAM_NEXT_ADDRESS UINT32_C(0xa8)

/* bank `write` only: entries of the index since the reset, modulo 2^32; 32 bits, read only */
#define NVS_STREAM_INDEX_COUNT UINT32_C(0xb0)

/* bank `write` only: number of the entry that INDEX_POSITION and INDEX_TIME show; 32 bits, reads as 0 */
#define NVS_STREAM_INDEX_SELECT UINT32_C(0xb4)

/* bank `write` only: what the entry is, and the place of its beat in bytes; 64 bits, read only */
#define NVS_STREAM_INDEX_POSITION UINT32_C(0xb8)
#define NVS_STREAM_INDEX_POSITION_CHUNK_MASK UINT64_C(0x1) /* the first beat of a chunk */
#define NVS_STREAM_INDEX_POSITION_CHUNK_SHIFT 0
#define NVS_STREAM_INDEX_POSITION_LAST_MASK UINT64_C(0x2) /* the last beat of a packet */
#define NVS_STREAM_INDEX_POSITION_LAST_SHIFT 1
#define NVS_STREAM_INDEX_POSITION_TRIGGER_MASK UINT64_C(0x4) /* the trigger came with or before it */
#define NVS_STREAM_INDEX_POSITION_TRIGGER_SHIFT 2
#define NVS_STREAM_INDEX_POSITION_END_MASK UINT64_C(0x8) /* no beat: the recording has ended behind the beat before it */
#define NVS_STREAM_INDEX_POSITION_END_SHIFT 3

/* bank `write` only: when, and how much of the beat; 64 bits, read only */
#define NVS_STREAM_INDEX_TIME UINT32_C(0xc0)
#define NVS_STREAM_INDEX_TIME_TIME_MASK UINT64_C(0xffffffffffff) /* microseconds since the reset */
#define NVS_STREAM_INDEX_TIME_TIME_SHIFT 0
#define NVS_STREAM_INDEX_TIME_KEPT_MASK UINT64_C(0xff000000000000) /* bytes of the beat that are the stream's; 0 for no beat */
#define NVS_STREAM_INDEX_TIME_KEPT_SHIFT 48
#define NVS_STREAM_INDEX_TIME_HOW_MASK UINT64_C(0x300000000000000) /* with END: 0 complete, 1 STOP, 2 ABORT, 3 error */
#define NVS_STREAM_INDEX_TIME_HOW_SHIFT 56

/* bank `write` only: microseconds since the reset; 0 without an index; 64 bits, read only */
#define NVS_STREAM_TIME UINT32_C(0xc8)

/* Bank `drive`: offsets within the bank. */

/* PCIe link; 32 bits, read only */
#define NVS_DRIVE_LINK UINT32_C(0x00)
#define NVS_DRIVE_LINK_UP_MASK UINT32_C(0x1) /* link is up */
#define NVS_DRIVE_LINK_UP_SHIFT 0
#define NVS_DRIVE_LINK_SPEED_MASK UINT32_C(0xf0) /* 1: 2.5 GT/s, 2: 5, 3: 8, 4: 16, 5: 32 */
#define NVS_DRIVE_LINK_SPEED_SHIFT 4
#define NVS_DRIVE_LINK_WIDTH_MASK UINT32_C(0xff00) /* lanes */
#define NVS_DRIVE_LINK_WIDTH_SHIFT 8

/* bring-up and shutdown; 32 bits, read only */
#define NVS_DRIVE_SEQUENCER UINT32_C(0x04)
#define NVS_DRIVE_SEQUENCER_STEP_MASK UINT32_C(0xff) /* step under way, or in which it failed */
#define NVS_DRIVE_SEQUENCER_STEP_SHIFT 0
#define NVS_DRIVE_SEQUENCER_REASON_MASK UINT32_C(0xff00) /* why it failed, 0 for no failure */
#define NVS_DRIVE_SEQUENCER_REASON_SHIFT 8
#define NVS_DRIVE_SEQUENCER_READY_MASK UINT32_C(0x10000) /* I/O may run */
#define NVS_DRIVE_SEQUENCER_READY_SHIFT 16
#define NVS_DRIVE_SEQUENCER_FAILED_MASK UINT32_C(0x20000) /* stopped in a step */
#define NVS_DRIVE_SEQUENCER_FAILED_SHIFT 17
#define NVS_DRIVE_SEQUENCER_FOUND_MASK UINT32_C(0x40000) /* endpoint found */
#define NVS_DRIVE_SEQUENCER_FOUND_SHIFT 18
#define NVS_DRIVE_SEQUENCER_ENUMERATED_MASK UINT32_C(0x80000) /* endpoint configured */
#define NVS_DRIVE_SEQUENCER_ENUMERATED_SHIFT 19
#define NVS_DRIVE_SEQUENCER_DOWN_MASK UINT32_C(0x100000) /* shutdown is complete */
#define NVS_DRIVE_SEQUENCER_DOWN_SHIFT 20

/* size of the namespace; 64 bits, read only */
#define NVS_DRIVE_MEDIA_BYTES UINT32_C(0x08)

/* size of a logical block; 32 bits, read only */
#define NVS_DRIVE_BLOCK_BYTES UINT32_C(0x10)

/* bytes per command by the drive's MDTS, 0 for no limit; 32 bits, read only */
#define NVS_DRIVE_MAX_TRANSFER UINT32_C(0x14)

/* the controller's capabilities (NVMe register CAP); 64 bits, read only */
#define NVS_DRIVE_CAP UINT32_C(0x18)

/* microseconds after which a command of this drive without completion is an error; 0 for no limit; 32 bits, read and write */
#define NVS_DRIVE_COMMAND_TIMEOUT UINT32_C(0x20)
#define NVS_DRIVE_COMMAND_TIMEOUT_RESET UINT32_C(0x989680)

/* age of the oldest outstanding command, microseconds; 32 bits, read only */
#define NVS_DRIVE_OLDEST_COMMAND UINT32_C(0x24)

/* I/O commands of the streams, modulo 2^32; retries are not counted; 32 bits, read only */
#define NVS_DRIVE_COMMANDS UINT32_C(0x28)

/* doorbells written, modulo 2^32; 32 bits, read only */
#define NVS_DRIVE_DOORBELLS UINT32_C(0x2c)

/* events of PROTOCOL_ERROR at this drive, modulo 2^32; completions while it is brought up are none; 32 bits, read only */
#define NVS_DRIVE_PROTOCOL_ERRORS UINT32_C(0x30)

/* write 1 to act; 32 bits, reads as 0 */
#define NVS_DRIVE_CONTROL UINT32_C(0x34)
#define NVS_DRIVE_CONTROL_RESTART_MASK UINT32_C(0x1) /* reset the drive by PERST# and hot reset, and begin bring-up again */
#define NVS_DRIVE_CONTROL_RESTART_SHIFT 0
#define NVS_DRIVE_CONTROL_SHUTDOWN_MASK UINT32_C(0x2) /* orderly shutdown */
#define NVS_DRIVE_CONTROL_SHUTDOWN_SHIFT 1
#define NVS_DRIVE_CONTROL_ACKNOWLEDGE_MASK UINT32_C(0x4) /* clear LOST, and with it the interrupt */
#define NVS_DRIVE_CONTROL_ACKNOWLEDGE_SHIFT 2
#define NVS_DRIVE_CONTROL_PASS_MASK UINT32_C(0x8) /* send the command in PASS_DW*, unless one is under way */
#define NVS_DRIVE_CONTROL_PASS_SHIFT 3

/* why the drive was lost while ready, until ACKNOWLEDGE; not 0: interrupt; 32 bits, read only */
#define NVS_DRIVE_LOST UINT32_C(0x38)
#define NVS_DRIVE_LOST_LINK_MASK UINT32_C(0x1) /* the link went down, without RESTART */
#define NVS_DRIVE_LOST_LINK_SHIFT 0
#define NVS_DRIVE_LOST_LATE_MASK UINT32_C(0x2) /* a command was late: COMMAND_TIMEOUT, 10 s for admin commands */
#define NVS_DRIVE_LOST_LATE_SHIFT 1
#define NVS_DRIVE_LOST_FATAL_MASK UINT32_C(0x4) /* controller fatal status (CSTS.CFS) */
#define NVS_DRIVE_LOST_FATAL_SHIFT 2
#define NVS_DRIVE_LOST_ONES_MASK UINT32_C(0x8) /* CSTS reads as ones */
#define NVS_DRIVE_LOST_ONES_SHIFT 3
#define NVS_DRIVE_LOST_ACCESS_MASK UINT32_C(0x10) /* an access to its registers failed, or an admin completion was wrong */
#define NVS_DRIVE_LOST_ACCESS_SHIFT 4

/* opcode and queue of a command of the software; 32 bits, reads as 0 */
#define NVS_DRIVE_PASS_DW0 UINT32_C(0x40)
#define NVS_DRIVE_PASS_DW0_OPCODE_MASK UINT32_C(0xff) /* opcode; its bits 1:0: data 01b to the drive, 10b from it */
#define NVS_DRIVE_PASS_DW0_OPCODE_SHIFT 0
#define NVS_DRIVE_PASS_DW0_IO_MASK UINT32_C(0x80000000) /* I/O queue 1 instead of the admin queue */
#define NVS_DRIVE_PASS_DW0_IO_SHIFT 31

/* its namespace (NSID); 32 bits, reads as 0 */
#define NVS_DRIVE_PASS_DW1 UINT32_C(0x44)

/* its command dword 10; 32 bits, reads as 0 */
#define NVS_DRIVE_PASS_DW10 UINT32_C(0x68)

/* its command dword 11; 32 bits, reads as 0 */
#define NVS_DRIVE_PASS_DW11 UINT32_C(0x6c)

/* its command dword 12; 32 bits, reads as 0 */
#define NVS_DRIVE_PASS_DW12 UINT32_C(0x70)

/* its command dword 13; 32 bits, reads as 0 */
#define NVS_DRIVE_PASS_DW13 UINT32_C(0x74)

/* its command dword 14; 32 bits, reads as 0 */
#define NVS_DRIVE_PASS_DW14 UINT32_C(0x78)

/* its command dword 15; 32 bits, reads as 0 */
#define NVS_DRIVE_PASS_DW15 UINT32_C(0x7c)

/* state of the command of the software; 32 bits, read only */
#define NVS_DRIVE_PASS_STATUS UINT32_C(0x80)
#define NVS_DRIVE_PASS_STATUS_BUSY_MASK UINT32_C(0x1) /* It is under way; a session is refused meanwhile. */
#define NVS_DRIVE_PASS_STATUS_BUSY_SHIFT 0
#define NVS_DRIVE_PASS_STATUS_DONE_MASK UINT32_C(0x2) /* The drive has completed it. */
#define NVS_DRIVE_PASS_STATUS_DONE_SHIFT 1
#define NVS_DRIVE_PASS_STATUS_REFUSED_MASK UINT32_C(0x4) /* It was not sent: session, drive not ready, or data both ways. */
#define NVS_DRIVE_PASS_STATUS_REFUSED_SHIFT 2
#define NVS_DRIVE_PASS_STATUS_LOST_MASK UINT32_C(0x8) /* The drive was lost before it completed it. */
#define NVS_DRIVE_PASS_STATUS_LOST_SHIFT 3
#define NVS_DRIVE_PASS_STATUS_STATUS_FIELD_MASK UINT32_C(0x7fff0000) /* With DONE: status without the phase, 0 for success. */
#define NVS_DRIVE_PASS_STATUS_STATUS_FIELD_SHIFT 16

/* with DONE: dword 0 of its completion entry; 32 bits, read only */
#define NVS_DRIVE_PASS_RESULT UINT32_C(0x84)

#endif
