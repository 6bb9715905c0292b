//! Tests that a pattern cannot make: check digits, calendars, entropy.

use serde::Deserialize;

/// A test that words must pass beyond their pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Check {
    /// Card numbers: Luhn, and not one digit over and over.
    Luhn,
    /// Chinese identity numbers: date and ISO 7064 mod 11-2.
    CnId,
    /// The first part decodes to a JSON object with `alg`.
    Jwt,
    /// ISO 7064 mod 97-10.
    Iban,
    /// Letters and digits, or letters of both cases.
    Mixed,
    /// Not private, local, reserved for documents, or a version number.
    PublicIp,
}

impl Check {
    /// The words pass.
    pub(crate) fn holds(self, words: &str) -> bool {
        match self {
            Self::Luhn => luhn(words),
            Self::CnId => cn_id(words),
            Self::Jwt => jwt(words),
            Self::Iban => iban(words),
            Self::Mixed => mixed(words),
            Self::PublicIp => public_ip(words),
        }
    }
}

fn digits(words: &str) -> Vec<u32> {
    words.chars().filter_map(|c| c.to_digit(10)).collect()
}

fn luhn(words: &str) -> bool {
    let digits = digits(words);
    if !(13..=19).contains(&digits.len()) || digits.iter().all(|d| *d == digits[0]) {
        return false;
    }
    let doubled = |d: u32| if d > 4 { 2 * d - 9 } else { 2 * d };
    let odd = |at: usize| at % 2 == 1;
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(at, d)| if odd(at) { doubled(*d) } else { *d })
        .sum();
    sum.is_multiple_of(10)
}

/// GB 11643: weights 2^(17−i) mod 11, and a real day.
fn cn_id(words: &str) -> bool {
    let number: Vec<char> = words.chars().collect();
    let [body @ .., last] = number.as_slice() else {
        return false;
    };
    let digits: Vec<u32> = body.iter().filter_map(|c| c.to_digit(10)).collect();
    if digits.len() != 17 {
        return false;
    }
    const WEIGHTS: [u32; 17] = [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2];
    let sum: u32 = digits.iter().zip(WEIGHTS).map(|(d, w)| d * w).sum();
    let expected = ['1', '0', 'X', '9', '8', '7', '6', '5', '4', '3', '2'];
    let number = |from: usize, to: usize| digits[from..to].iter().fold(0, |n, d| n * 10 + d);
    let (year, month, day) = (number(6, 10), number(10, 12), number(12, 14));
    expected.get((sum % 11) as usize) == Some(&last.to_ascii_uppercase())
        && is_day(year, month, day)
}

fn is_day(year: u32, month: u32, day: u32) -> bool {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        1..=12 => 31,
        _ => 0,
    };
    (1..=days).contains(&day)
}

fn jwt(words: &str) -> bool {
    let Some(head) = words.split('.').next() else {
        return false;
    };
    let Some(bytes) = base64url(head) else {
        return false;
    };
    let object: Option<serde_json::Value> = serde_json::from_slice(&bytes).ok();
    object.is_some_and(|o| o.get("alg").is_some())
}

/// Unpadded base64url; nothing on a character of another alphabet.
fn base64url(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() * 3 / 4);
    let (mut bits, mut held) = (0u32, 0u32);
    for c in text.bytes() {
        let value = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'-' => 62,
            b'_' => 63,
            _ => return None,
        };
        held = (held << 6) | u32::from(value);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            out.push(u8::try_from((held >> bits) & 0xff).ok()?);
        }
    }
    Some(out)
}

fn iban(words: &str) -> bool {
    let plain: Vec<char> = words.chars().filter(|c| !c.is_whitespace()).collect();
    if !(15..=34).contains(&plain.len()) {
        return false;
    }
    let turned = plain[4..].iter().chain(&plain[..4]);
    let mut rest = 0u32;
    for c in turned {
        let Some(value) = c.to_digit(36) else {
            return false;
        };
        rest = if value < 10 {
            rest * 10 + value
        } else {
            rest * 100 + value
        } % 97;
    }
    rest == 1
}

fn mixed(words: &str) -> bool {
    let has = |test: fn(&char) -> bool| words.chars().any(|c| test(&c));
    let letters = has(char::is_ascii_alphabetic);
    let cases = has(char::is_ascii_lowercase) && has(char::is_ascii_uppercase);
    (letters && has(char::is_ascii_digit)) || (cases && words.len() >= 20)
}

fn public_ip(words: &str) -> bool {
    let Ok(ip) = words.parse::<std::net::Ipv4Addr>() else {
        return false;
    };
    let [a, b, ..] = ip.octets();
    let special =
        ip.is_private() || ip.is_loopback() || ip.is_link_local() || ip.is_documentation();
    // 0.x and 1.2.3.4 are versions; 100.64/10 is carrier NAT; 198.18/15 is for benchmarks; 224 and up is no host.
    let reserved = a == 0
        || a >= 224
        || (a == 100 && (64..128).contains(&b))
        || (a == 198 && (18..20).contains(&b));
    let resolver = matches!(
        ip.octets(),
        [8, 8, 8, 8]
            | [8, 8, 4, 4]
            | [1, 1, 1, 1]
            | [1, 2, 3, 4]
            | [1, 0, 0, 1]
            | [114, 114, 114, 114]
    );
    !special && !reserved && !resolver
}

/// Shannon entropy of the characters, in bits.
pub(crate) fn entropy(words: &str) -> f64 {
    let mut counts = std::collections::BTreeMap::new();
    let mut total = 0u32;
    for c in words.chars() {
        *counts.entry(c).or_insert(0u32) += 1;
        total += 1;
    }
    let share = |n: &u32| f64::from(*n) / f64::from(total);
    counts.values().map(share).map(|p| -p * p.log2()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_digits_agree_with_published_examples() {
        // Luhn: the example of ISO/IEC 7812 texts (…1), and the next digit.
        assert!(luhn("4532 0151 1283 0366") && !luhn("4532015112830367") && !luhn("0000000000000"));
        // GB 11643-1999: the standard's own example 11010519491231002X; a wrong last digit; 30 February.
        assert!(cn_id("11010519491231002X") && !cn_id("110105194912310021"));
        assert!(!cn_id("110105199002300021"));
        // IBAN registry: Germany and the United Kingdom.
        assert!(iban("DE89 3704 0044 0532 0130 00") && iban("GB82WEST12345698765432"));
        assert!(!iban("DE88370400440532013000"));
        // RFC 7519, section 3.1.
        assert!(jwt(
            "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UifQ.dBjftJeZ4CVP"
        ));
        assert!(!jwt("eyJmb28iOiJiYXIifQ.x.y"));
    }

    #[test]
    fn entropy_of_known_texts() {
        // By hand: one symbol 0 bits, two equal halves 1 bit, eight different symbols 3 bits.
        assert!(entropy("aaaa").abs() < 1e-12);
        assert!((entropy("abab") - 1.0).abs() < 1e-12);
        assert!((entropy("abcdefgh") - 3.0).abs() < 1e-12);
    }
}
