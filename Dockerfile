# See docs/docker.md. Needs BuildKit, Docker's builder since version 23.

FROM python:3.11.14-slim-bookworm@sha256:65a93d69fa75478d554f4ad27c85c1e69fa184956261b4301ebaf6dbb0a3543d AS dependencies
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
# uv itself comes by pip, which does not know uv's variable.
RUN pip install --no-cache-dir --disable-pip-version-check --root-user-action=ignore \
        ${UV_DEFAULT_INDEX:+--index-url "$UV_DEFAULT_INDEX"} --require-hashes --requirement requirements/build.txt \
    && python -m venv --without-pip "$VIRTUAL_ENV"
# What torch needs is locked and comes first; torch itself has no hash, because its builds differ.
RUN --mount=type=cache,target=/root/.cache/uv \
    uv pip install --require-hashes --requirements requirements/service.txt \
    && uv pip install ${TORCH_BACKEND:+--torch-backend="$TORCH_BACKEND"} --requirements requirements/torch.txt

FROM dependencies AS wheel
COPY pyproject.toml setup.py README.md LICENSE ./
COPY bioasq bioasq
COPY indexer indexer
COPY models models
COPY app app
COPY bioqa bioqa
# The commit that this is built from, for `bioqa --version`; .git is not sent to the build.
ARG COMMIT
RUN printf '%s' "$COMMIT" > bioqa/commit.txt \
    && pip wheel --no-cache-dir --disable-pip-version-check --no-deps --no-build-isolation --no-index \
        --wheel-dir /wheels .

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
# The dependencies, more than a gigabyte, are a layer of their own, which a change of the code leaves as it is.
COPY --from=dependencies /opt/bioqa /opt/bioqa
# By pip, which gives files the usual modes; those of the checkout may be its owner's alone.
RUN --mount=type=bind,from=wheel,source=/wheels,target=/wheels \
    pip --python /opt/bioqa/bin/python install --no-cache-dir --disable-pip-version-check \
        --root-user-action=ignore --no-deps --no-index /wheels/*.whl
COPY --chmod=644 deploy/healthcheck.py /opt/bioqa/
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
