//! From files and short descriptions to networks. Nothing here allocates by a number a file states
//! before that number has been compared with what the file holds.

mod families;
mod fields;
mod huggingface;
mod onnx;
mod preset;
mod protobuf;
mod safetensors;
mod summary;

pub use huggingface::huggingface;
pub use onnx::onnx;
pub use preset::{PRESETS, preset};
pub use safetensors::{SafetensorsFile, safetensors, with_tensors};
pub use summary::{summary_json, summary_toml};
