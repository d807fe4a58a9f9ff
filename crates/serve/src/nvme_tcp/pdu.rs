//! Encoding of PDUs and the checks that all of them have in common, for both sides.

use assay_nvme_spec::fabrics::{DIGEST_BYTES, FatalError, PduHeader, digest, pdu_flag};
use assay_nvme_spec::wire::Wire;

/// Bytes of the common header.
pub const HEADER_BYTES: usize = PduHeader::SIZE;

/// What both sides agreed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Agreement {
    /// See [`digest`].
    pub digests: u8,
    /// Alignment of data within PDUs to the host, bytes.
    pub alignment: usize,
}

impl Default for Agreement {
    /// No digests.
    fn default() -> Agreement {
        Agreement { digests: 0, alignment: 4 }
    }
}

impl Agreement {
    fn digest_bytes(self, which: u8) -> usize {
        if self.digests & which != 0 { DIGEST_BYTES } else { 0 }
    }

    pub fn header_digest_bytes(self) -> usize {
        self.digest_bytes(digest::HEADER)
    }

    pub fn data_digest_bytes(self) -> usize {
        self.digest_bytes(digest::DATA)
    }
}

/// Appends a PDU. `head` has the PDU's type and specific flags; lengths and digests are set here.
pub fn append(out: &mut Vec<u8>, agreement: Agreement, head: &[u8], data: &[u8]) {
    let start = out.len();
    let digested = head.len() + agreement.header_digest_bytes();
    let (mut offset, mut bytes) = (0, digested);
    let mut header = PduHeader::load(head);
    let mut flags = header.flags();
    if agreement.header_digest_bytes() > 0 {
        flags |= pdu_flag::HEADER_DIGEST;
    }
    if !data.is_empty() {
        offset = digested.next_multiple_of(agreement.alignment);
        bytes = offset + data.len() + agreement.data_digest_bytes();
        if agreement.data_digest_bytes() > 0 {
            flags |= pdu_flag::DATA_DIGEST;
        }
    }
    header
        .set_flags(flags)
        .set_header_bytes(head.len() as u8)
        .set_data_offset(offset as u8)
        .set_bytes(bytes as u32);
    out.reserve(bytes);
    out.extend_from_slice(header.as_bytes());
    out.extend_from_slice(&head[HEADER_BYTES..]);
    if agreement.header_digest_bytes() > 0 {
        let digest = crc32c::crc32c(&out[start..]);
        out.extend_from_slice(&digest.to_le_bytes());
    }
    if !data.is_empty() {
        out.resize(start + offset, 0);
        out.extend_from_slice(data);
        if agreement.data_digest_bytes() > 0 {
            out.extend_from_slice(&crc32c::crc32c(data).to_le_bytes());
        }
    }
}

/// Whether the first bytes of `digest` are the digest that was computed.
pub fn is_digest_of(digest: &[u8], computed: u32) -> bool {
    u32::load(digest) == computed
}

/// The whole header of a PDU whose type has `header_bytes`, checked; or the input length that is
/// missing. `Err` is a fatal error and the offset of the field.
pub fn head(
    input: &[u8],
    agreement: Agreement,
    header_bytes: usize,
) -> Result<Result<PduHeader, usize>, (FatalError, u32)> {
    let header = PduHeader::load(input);
    let digested = header_bytes + agreement.header_digest_bytes();
    if usize::from(header.header_bytes()) != header_bytes {
        return Err((FatalError::INVALID_FIELD, 2));
    }
    if (header.bytes() as usize) < digested {
        return Err((FatalError::INVALID_FIELD, 4));
    }
    if input.len() < digested {
        return Ok(Err(digested));
    }
    if agreement.header_digest_bytes() > 0 {
        if header.flags() & pdu_flag::HEADER_DIGEST == 0 {
            return Err((FatalError::INVALID_FIELD, 1));
        }
        let computed = crc32c::crc32c(&input[..header_bytes]);
        if !is_digest_of(&input[header_bytes..digested], computed) {
            return Err((FatalError::HEADER_DIGEST, 0));
        }
    }
    Ok(Ok(header))
}

/// Offset and length of a PDU's data. `digested` is where its header ends, with the digest. `Err`
/// is a fatal error and the offset of the field.
pub fn data_range(
    header: PduHeader,
    agreement: Agreement,
    digested: usize,
) -> Result<(usize, usize), (FatalError, u32)> {
    let (bytes, offset) = (header.bytes() as usize, usize::from(header.data_offset()));
    if bytes == digested {
        return Ok((digested, 0));
    }
    if offset < digested || !offset.is_multiple_of(4) {
        return Err((FatalError::INVALID_FIELD, 3));
    }
    let len = bytes.checked_sub(offset + agreement.data_digest_bytes());
    let len = len.filter(|&len| len > 0);
    Ok((offset, len.ok_or((FatalError::INVALID_FIELD, 4))?))
}
