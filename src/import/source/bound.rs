//! How much may come out of a packed file or out of standard input before it is refused, and the words for it.

use crate::import::limits::{
    MAX_LONG_RATIO, MAX_RATIO, MAX_STDIN_BYTES, MAX_STDIN_LINE_BYTES, MAX_UNPACKED_BYTES,
    MEMORY_BYTES, UNPACKED_FREELY_BYTES,
};
use crate::text;
use std::io::{self, Read};

/// What `size` packed bytes may unpack to.
pub(in crate::import) fn unpacked_limit(size: u64) -> u64 {
    let short = MEMORY_BYTES.max(size.saturating_mul(MAX_RATIO));
    let long = UNPACKED_FREELY_BYTES.max(size.saturating_mul(MAX_LONG_RATIO));
    MAX_UNPACKED_BYTES.min(short).min(long)
}

pub(super) fn bomb(limit: u64) -> io::Error {
    past(format!(
        "unpacks to more than {limit} bytes, which looks like a bomb; hint: unpack it yourself and import the result"
    ))
}

fn past(why: String) -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, why)
}

/// A limit was passed; the bytes are not damaged.
pub(super) fn is_past(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::FileTooLarge
}

/// Reads a stream that may have no end, until that is clear.
pub(super) struct Bound<R> {
    reader: R,
    read: u64,
    line: u64,
    most: u64,
    most_line: u64,
}

impl<R: Read> Bound<R> {
    pub(super) fn stdin(reader: R) -> Self {
        Self {
            reader,
            read: 0,
            line: 0,
            most: MAX_STDIN_BYTES,
            most_line: MAX_STDIN_LINE_BYTES,
        }
    }
}

impl<R: Read> Read for Bound<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = self.reader.read(out)?;
        let new = out.get(..n).unwrap_or_default();
        self.read += n as u64;
        self.line = match memchr::memrchr(b'\n', new) {
            Some(at) => (n - at - 1) as u64,
            None => self.line + n as u64,
        };
        let why = if self.read > self.most {
            format!("gives more than {}", text::bytes(self.most))
        } else if self.line > self.most_line {
            let most = text::bytes(self.most_line);
            format!("goes on for more than {most} without a line end, which no log does")
        } else {
            return Ok(n);
        };
        Err(past(format!(
            "standard input {why}; hint: write it to a file and import that"
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_packed_file_may_become() {
        // 200 times is what logs that repeat their prefix reach; by hand: 1 MiB × 600 = 600 MiB > 256 MiB; 4 MiB × 250 = 1000 MiB.
        for (size, most) in [
            (0, 8 << 20),
            (100 << 10, (100 << 10) * 600),
            (1 << 20, 256 << 20),
            (4 << 20, 1_000 << 20),
            (1 << 40, 16 << 30),
        ] {
            assert_eq!(unpacked_limit(size), most, "{size}");
        }
    }

    #[test]
    fn a_stream_without_an_end_is_refused() {
        let bound = |most, most_line| Bound {
            reader: io::Cursor::new("ab\ncdefg\nhi"),
            read: 0,
            line: 0,
            most,
            most_line,
        };
        let read = |mut bound: Bound<_>| io::read_to_string(&mut bound);
        assert_eq!(read(bound(100, 100)).unwrap(), "ab\ncdefg\nhi");
        let why = read(bound(5, 100)).unwrap_err();
        assert!(
            is_past(&why) && why.to_string().contains("more than 5 B"),
            "{why}"
        );
        let endless = Bound {
            reader: io::repeat(0),
            read: 0,
            line: 0,
            most: u64::MAX,
            most_line: 1_000,
        };
        let why = io::read_to_string(endless).unwrap_err();
        assert!(why.to_string().contains("without a line end"), "{why}");
    }
}
