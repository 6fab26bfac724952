//! The inside of a model file, read and asked.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Err(error) = xtask::feed::model(bytes) {
        panic!("{error}");
    }
});
