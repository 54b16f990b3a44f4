//! Every vector at every cut, with and without templates: the same files that the Python tests read.

mod support {
    pub(crate) mod check;
    pub(crate) mod cuts;
    pub(crate) mod files;
    pub(crate) mod run;
    pub(crate) mod values;
    pub(crate) mod vector;
}

use deltafold_core::{Malformed, Options};
use serde_json::Value as Json;

use support::check::check;
use support::cuts::{Sizes, even, pieces};
use support::files::Outcome;
use support::run::Run;
use support::vector::{Vector, folder, huge};

/// A body in chunks, and a word for the cut.
type Cut<'a> = (String, Vec<&'a [u8]>);

fn cuts(body: &[u8]) -> Vec<Cut<'_>> {
    let mut cuts = vec![("1-byte".to_owned(), even(body, 1))];
    cuts.extend((1..4).map(|seed| (format!("random {seed}"), pieces(body, Sizes::new(seed, 40)))));
    cuts
}

fn large_cuts(body: &[u8]) -> Vec<Cut<'_>> {
    vec![("997-byte".to_owned(), even(body, 997)), ("random".to_owned(), pieces(body, Sizes::new(1, 5000)))]
}

/// What one vector does not hold.
fn faults(vector: &Vector, expect: &Json, options: Options, cuts: &[Cut<'_>]) -> Vec<String> {
    let whole = Run::of(&[&vector.body], Options { fast: false, ..options });
    let mut faults = check(&whole, expect);
    for fast in [true, false] {
        let mut compare = |word: &str, chunks: &[&[u8]]| {
            let run = Run::of(chunks, Options { fast, ..options });
            if let Some(member) = run.differs(&whole) {
                faults.push(format!("{member} differ at the cut {word} with fast={fast}:\n  {run:?}\n  {whole:?}"));
            }
        };
        compare("whole", &[&vector.body]);
        for (word, chunks) in cuts {
            compare(word, chunks);
        }
    }
    faults.into_iter().map(|fault| format!("{}: {fault}", vector.name)).collect()
}

fn hold(vectors: &[Vector], cuts: impl Fn(&[u8]) -> Vec<Cut<'_>>) {
    assert!(!vectors.is_empty(), "no vectors");
    let mut found = Vec::new();
    for vector in vectors {
        let cuts = cuts(&vector.body);
        found.extend(faults(vector, &vector.expect, vector.options, &cuts));
        if let Some(expect) = vector.expect.get("skip") {
            let options = Options { malformed: Malformed::Skip, ..vector.options };
            found.extend(faults(vector, expect, options, &cuts).iter().map(|fault| format!("skip: {fault}")));
        }
    }
    assert!(found.is_empty(), "{} faults\n{}", found.len(), found.join("\n"));
}

#[test]
fn openai_chat() -> Outcome {
    hold(&folder("openai-chat")?, cuts);
    Ok(())
}

#[test]
fn anthropic_messages() -> Outcome {
    hold(&folder("anthropic-messages")?, cuts);
    Ok(())
}

#[test]
fn openai_responses() -> Outcome {
    hold(&folder("openai-responses")?, cuts);
    Ok(())
}

#[test]
fn auto() -> Outcome {
    hold(&folder("auto")?, cuts);
    Ok(())
}

#[test]
fn inputs_too_large_for_a_file() -> Outcome {
    hold(&huge()?, large_cuts);
    Ok(())
}
