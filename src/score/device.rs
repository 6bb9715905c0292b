//! The only file that knows devices: which one is used, and with how many bits.

use super::decoder::Decoder;
use super::engine::panels::Panels;
use super::engine::tensors::Tensors;
use super::error::ScoreError;
use super::runner::{Run, Runner};
use super::shape::Shape;
use super::source::{DeviceChoice, Precision};
use super::weights::Weights;
use candle_core::{DType, Device};

/// A place to compute.
#[derive(Debug, Clone)]
pub(super) struct Place {
    device: Device,
    dtype: DType,
    /// Matrix products of bytes; all else is `dtype`.
    is_fast: bool,
    /// `cpu`, `cuda:0`, `metal`.
    pub name: String,
}

impl Place {
    /// Finds the device that was asked for, or the best there is.
    pub(super) fn find(choice: DeviceChoice, precision: Precision) -> Result<Self, ScoreError> {
        let (device, name) = match choice {
            // The fast mode is the CPU's.
            DeviceChoice::Auto if precision == Precision::Int8 => (Device::Cpu, "cpu".to_owned()),
            DeviceChoice::Auto => best(),
            DeviceChoice::Cpu => (Device::Cpu, "cpu".to_owned()),
            DeviceChoice::Cuda(n) => (cuda(n)?, format!("cuda:{n}")),
            DeviceChoice::Metal => (metal()?, "metal".to_owned()),
        };
        let is_fast = precision == Precision::Int8;
        if is_fast {
            check_fast(&device, &name)?;
        }
        let dtype = match precision {
            Precision::F32 | Precision::Int8 => DType::F32,
            Precision::Bf16 => DType::BF16,
            Precision::F16 => DType::F16,
            Precision::Auto if device.is_cpu() => DType::F32,
            Precision::Auto if device.supports_bf16() => DType::BF16,
            Precision::Auto => DType::F16,
        };
        Ok(Self {
            device,
            dtype,
            is_fast,
            name,
        })
    }

    /// `f32`, `bf16`, `f16`, `int8`: part of the binding.
    pub(super) fn precision(&self) -> &'static str {
        match self.dtype {
            _ if self.is_fast => "int8",
            DType::BF16 => "bf16",
            DType::F16 => "f16",
            _ => "f32",
        }
    }

    /// Bytes of the weights here, given their bytes in F32.
    pub(super) fn weight_bytes(&self, shape: &Shape, f32_bytes: u64) -> u64 {
        if self.is_fast {
            // At most two layers of bytes with scales, and what is looked up stays F32.
            return f32_bytes * 9 / 16 + 4 * (shape.vocab * shape.hidden) as u64;
        }
        f32_bytes * self.dtype.size_in_bytes() as u64 / 4
    }

    /// Loads the weights and gets ready.
    pub(super) fn load(
        &self,
        shape: Shape,
        weights: &Weights,
        chunk: usize,
        max_tokens: usize,
    ) -> Result<Box<dyn Run>, ScoreError> {
        let eps = shape.eps;
        if self.device.is_cpu() && self.dtype == DType::F32 {
            let engine = if self.is_fast {
                Panels::fast(eps).map_err(|why| no_fast_mode(&self.name, why))?
            } else {
                Panels::new(eps)
            };
            let decoder = Decoder::load(engine, shape, weights)?;
            return Ok(Box::new(Runner::new(decoder, chunk, max_tokens)));
        }
        let engine = Tensors {
            device: self.device.clone(),
            dtype: self.dtype,
            eps,
        };
        let decoder = Decoder::load(engine, shape, weights)?;
        Ok(Box::new(Runner::new(decoder, chunk, max_tokens)))
    }
}

/// Refuses the fast mode where it cannot be had; nothing is ever computed in another one instead.
fn check_fast(device: &Device, name: &str) -> Result<(), ScoreError> {
    if !device.is_cpu() {
        return Err(ScoreError::Unsupported {
            what: format!("--precision int8 on {name}"),
            hint: "it is the CPU's fast mode; use --device cpu, or --precision bf16".to_owned(),
        });
    }
    Panels::fast(1.0)
        .map(|_| ())
        .map_err(|why| no_fast_mode(name, why))
}

fn no_fast_mode(name: &str, why: String) -> ScoreError {
    ScoreError::Unsupported {
        what: format!("--precision int8 on this {name} ({why})"),
        hint: "use --precision f32".to_owned(),
    }
}

fn best() -> (Device, String) {
    if let Ok(device) = cuda(0) {
        return (device, "cuda:0".to_owned());
    }
    match metal() {
        Ok(device) => (device, "metal".to_owned()),
        Err(_) => (Device::Cpu, "cpu".to_owned()),
    }
}

fn cuda(number: usize) -> Result<Device, ScoreError> {
    let refused = |why: String| ScoreError::Device {
        device: format!("cuda:{number}"),
        why,
    };
    if !candle_core::utils::cuda_is_available() {
        return Err(refused(
            "this build has no CUDA; build with --features cuda".to_owned(),
        ));
    }
    if let Some(names) = missing_cuda_libraries() {
        return Err(refused(format!("cannot load {names}")));
    }
    Device::new_cuda(number).map_err(|e| refused(first_line(&e.to_string())))
}

fn metal() -> Result<Device, ScoreError> {
    let refused = |why: String| ScoreError::Device {
        device: "metal".to_owned(),
        why,
    };
    if !candle_core::utils::metal_is_available() {
        return Err(refused(
            "this build has no Metal; build with --features metal on a Mac".to_owned(),
        ));
    }
    Device::new_metal(0).map_err(|e| refused(first_line(&e.to_string())))
}

/// Names the CUDA libraries that cannot be loaded. Our build finds them at run time, so that one
/// program runs with and without them; using one that is missing would end the process.
#[cfg(feature = "cuda")]
fn missing_cuda_libraries() -> Option<String> {
    const NEEDED: [&str; 5] = [
        "libcuda.so.1",
        "libcublas.so.13",
        "libcublasLt.so.13",
        "libcurand.so.10",
        "libnvrtc.so.13",
    ];
    let is_missing = |name: &&str| {
        #[expect(
            unsafe_code,
            reason = "loads NVIDIA's own libraries, which candle is about to load as well"
        )]
        // SAFETY: their initialisers have no preconditions.
        let library = unsafe { libloading::Library::new(*name) };
        library.is_err()
    };
    let missing: Vec<&str> = NEEDED.into_iter().filter(|name| is_missing(name)).collect();
    (!missing.is_empty()).then(|| missing.join(", "))
}

#[cfg(not(feature = "cuda"))]
fn missing_cuda_libraries() -> Option<String> {
    None
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cpu_without_byte_products_is_told_what_it_lacks() {
        let why = "this CPU has neither AVX-512 VNNI nor AVX-VNNI".to_owned();
        let said = no_fast_mode("cpu", why).to_string();
        assert_eq!(
            said,
            "--precision int8 on this cpu (this CPU has neither AVX-512 VNNI nor AVX-VNNI) is not supported; hint: use --precision f32"
        );
    }

    /// The fast mode is the CPU's, whatever else there is; it is never mistaken for F32.
    #[test]
    fn the_fast_mode_is_looked_for_on_the_cpu() {
        match Place::find(DeviceChoice::Auto, Precision::Int8) {
            Ok(place) => assert_eq!((place.name.as_str(), place.precision()), ("cpu", "int8")),
            Err(error) => assert!(error.to_string().contains("VNNI"), "{error}"),
        }
    }
}
