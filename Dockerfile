# syntax=docker/dockerfile:1

FROM golang:1.26 AS build
WORKDIR /src
# The modules change less often than the code: a layer of their own.
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -tags nomsgpack -trimpath -ldflags "-s -w" -o /out/shop ./cmd/shop
# An empty folder to copy, because the final image has no mkdir.
RUN mkdir /out/data

FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /out/shop /shop
# SQLite's place when no DATABASE_URL is given; the account must own it.
COPY --from=build --chown=nonroot:nonroot /out/data /data
ENV ADDR=:8080 DATA_DIR=/data
VOLUME /data
EXPOSE 8080
# There is no shell and no curl in here: the binary asks itself.
HEALTHCHECK --interval=5s --timeout=3s --start-period=10s --retries=5 CMD ["/shop", "healthcheck"]
ENTRYPOINT ["/shop"]
