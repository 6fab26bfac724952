//! An experiment file, read and checked.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    xtask::feed::experiment(bytes);
});
