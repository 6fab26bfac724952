//! Choices with a name each.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

macro_rules! choice {
    ($(#[$about:meta])* $kind:ident { $($(#[$doc:meta])* $variant:ident = $name:literal $(| $other:literal)*),+ $(,)? }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $kind { $($(#[$doc])* $variant),+ }

        impl $kind {
            /// All of them.
            pub const ALL: &'static [$kind] = &[$($kind::$variant),+];

            /// The name it is written with.
            pub fn name(self) -> &'static str {
                match self { $($kind::$variant => $name),+ }
            }
        }

        impl fmt::Display for $kind {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.pad(self.name())
            }
        }

        impl Serialize for $kind {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }

        impl FromStr for $kind {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                match text.to_ascii_lowercase().as_str() {
                    $($name $(| $other)* => Ok($kind::$variant),)+
                    _ => {
                        let known: Vec<&str> = $kind::ALL.iter().map(|choice| choice.name()).collect();
                        Err(format!("use one of {}", known.join(", ")))
                    }
                }
            }
        }
    };
}

choice! {
    /// How weights are changed.
    Optimizer {
        /// Plain stochastic gradient descent: no state.
        Sgd = "sgd",
        /// With momentum: one number a weight.
        Momentum = "momentum",
        /// Adam or AdamW: two numbers a weight (Kingma & Ba, 2015).
        Adam = "adam" | "adamw",
        /// Rows and columns instead of a second number a weight (Shazeer & Stern, 2018).
        Adafactor = "adafactor",
        /// Adam with states of 8 bits (Dettmers et al., 2022).
        Adam8bit = "adam8bit" | "adamw8bit" | "8bit-adam",
        /// One number a weight (Chen et al., 2023).
        Lion = "lion",
    }
}

choice! {
    /// The precision of the computation.
    Precision {
        /// 32 bits everywhere.
        Fp32 = "fp32",
        /// Brain floating point with a copy of the weights in 32 bits.
        Bf16 = "bf16",
        /// Half precision with a copy of the weights in 32 bits.
        Fp16 = "fp16",
        /// Matrix products in 8 bits as NVIDIA's Transformer Engine does them.
        Fp8 = "fp8",
    }
}

choice! {
    /// What data-parallel GPUs share instead of each having a copy (Rajbhandari et al., 2020).
    Zero {
        /// Nothing.
        Stage0 = "0",
        /// Optimizer states.
        Stage1 = "1",
        /// Optimizer states and gradients.
        Stage2 = "2",
        /// Optimizer states, gradients and parameters.
        Stage3 = "3",
    }
}

choice! {
    /// What is computed again instead of kept (Korthikanti et al., 2022).
    Recompute {
        /// Nothing.
        None = "none",
        /// Attention scores.
        Selective = "selective",
        /// Everything but the input of each block.
        Full = "full",
    }
}

choice! {
    /// Where something is put that leaves the GPU.
    OffloadTarget {
        /// Memory of the host.
        Cpu = "cpu",
        /// A disk of the host.
        Nvme = "nvme",
    }
}

impl Precision {
    /// Bytes of a weight used in the computation. In 8 bits it is kept twice, once transposed
    /// (Transformer Engine user guide, FP8 primer).
    pub fn weight_bytes(self) -> f64 {
        if self == Precision::Fp32 { 4.0 } else { 2.0 }
    }

    /// Bytes of a gradient.
    pub fn gradient_bytes(self) -> f64 {
        self.weight_bytes()
    }

    /// Bytes of the copy the optimizer changes, where it has one of its own.
    pub fn master_bytes(self) -> f64 {
        if self == Precision::Fp32 { 0.0 } else { 4.0 }
    }

    /// Bytes of a number kept for the gradient.
    pub fn activation_bytes(self) -> f64 {
        self.weight_bytes()
    }

    /// Bytes of the input of a matrix product kept for the gradient.
    pub fn product_bytes(self) -> f64 {
        if self == Precision::Fp8 { 1.0 } else { self.weight_bytes() }
    }
}
