#!/usr/bin/env bash
# Builds one binary that has CUDA inside and still starts and runs where there is none.
# Takes about 16 CPU-minutes and 2 GB under .cuda/ and target-cuda/; no GPU or system toolkit is needed to build.
#
#   CUDA_COMPUTE_CAP   90: H100 and H200 only. 80: Ampere and later.   [80]
#   PYTHON             a Python with venv                               [python3]
#
# The result is target-cuda/release/triagent and, packed for carrying, target-cuda/triagent.xz (`xz -d`, about 19 MB).
# On the GPU machine LD_LIBRARY_PATH must name the folders of libcublas.so.13, libcublasLt.so.13, libcurand.so.10,
# libnvrtc.so.13 and libcuda.so.1; `triagent score --device cuda:0` says which of them is missing.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ ! -x .cuda/venv/bin/pip ]; then
  "${PYTHON:-python3}" -m venv .cuda/venv
fi
.cuda/venv/bin/pip install --quiet nvidia-cuda-nvcc==13.0.88 nvidia-nvvm==13.0.88 nvidia-cuda-crt==13.0.88 \
  nvidia-cuda-runtime==13.0.96 nvidia-cuda-cccl==13.0.85 nvidia-cublas==13.1.0.3 nvidia-curand==10.4.0.35 nvidia-cuda-nvrtc==13.0.88
toolkit=$(.cuda/venv/bin/python -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')/nvidia/cu13
.cuda/venv/bin/python scripts/cuda_shims.py "$toolkit" .cuda/root/lib64
ln -sfn "$toolkit/include" .cuda/root/include

# One of the build scripts reads NVCC, another looks on PATH.
export CUDA_HOME=$PWD/.cuda/root NVCC=$toolkit/bin/nvcc PATH=$toolkit/bin:$PATH
export CUDA_COMPUTE_CAP=${CUDA_COMPUTE_CAP:-80} CUDAFORGE_THREADS=${CUDAFORGE_THREADS:-2}
CARGO_TARGET_DIR=target-cuda cargo build --locked --release --features cuda
program=target-cuda/release/triagent
if readelf -d "$program" | grep -E 'NEEDED.*(cuda|cublas|curand|nvrtc)'; then
  echo "the binary needs NVIDIA's libraries to start; the stand-ins in .cuda/root/lib64 were not used" >&2
  exit 1
fi
strip -o target-cuda/triagent "$program"
xz -3 -k -f target-cuda/triagent
ls -l target-cuda/triagent target-cuda/triagent.xz
