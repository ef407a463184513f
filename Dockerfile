# Two stages: the Swift library goes into the program, so that the second needs no Swift. What a gate is tried out with,
# portcullis-dev, stays in the first.
#
#   docker build -t portcullis .
#   docker run --read-only --cap-drop ALL --security-opt no-new-privileges --ulimit nofile=65536 -p 8443:8443 \
#     -v portcullis-config:/var/lib/portcullis/config -v "$PWD/certs":/var/lib/portcullis/certs:ro \
#     --env-file portcullis.env portcullis
#
# (`make image-test` carries out the second stage without docker.)

# Base images by their tags, unless the build names digests, of which whoever builds has seen what they stand for:
#   docker build --build-arg SWIFT_IMAGE=swift:6.3-bookworm@sha256:… --build-arg DEBIAN_IMAGE=debian:bookworm-slim@sha256:… …
# (docs/install.md, "With Docker", has the commands that say them.)
ARG SWIFT_IMAGE=swift:6.3-bookworm
ARG DEBIAN_IMAGE=debian:bookworm-slim

FROM ${SWIFT_IMAGE} AS build
RUN apt-get update \
  && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends \
    libcbor-dev libmaxminddb-dev libqrencode-dev libseccomp-dev libsqlite3-dev libssl-dev make pkg-config python3 zlib1g-dev \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /build
# The packages that the manifest names are fetched again only when it changes. Each has one version there; where this
# checkout has resolved them before, its revisions hold, and others end the build.
COPY Package.swift Package.resolve[d] ./
RUN if [ -e Package.resolved ]; then swift package resolve --force-resolved-versions; else swift package resolve; fi
COPY . .
RUN make release && make install-gate DESTDIR=/install PREFIX=/usr

FROM ${DEBIAN_IMAGE}
# The image has libgcc-s1 already, as apt itself needs it.
RUN apt-get update \
  && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends \
    libcbor0.8 libmaxminddb0 libqrencode4 libseccomp2 libsqlite3-0 libssl3 zlib1g \
  && rm -rf /var/lib/apt/lists/* \
  && groupadd --gid 10001 portcullis \
  && useradd --uid 10001 --gid portcullis --home-dir /var/lib/portcullis --no-create-home \
    --shell /usr/sbin/nologin portcullis \
  && install --directory --owner=portcullis --group=portcullis --mode=0700 \
    /var/lib/portcullis /var/lib/portcullis/config /var/lib/portcullis/certs
COPY --from=build /install /

# By number, so that Kubernetes can tell that it is not root (runAsNonRoot).
USER 10001:10001
# Relative paths of the settings start here: config/ holds the key store and the control socket and is written to,
# certs/ holds the server's certificate and key and is only read. Nothing else is written.
WORKDIR /var/lib/portcullis
VOLUME ["/var/lib/portcullis/config", "/var/lib/portcullis/certs"]

ENV PORTCULLIS_ENV=production
EXPOSE 8443
# SIGTERM ends sessions and flushes the store within DRAIN_TIMEOUT, 7 s, before docker's 10 s end. SIGUSR2 starts the gate
# anew with its players, and so does its own death: `supervise` keeps their connections to the game. A new container has
# none of them.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s CMD ["portcullis", "check", "--health"]
ENTRYPOINT ["portcullis"]
CMD ["supervise", "--", "serve"]
