# The server in a container: docker build -t longcoref . && docker run --rm -p 127.0.0.1:8000:8000 longcoref
FROM python:3.12-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY src ./src
RUN python -m venv /usr/local/lib/longcoref && /usr/local/lib/longcoref/bin/pip install --no-cache-dir '.[serve,files]'

FROM python:3.12-slim
COPY --from=build /usr/local/lib/longcoref /usr/local/lib/longcoref
RUN useradd --system --no-create-home longcoref
USER longcoref
ENV PATH=/usr/local/lib/longcoref/bin:$PATH
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
  CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/health', timeout=4)"]
# Inside a container the port is reachable only where it is published. With LONGCOREF_TOKEN set, every request needs it.
ENTRYPOINT ["longcoref", "serve", "--host", "0.0.0.0"]
CMD ["--no-token"]
