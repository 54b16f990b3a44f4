//! Templates only ever prove: whatever single byte of a frame is another one, the fold with them answers as the fold
//! without.

#[expect(dead_code, reason = "other tests use the rest")]
mod support {
    pub(crate) mod run;
    pub(crate) mod values;
}

use deltafold_core::{Assembler, Options, Wire};

use support::run::Run;

/// What is put in the place of a byte.
const BYTES: &[u8] = b"\"\\\n\r0x,:{} \xff\xc3";
/// Frames before the one that is changed, of which templates are made.
const BEFORE: usize = 4;

/// A stream of frames that differ in little: the text before the payload, the payload of each, and what stands behind.
struct Like {
    wire: Wire,
    before: &'static str,
    behind: &'static str,
    payload: fn(usize) -> String,
}

impl Like {
    fn frame(&self, number: usize) -> Vec<u8> {
        [self.before, &(self.payload)(number), self.behind].concat().into_bytes()
    }
}

fn text(number: usize) -> String {
    format!(
        r#"{{"id":"r1","created":1780000001,"model":"m","system_fingerprint":"fp_1","choices":[{{"index":0,"delta":{{"content":"w{number} \u00e9"}},"finish_reason":null}}],"obfuscation":"{:x<1$}"}}"#,
        "",
        number % 3
    )
}

fn call(number: usize) -> String {
    let index = number % 2;
    format!(
        r#"{{"id":"r1","service_tier":"default","choices":[{{"index":0,"delta":{{"tool_calls":[{{"index":{index},"id":"","function":{{"name":null,"arguments":"[{number}\n"}}}}]}}}}]}}"#
    )
}

fn usage(number: usize) -> String {
    format!(
        r#"{{"id":"r{}","choices":[{{"index":0,"delta":{{"reasoning_content":"t","reasoning_details":[{{"type":"x","index":0,"text":"t{number}"}}],"n":{number}}}}}],"usage":{{"total_tokens":{number}}}}}"#,
        number / 2
    )
}

fn block(number: usize) -> String {
    let kind = if number == 0 { "content_block_start" } else { "content_block_delta" };
    let what = if number == 0 {
        r#""content_block":{"type":"text","text":""}"#.to_owned()
    } else {
        format!(r#""delta":{{"type":"text_delta","text":"w{number}"}}"#)
    };
    format!(r#"{{"type":"{kind}","index":0,{what}}}"#)
}

fn response(number: usize) -> String {
    format!(
        r#"{{"type":"response.output_text.delta","item_id":"i1","output_index":0,"content_index":0,"sequence_number":{number},"delta":"w{number}","logprobs":[]}}"#
    )
}

const LIKES: [Like; 7] = [
    Like { wire: Wire::OpenaiChat, before: "data: ", behind: "\n\n", payload: text },
    Like { wire: Wire::OpenaiChat, before: "data:", behind: "\r\n\r\n", payload: text },
    Like { wire: Wire::OpenaiChat, before: "data: ", behind: "\n\n", payload: call },
    Like { wire: Wire::OpenaiChat, before: "data: ", behind: "\r\n\r\n", payload: usage },
    Like {
        wire: Wire::AnthropicMessages,
        before: "event: content_block_delta\ndata: ",
        behind: "\n\n",
        payload: block,
    },
    Like {
        wire: Wire::OpenaiResponses,
        before: "event: response.output_text.delta\r\ndata: ",
        behind: "\r\n\r\n",
        payload: response,
    },
    Like { wire: Wire::OpenaiChat, before: "id: 7\ndata: ", behind: "\n\n", payload: text },
];

/// The stream in one piece, and cut in two frames and around the byte that is another one.
fn cuts(stream: &[u8], at: usize) -> [Vec<&[u8]>; 3] {
    let middle = at.min(stream.len());
    let (before, behind) = stream.split_at(middle);
    [vec![stream], vec![before, behind], stream.chunks(61).collect()]
}

fn compare(stream: &[u8], at: usize, wire: Wire) {
    let options = Options { wire: Some(wire), coalesce: false, ..Options::default() };
    let slow = Run::of(&[stream], Options { fast: false, ..options });
    for (number, chunks) in cuts(stream, at).iter().enumerate() {
        let fast = Run::of(chunks, options);
        assert_eq!(fast.differs(&slow), None, "cut {number}, byte {at} of {}", String::from_utf8_lossy(stream));
    }
}

#[test]
fn every_byte_of_a_frame() {
    for like in &LIKES {
        let opening: Vec<u8> = (0..BEFORE).flat_map(|number| like.frame(number)).collect();
        let closing: Vec<u8> = (BEFORE + 1..BEFORE + 3).flat_map(|number| like.frame(number)).collect();
        let frame = like.frame(BEFORE);
        for at in 0..frame.len() {
            for byte in BYTES {
                let mut stream = [&*opening, &*frame, &*closing].concat();
                let place = opening.len() + at;
                if let Some(slot) = stream.get_mut(place) {
                    *slot = *byte;
                }
                compare(&stream, place, like.wire);
            }
            // One byte less.
            let mut stream = [&*opening, &*frame, &*closing].concat();
            stream.remove(opening.len() + at);
            compare(&stream, opening.len() + at, like.wire);
        }
    }
}

#[test]
fn streams_in_turn() {
    // Each stream has its own id and time, and all share the templates.
    for like in &LIKES {
        for number in 0..50 {
            let frames: Vec<u8> = (0..8).flat_map(|frame| like.frame(frame + number)).collect();
            let stream = String::from_utf8_lossy(&frames).replace("r1", &format!("r{}", number * number));
            compare(stream.as_bytes(), 100 + number, like.wire);
        }
    }
}

#[test]
fn what_one_template_passes_on_may_stand_in_the_other() {
    // A kept 0 stands where the time of the next frame does: as a time it says nothing (X5).
    let kept = |value: u32| format!("data: {{\"id\":\"r\",\"provider\":{value},\"choices\":[]}}\n\n");
    let made = |value: u32| format!("data: {{\"id\":\"r\",\"created\" :{value},\"choices\":[]}}\n\n");
    for value in [5, 6, 7, 8, 0] {
        let stream = [kept(value), made(value), kept(value), made(value)].concat();
        compare(stream.as_bytes(), 10, Wire::OpenaiChat);
    }
}

#[test]
fn streams_of_other_lengths_are_recognised() {
    // One gateway, several models: what is the same in a stream differs in length from the next one's.
    let stream = |id: &str, model: &str| {
        let frame = |rest: &str| {
            format!("data: {{\"id\":\"{id}\",\"model\":\"{model}\",\"choices\":[{{\"index\":0,{rest}}}]}}\n\n")
        };
        let texts: String = (0..6).map(|number| frame(&format!("\"delta\":{{\"content\":\"w{number}\"}}"))).collect();
        [&*frame("\"delta\":{\"role\":\"assistant\"}"), &texts, &*frame("\"delta\":{},\"finish_reason\":\"stop\"")]
            .concat()
    };
    for round in 0..4 {
        for (id, model) in [("abc", "m"), ("abcdefgh", "m"), ("abcd", "mmmm")] {
            let mut assembler = Assembler::new(Options { wire: Some(Wire::OpenaiChat), ..Options::default() });
            assert_eq!(assembler.feed(stream(id, model).as_bytes()), Ok(()));
            assert!(round == 0 || assembler.counters().frames_parsed == 0, "{:?}", assembler.counters());
        }
    }
}

#[test]
fn what_has_come_is_there_at_once() {
    for like in &LIKES {
        let stream: Vec<u8> = (0..8).flat_map(|number| like.frame(number)).collect();
        for cut in 0..stream.len() {
            let [fast, slow] = [true, false].map(|fast| {
                let mut assembler = Assembler::new(Options { wire: Some(like.wire), fast, ..Options::default() });
                for piece in stream.get(..cut).unwrap_or_default().chunks(cut / 2 + 1) {
                    assert_eq!(assembler.feed(piece), Ok(()));
                }
                assembler.snapshot()
            });
            assert_eq!(fast, slow, "the first {cut} bytes of {}", String::from_utf8_lossy(&stream));
        }
    }
}

#[test]
fn an_error_is_there_at_once() {
    for like in &LIKES {
        let opening: Vec<u8> = (0..BEFORE).flat_map(|number| like.frame(number)).collect();
        let next = like.frame(BEFORE + 1);
        for at in 0..like.frame(BEFORE).len() {
            let mut broken = like.frame(BEFORE);
            broken.remove(at);
            for begun in [0, 1, 4] {
                let stream = [&*opening, &*broken, next.get(..begun).unwrap_or_default()].concat();
                let [fast, slow] = [true, false].map(|fast| {
                    let mut assembler = Assembler::new(Options { wire: Some(like.wire), fast, ..Options::default() });
                    assert_eq!(assembler.feed(&stream), Ok(()));
                    (assembler.error().is_some(), assembler.snapshot().end)
                });
                assert_eq!(fast, slow, "{}", String::from_utf8_lossy(&stream));
            }
        }
    }
}
