//! What is left of a document that breaks off: everything up to its last whole part, with the brackets closed. Half a
//! value is dropped, never completed by guessing.

/// Brackets deeper than any log has were made to exhaust somebody's stack.
const DEEP: usize = 64;

/// The text of the whole parts before the damage; `None` if not even the outermost bracket is there.
pub(crate) fn salvage(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut open: Vec<u8> = Vec::new();
    let (mut safe, mut in_text, mut is_escaped) = (None, false, false);
    for (at, &byte) in bytes.iter().enumerate() {
        if in_text {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = true,
                b'"' => in_text = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_text = true,
            b'{' | b'[' => {
                open.push(if byte == b'{' { b'}' } else { b']' });
                if open.len() > DEEP {
                    return None;
                }
                safe = Some(at + 1);
            }
            b'}' | b']' => {
                if open.pop() != Some(byte) {
                    return None;
                }
                safe = Some(at + 1);
            }
            // What stands before a comma is whole.
            b',' if !open.is_empty() => safe = Some(at),
            _ => {}
        }
    }
    let mut out = bytes.get(..safe?)?.to_vec();
    out.extend(open.iter().rev());
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::salvage;

    /// By hand: cut after each part of one small document.
    #[test]
    fn keeps_whole_parts_and_closes_brackets() {
        let cases = [
            (
                r#"{"a":1,"b":[{"c":"x"},{"d":"#,
                Some(r#"{"a":1,"b":[{"c":"x"},{}]}"#),
            ),
            (
                r#"{"a":1,"b":[{"c":"x,}"},"#,
                Some(r#"{"a":1,"b":[{"c":"x,}"}]}"#),
            ),
            (r#"{"a":1,"b"#, Some(r#"{"a":1}"#)),
            (r#"{"a":"x\"#, Some("{}")),
            (r#"{"#, Some("{}")),
            (r#"{"a":[1,2}"#, None),
            ("", None),
            ("abc", None),
        ];
        for (text, want) in cases {
            let got = salvage(text.as_bytes()).map(|b| String::from_utf8(b).unwrap());
            assert_eq!(got.as_deref(), want, "{text}");
        }
    }
}
