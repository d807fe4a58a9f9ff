//! Option negotiation (proto, "Option types", "Option reply types").

use assay_io::clock::Clock;
use assay_units::limited_event;

use super::protocol::{
    BASE_ALLOCATION, BASE_ALLOCATION_ID, MAX_PAYLOAD_BYTES, OPTION_REPLY_MAGIC, info, option,
    option_reply,
};
use super::session::{NbdSession, SessionPhase, u16_at, u32_at};

/// They end the reply to `NBD_OPT_EXPORT_NAME` unless the client declined them (proto, "Newstyle
/// negotiation").
const RESERVED: [u8; 124] = [0; 124];
const MALFORMED: &[u8] = b"the data of this option is malformed";

fn reply(out: &mut Vec<u8>, option: u32, kind: u32, data: &[&[u8]]) {
    let len: usize = data.iter().map(|part| part.len()).sum();
    out.extend_from_slice(&OPTION_REPLY_MAGIC.to_be_bytes());
    out.extend_from_slice(&option.to_be_bytes());
    out.extend_from_slice(&kind.to_be_bytes());
    out.extend_from_slice(&(len as u32).to_be_bytes());
    data.iter().for_each(|part| out.extend_from_slice(part));
}

fn counted(data: &[u8]) -> Option<(&[u8], &[u8])> {
    let (_, rest) = data.split_at_checked(4)?;
    rest.split_at_checked(u32_at(data, 0) as usize)
}

impl NbdSession {
    /// No error reply to `NBD_OPT_EXPORT_NAME`, nor to clients without fixed newstyle.
    pub(super) fn may_reject(&self, option: u32) -> bool {
        self.fixed && option != option::EXPORT_NAME
    }

    /// The data of the option was too long and was skipped.
    pub(super) fn reject_long_option(&self, option: u32, out: &mut Vec<u8>) {
        let why = b"the data of this option is too long";
        reply(out, option, option_reply::ERR_TOO_BIG, &[why]);
    }

    /// `false` ends the connection.
    pub(super) fn handle_option(&mut self, number: u32, data: &[u8], out: &mut Vec<u8>) -> bool {
        use option_reply as kind;
        let (connection, bytes) = (self.connection, data.len());
        let now = || Clock::monotonic().now();
        limited_event!(now(), DEBUG, connection, option = number, bytes, "NBD option");
        let mut reject = |kind: u32, why: &str| reply(out, number, kind, &[why.as_bytes()]);
        if number == option::EXPORT_NAME {
            return self.export_name(data, out);
        }
        if !self.fixed {
            self.refused("an option other than the export's name, without fixed newstyle");
            return false;
        }
        match number {
            option::LIST | option::STRUCTURED_REPLY | option::STARTTLS if !data.is_empty() => {
                reject(kind::ERR_INVALID, "this option has no data");
            }
            option::ABORT => {
                reply(out, number, kind::ACK, &[]);
                return false;
            }
            option::LIST => {
                let name = self.export.name.as_bytes();
                let len = (name.len() as u32).to_be_bytes();
                let description = self.export.description.as_bytes();
                reply(out, number, kind::SERVER, &[&len, name, description]);
                reply(out, number, kind::ACK, &[]);
            }
            option::STRUCTURED_REPLY => {
                self.structured = true;
                reply(out, number, kind::ACK, &[]);
            }
            // Proto, "NOTLS mode".
            option::STARTTLS => {
                reject(kind::ERR_UNSUP, "this server has no TLS; use a Unix socket or a TLS tunnel")
            }
            option::INFO | option::GO => self.export_info(number, data, out),
            option::LIST_META_CONTEXT | option::SET_META_CONTEXT => {
                self.meta_context(number, data, out);
            }
            _ => reject(kind::ERR_UNSUP, "unknown option"),
        }
        true
    }

    fn matches_export(&self, name: &[u8]) -> bool {
        let matches = name.is_empty() || name == self.export.name.as_bytes();
        if !matches {
            let name = String::from_utf8_lossy(name);
            self.refused(format_args!("no such export: {name:?}"));
        }
        matches
    }

    /// `NBD_OPT_EXPORT_NAME` has no error reply.
    fn export_name(&mut self, name: &[u8], out: &mut Vec<u8>) -> bool {
        if !self.matches_export(name) {
            return false;
        }
        out.extend_from_slice(&self.export.size_bytes.to_be_bytes());
        out.extend_from_slice(&self.transmission_flags().to_be_bytes());
        if !self.no_zeroes {
            out.extend_from_slice(&RESERVED);
        }
        self.phase = SessionPhase::Transmission;
        true
    }

    /// `NBD_OPT_INFO` and `NBD_OPT_GO`: name, number of information requests, their types.
    fn export_info(&mut self, number: u32, data: &[u8], out: &mut Vec<u8>) {
        let parsed = counted(data).filter(|(_, rest)| {
            rest.len() >= 2 && rest.len() - 2 == 2 * usize::from(u16_at(rest, 0))
        });
        let Some((name, requests)) = parsed else {
            return reply(out, number, option_reply::ERR_INVALID, &[MALFORMED]);
        };
        if !self.matches_export(name) {
            let why = format!("no such export; there is only {:?}", self.export.name);
            return reply(out, number, option_reply::ERR_UNKNOWN, &[why.as_bytes()]);
        }
        let export = &self.export;
        let mut info_reply = |kind: u16, parts: [&[u8]; 3]| {
            let [a, b, c] = parts;
            let kind = kind.to_be_bytes();
            reply(out, number, option_reply::INFO, &[&kind, a, b, c]);
        };
        let size = export.size_bytes.to_be_bytes();
        let flags = self.transmission_flags().to_be_bytes();
        info_reply(info::EXPORT, [&size, &flags, &[]]);
        let requested = |kind: u16| {
            let kinds = requests.get(2..).unwrap_or_default();
            kinds.chunks_exact(2).any(|entry| u16_at(entry, 0) == kind)
        };
        if requested(info::NAME) {
            info_reply(info::NAME, [export.name.as_bytes(), &[], &[]]);
        }
        if requested(info::DESCRIPTION) {
            info_reply(info::DESCRIPTION, [export.description.as_bytes(), &[], &[]]);
        }
        // Sent even if not requested: requests that violate the sizes are rejected (proto, "Block
        // size constraints").
        let min = export.min_block_bytes.to_be_bytes();
        let preferred = export.preferred_block_bytes.to_be_bytes();
        let max = MAX_PAYLOAD_BYTES.to_be_bytes();
        info_reply(info::BLOCK_SIZE, [&min, &preferred, &max]);
        reply(out, number, option_reply::ACK, &[]);
        if number == option::GO {
            self.phase = SessionPhase::Transmission;
        }
    }

    /// `NBD_OPT_LIST_META_CONTEXT` and `NBD_OPT_SET_META_CONTEXT`: name, number of queries,
    /// length-prefixed queries.
    fn meta_context(&mut self, number: u32, data: &[u8], out: &mut Vec<u8>) {
        let sets = number == option::SET_META_CONTEXT;
        let rejected = |out: &mut Vec<u8>, kind: u32, why: &[u8]| reply(out, number, kind, &[why]);
        if !self.structured {
            let why = b"negotiate structured replies first";
            return rejected(out, option_reply::ERR_INVALID, why);
        }
        let parsed = counted(data).and_then(|(name, rest)| {
            let (_, mut queries) = rest.split_at_checked(4)?;
            let count = u32_at(rest, 0);
            let mut found = count == 0 && !sets;
            for _ in 0..count {
                let (query, others) = counted(queries)?;
                found |= query == BASE_ALLOCATION.as_bytes() || (!sets && query == b"base:");
                queries = others;
            }
            queries.is_empty().then_some((name, found))
        });
        let Some((name, found)) = parsed else {
            return rejected(out, option_reply::ERR_INVALID, MALFORMED);
        };
        if !self.matches_export(name) {
            return rejected(out, option_reply::ERR_UNKNOWN, b"no such export");
        }
        if sets {
            self.allocation = found;
        }
        if found {
            let id = if sets { BASE_ALLOCATION_ID } else { 0 };
            let parts = [&id.to_be_bytes(), BASE_ALLOCATION.as_bytes()];
            reply(out, number, option_reply::META_CONTEXT, &parts);
        }
        reply(out, number, option_reply::ACK, &[]);
    }
}
