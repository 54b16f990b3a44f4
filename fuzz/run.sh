#!/usr/bin/env bash
# fuzz/run.sh [MINUTES] [libFuzzer options...]: fuzzes the core's fold, ten minutes unless told otherwise.
# Needs a nightly Rust, a C++ compiler and `cargo install cargo-fuzz`. See docs/testing.md.
set -euo pipefail
cd "$(dirname "$0")"

minutes="${1:-10}"
shift || true
corpus=corpus/fold
mkdir -p "$corpus"

# An input is a stream behind three bytes of options: see fuzz_targets/plan.rs. \0\0 is all defaults, \100 skips what is malformed;
# the third byte chooses the cuts.
for stream in ../tests/vectors/*/*.sse; do
    case "$stream" in
        */openai-chat/*) wire=1 ;;
        */anthropic-messages/*) wire=2 ;;
        */openai-responses/*) wire=3 ;;
        *) wire=0 ;;
    esac
    name="$(basename "$(dirname "$stream")")-$(basename "$stream" .sse)"
    { printf '\0\0\0' && cat "$stream"; } >"$corpus/seed-$name"
    { printf "\\10$wire\\0\\2" && cat "$stream"; } >"$corpus/seed-$name-skip"
done

# The core has no unsafe code: no sanitizer is needed, and what overflows or breaks a debug assertion panics.
exec cargo +nightly fuzz run --sanitizer none --fuzz-dir . fold -- -dict=fold.dict -max_len=8192 \
    -rss_limit_mb=3000 -timeout=20 -max_total_time="$((minutes * 60))" "$@"
