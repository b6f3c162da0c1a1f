# One image for the API (`corpus serve`), for the nodes of a Ray cluster and for the command line.
#
#   make docker                                                        torch as its index serves it: with CUDA on x86-64
#   docker build --build-arg TORCH_OPTIONS="--index-url ..." .         torch from another index, e.g. of CPU builds
#
# The layers change from seldom to often: programs, torch, the other packages, Corpus itself.

# ---------------------------------------------------------------- packages, with what builds them
FROM python:3.11-slim-bookworm AS packages
ENV PATH=/opt/corpus/bin:$PATH PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
ARG TORCH_OPTIONS=
# hadolint ignore=DL3013,DL3042,SC2086
RUN python -m venv /opt/corpus \
    && python -m pip install --quiet --upgrade pip==26.3 \
    && python -m pip install --quiet ${TORCH_OPTIONS} torch==2.13.0
COPY requirements.txt /src/
# hadolint ignore=DL3042
RUN python -m pip install --quiet --no-deps --require-hashes -r /src/requirements.txt

# ---------------------------------------------------------------- Corpus, apart from its packages
FROM packages AS source
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY engine engine
COPY serve serve
COPY jobs jobs
# hadolint ignore=DL3042
RUN python -m pip install --quiet --no-deps --no-build-isolation --prefix /installed .

# ---------------------------------------------------------------- the image
FROM python:3.11-slim-bookworm
COPY scripts/system-packages.sh /tmp/
# The second list is what Ray's cluster launcher needs on a head. The releases are those of the base image.
# hadolint ignore=DL3008,SC2016
RUN bash /tmp/system-packages.sh \
    && apt-get update -qq \
    && apt-get install -y -qq --no-install-recommends openssh-client rsync \
    && rm -rf /var/lib/apt/lists/* /tmp/system-packages.sh \
    && echo 'PATH=/opt/corpus/bin:$PATH' > /etc/profile.d/corpus.sh \
    && useradd --uid 10001 --create-home --shell /bin/bash corpus \
    && install -d -o corpus -g corpus -m 700 /data
COPY --from=packages /opt/corpus /opt/corpus
COPY --from=source /installed /opt/corpus
COPY configs /opt/corpus/configs

# What serve/ray_environment.py wants on every node before Ray starts there.
ENV RAY_SERVE_ENABLE_HA_PROXY=1 \
    RAY_SERVE_HAPROXY_METRICS_ENABLED=0 \
    RAY_SERVE_HAPROXY_HARD_STOP_AFTER_S=3600 \
    RAY_SERVE_HAPROXY_TIMEOUT_CLIENT_S=120 \
    RAY_SERVE_HAPROXY_TIMEOUT_SERVER_S=3600 \
    RAY_SERVE_DIRECT_INGRESS_MIN_DRAINING_PERIOD_S=5.0 \
    RAY_SERVE_HTTP_PROXY_CALLBACK_IMPORT_PATH=serve.ray_http.proxy_middleware \
    RAY_SERVE_REPLICA_AUTOSCALING_METRIC_PUSH_INTERVAL_S=1 \
    RAY_SERVE_HANDLE_AUTOSCALING_METRIC_PUSH_INTERVAL_S=1 \
    RAY_USAGE_STATS_ENABLED=0 \
    RAY_worker_niceness=0
ENV PATH=/opt/corpus/bin:$PATH \
    CORPUS_HOME=/data \
    HF_HUB_OFFLINE=1 \
    PYTHONUNBUFFERED=1 \
    RAY_AUTH_MODE=token \
    RAY_ENABLE_UV_RUN_RUNTIME_ENV=0 \
    RAY_SERVE_HAPROXY_BINARY_PATH=/opt/corpus/bin/corpus-haproxy
RUN python -m serve.ray_haproxy /opt/corpus/bin

USER 10001
WORKDIR /data
VOLUME /data
EXPOSE 8016
# For the API; on other uses of the image: docker run --no-healthcheck
HEALTHCHECK --interval=30s --timeout=10s --start-period=120s --retries=3 CMD ["python", "-m", "jobs.healthcheck"]
# Listening beyond the container needs authentication configured: CORPUS_AUTH__REGISTRY_TOKENS=true, or docs/deployment.md
CMD ["corpus", "serve", "--host", "0.0.0.0"]
