# Concertina's service: api, beat, control and io. `docker build -t localhost/concertina-service:0.1.0 .`
# Where no registry can be reached, `make images` makes the same image of the machine's own files.
ARG NODE=node:22-bookworm-slim
ARG BASE=python:3.11-slim-bookworm

FROM ${NODE} AS dashboard
WORKDIR /frontend
COPY frontend/package.json frontend/package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY frontend ./
RUN npm run build

FROM ${BASE}
ARG VERSION=0.1.0
ARG REVISION=
ARG SOURCE_DATE_EPOCH=1767225600
ENV LANG=C.UTF-8 PYTHONUNBUFFERED=1 DJANGO_SETTINGS_MODULE=control_plane.settings \
    PYTHONPATH=/app:/app/platform:/app/worker_image
USER 0:0
WORKDIR /app
COPY requirements-service.lock /tmp/build/
# The lock file's versions, each file believed by its hash only; without the servers that come as
# packages, which are for `./dev`, and without the tests of packages. Bytecode is shipped for a read-only root, that of Python's own library
# too, which official images leave out, and believed by its digest. All files get one time, in the
# layer that brings them: in a later one they would be there twice.
RUN pip install --no-cache-dir --no-compile --root-user-action=ignore --require-hashes --no-deps -r /tmp/build/requirements-service.lock \
    && rm -r /tmp/build \
    && packages=$(python -c "import sysconfig; print(sysconfig.get_path('purelib'))") \
    && find "$packages" -type d -name tests -prune -exec rm -r {} + \
    && library=$(python -c "import sysconfig; print(sysconfig.get_path('stdlib'))") \
    && (PYTHONHASHSEED=0 python -m compileall -qq -j0 --invalidation-mode unchecked-hash "$library" || true) \
    && (grep -q ^concertina: /etc/passwd || useradd --create-home --uid 10001 --user-group concertina) \
    && find /etc /home /root /tmp /usr /var -xdev -newermt "@${SOURCE_DATE_EPOCH}" \
        -exec touch -h -d "@${SOURCE_DATE_EPOCH}" {} +
COPY manage.py ./
COPY autoscaler autoscaler
COPY jobs jobs
COPY platform/cluster platform/cluster
COPY platform/control_plane platform/control_plane
COPY platform/schedules platform/schedules
COPY platform/sweeps platform/sweeps
COPY platform/storage platform/storage
COPY platform/tenancy platform/tenancy
COPY platform/tracing platform/tracing
COPY platform/webhooks platform/webhooks
COPY worker_image/concertina_worker/__init__.py worker_image/concertina_worker/checkpoint_files.py worker_image/concertina_worker/protocol.py worker_image/concertina_worker/
COPY worker_image/concertina_worker/plain worker_image/concertina_worker/plain
COPY worker_image/concertina_worker/process/__init__.py worker_image/concertina_worker/process/parent_death.py worker_image/concertina_worker/process/
COPY --from=dashboard /frontend/dist frontend/dist
RUN PYTHONHASHSEED=0 python -m compileall -qq -j0 --invalidation-mode unchecked-hash . \
    && find . /tmp -exec touch -h -d "@${SOURCE_DATE_EPOCH}" {} +
USER 10001:10001
LABEL org.opencontainers.image.title="localhost/concertina-service" \
      org.opencontainers.image.description="Concertina's service: api, beat, control and io." \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
