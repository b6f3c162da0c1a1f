#!/usr/bin/env bash
# Pins and hashes of everything below the direct dependencies. Needs uv (in the development requirements).
set -euo pipefail
cd "$(dirname "$0")/.."
uv=${1:-.venv/bin/uv}
left_out=(torch triton pymupdf-layout pymupdf4llm sympy mpmath networkx
  cuda-bindings cuda-pathfinder cuda-toolkit nvidia-cublas nvidia-cuda-cccl nvidia-cuda-cupti nvidia-cuda-nvrtc
  nvidia-cuda-runtime nvidia-cudnn-cu13 nvidia-cufft nvidia-cufile nvidia-curand nvidia-cusolver nvidia-cusparse
  nvidia-cusparselt-cu13 nvidia-nccl-cu13 nvidia-nvjitlink nvidia-nvshmem-cu13 nvidia-nvtx)
options=(--quiet --generate-hashes --python-version 3.11 --no-header --no-annotate --no-emit-index-url)
for name in "${left_out[@]}"; do options+=(--no-emit-package "$name"); done
"$uv" pip compile requirements.in "${options[@]}" -o requirements.txt
"$uv" pip compile requirements-dev.in "${options[@]}" -o requirements-dev.txt
