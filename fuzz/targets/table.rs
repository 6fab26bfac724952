//! A CSV table, learned from: its first byte chooses policy and loss.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((&first, text)) = bytes.split_first() else { return };
    if let Err(error) = xtask::feed::table(text, u64::from(first)) {
        panic!("{error}");
    }
});
