# See docs/docker.md. Needs BuildKit, Docker's builder since version 23.

FROM python:3.11.14-slim-bookworm@sha256:65a93d69fa75478d554f4ad27c85c1e69fa184956261b4301ebaf6dbb0a3543d AS build
# Which build of torch: cpu, cu130, … (uv knows where each is kept), or empty for what the package index has.
ARG TORCH_BACKEND=cpu
# A mirror of the package index, if there is one.
ARG UV_DEFAULT_INDEX
ENV VIRTUAL_ENV=/opt/bioqa \
    UV_COMPILE_BYTECODE=1 \
    UV_LINK_MODE=copy \
    UV_PYTHON_DOWNLOADS=never
WORKDIR /src
COPY requirements requirements
RUN pip install --no-cache-dir --disable-pip-version-check --root-user-action=ignore \
        --require-hashes --requirement requirements/build.txt \
    && python -m venv --without-pip "$VIRTUAL_ENV"
# The dependencies are a layer of their own: a change of the code leaves it as it is. What torch needs is locked
# and comes first; torch itself has no hash, because its builds differ.
RUN --mount=type=cache,target=/root/.cache/uv \
    uv pip install --require-hashes --requirements requirements/service.txt \
    && uv pip install ${TORCH_BACKEND:+--torch-backend="$TORCH_BACKEND"} --requirements requirements/torch.txt
COPY pyproject.toml setup.py README.md LICENSE ./
COPY bioasq bioasq
COPY indexer indexer
COPY models models
COPY app app
COPY bioqa bioqa
COPY deploy/healthcheck.py $VIRTUAL_ENV/
# The commit that this is built from, for `bioqa --version`; .git is not sent to the build.
ARG COMMIT
# Files keep the modes of the checkout, which may be its owner's alone.
RUN --mount=type=cache,target=/root/.cache/uv \
    printf '%s' "$COMMIT" > bioqa/commit.txt \
    && uv pip install --no-deps --build-constraints requirements/build.txt . \
    && chmod -R a+rX "$VIRTUAL_ENV"

FROM python:3.11.14-slim-bookworm@sha256:65a93d69fa75478d554f4ad27c85c1e69fa184956261b4301ebaf6dbb0a3543d
LABEL org.opencontainers.image.title="bioqa" \
      org.opencontainers.image.description="Answers biomedical questions with MEDLINE articles and sentences" \
      org.opencontainers.image.licenses="Apache-2.0"
# Numbers, so that a cluster can see that this is not root. Volumes mounted at the two folders
# in /data can be written.
RUN groupadd --gid 10001 bioqa \
    && useradd --uid 10001 --gid 10001 --no-log-init --no-create-home --home-dir /data \
        --shell /usr/sbin/nologin bioqa \
    && install --directory --owner=10001 --group=10001 /data /data/medline /data/batches /keys
COPY --from=build /opt/bioqa /opt/bioqa
# Weights and language data are in the package; what is not there must not be looked for elsewhere.
ENV PATH=/opt/bioqa/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    HF_HUB_OFFLINE=1 \
    TRANSFORMERS_OFFLINE=1 \
    BIOQA_HOST=0.0.0.0
USER 10001:10001
WORKDIR /data
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=8s --start-period=90s --retries=3 \
    CMD ["python", "/opt/bioqa/healthcheck.py"]
ENTRYPOINT ["bioqa"]
CMD ["serve"]
