//! The public decoder is the WHATWG text and nothing else: `sse.json` and `sse_huge.json`, at every cut.

mod support {
    pub(crate) mod cuts;
    pub(crate) mod files;
}

use deltafold_core::{SseDecoder, SseEvent};
use serde_json::{Value as Json, json};

use support::cuts::{Sizes, even, pieces};
use support::files::{Outcome, document, list, place, text};

/// The bytes of a base64 text.
fn base64(text: &str) -> Outcome<Vec<u8>> {
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bytes, mut bits, mut held) = (Vec::new(), 0_u32, 0_u32);
    for letter in text.trim_end_matches('=').bytes() {
        let digit = alphabet.iter().position(|known| *known == letter).ok_or("no base64")?;
        bits = bits << 6 | u32::try_from(digit)?;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
            bits &= (1 << held) - 1;
        }
    }
    Ok(bytes)
}

fn decode(chunks: &[&[u8]]) -> Outcome<(Vec<SseEvent>, SseDecoder)> {
    let mut decoder = SseDecoder::default();
    let mut events = Vec::new();
    for chunk in chunks {
        events.extend(decoder.feed(chunk).map_err(|error| format!("{error:?}"))?);
    }
    decoder.close().map_err(|error| format!("{error:?}"))?;
    Ok((events, decoder))
}

/// Digits as the number they are, whatever zeros lead it.
fn number(digits: Option<&str>) -> Json {
    let plain = |digits: &str| match digits.trim_start_matches('0') {
        "" => Ok(json!(0)),
        plain => serde_json::from_str(plain),
    };
    digits.and_then(|digits| plain(digits).ok()).unwrap_or_default()
}

/// The members that the case names; an event without a `retry` line has null there.
fn as_given(event: &SseEvent, wanted: &Json) -> Json {
    let mut found = json!({"event": event.event, "data": event.data, "id": event.id});
    if wanted.get("retry").is_some() || event.retry.is_some() {
        found["retry"] = number(event.retry.as_deref());
    }
    found
}

/// What the case does not hold, at one cut.
fn fault(case: &Json, chunks: &[&[u8]]) -> Outcome<Option<String>> {
    let (events, decoder) = decode(chunks)?;
    let forms = list(case, "events")?.iter().chain(std::iter::repeat(&Json::Null));
    let found: Vec<Json> = events.iter().zip(forms).map(|(event, form)| as_given(event, form)).collect();
    let state = json!([found, decoder.last_event_id(), number(decoder.retry())]);
    let wanted = json!([case["events"], case["final_last_event_id"], case["final_retry"]]);
    Ok((state != wanted).then(|| format!("found {state}, wanted {wanted}")))
}

#[test]
fn cases() -> Outcome {
    let cases = document(&place("sse.json"))?;
    let mut faults = Vec::new();
    for case in list(&cases, "cases")? {
        let body = base64(text(case, "input_b64")?)?;
        let mut cuts = vec![("whole".to_owned(), vec![body.as_slice()]), ("1-byte".to_owned(), even(&body, 1))];
        cuts.extend((1..4).map(|seed| (format!("random {seed}"), pieces(&body, Sizes::new(seed, 40)))));
        for (word, chunks) in cuts {
            let name = text(case, "name")?;
            faults.extend(fault(case, &chunks)?.map(|fault| format!("{name} at the cut {word}: {fault}")));
        }
    }
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
    Ok(())
}

#[test]
fn huge_cases() -> Outcome {
    for case in document(&place("sse_huge.json"))?.as_array().ok_or("sse_huge.json is a list")? {
        let count = usize::try_from(case["count"].as_u64().ok_or("no count")?)?;
        let unit = base64(text(case, "unit_b64")?)?.repeat(count);
        let body = [base64(text(case, "prefix_b64")?)?, unit, base64(text(case, "suffix_b64")?)?].concat();
        for size in [body.len(), 1000] {
            let (events, _) = decode(&even(&body, size))?;
            let characters: usize = events.iter().map(|event| event.data.chars().count()).sum();
            let found = json!([body.len(), events.len(), characters]);
            let wanted = json!([case["bytes"], case["events"], case["data_chars"]]);
            assert_eq!(found, wanted, "{} in chunks of {size}", case["name"]);
        }
    }
    Ok(())
}
