# One image for the head, the workers and the command line.
FROM python:3.11-slim-bookworm

RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
        tesseract-ocr tesseract-ocr-osd libmagic1 \
        libreoffice-writer-nogui libreoffice-calc-nogui libreoffice-impress-nogui \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /app
COPY requirements.txt ./
RUN pip install --no-cache-dir torch==2.13.0 \
    && pip install --no-cache-dir --no-deps -r requirements.txt

COPY pyproject.toml README.md LICENSE ./
COPY engine ./engine
COPY serve ./serve
COPY jobs ./jobs
COPY configs ./configs
RUN pip install --no-cache-dir --no-deps --no-build-isolation -e . \
    && useradd --create-home corpus && mkdir /data && chown corpus /data
USER corpus

ENV CORPUS_HOME=/data RAY_USAGE_STATS_ENABLED=0 HF_HUB_OFFLINE=1
VOLUME /data
ENTRYPOINT ["corpus"]
CMD ["doctor"]
