#!/usr/bin/env bash
# Puts container images of several architectures, archives of scripts/image.sh, into one archive, whose index lists them by architecture.
# podman, docker and containerd take from it the image of their machine. Equal images give equal bytes.
#
#   scripts/image-index.sh ARCHIVE IMAGE…
#
# Called by dist.sh, which says what is missing.
set -euo pipefail
archive=$(realpath "$1")
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/layout" "$work/image"
descriptors=
for image; do
    tar --extract --directory "$work/image" --file "$image"
    cp -rn "$work/image/blobs" "$work/layout/"
    manifest=$(jq '.manifests[0]' "$work/image/index.json")
    blob() { echo "$work/image/blobs/${1/://}"; } # digest
    config=$(jq --raw-output .config.digest "$(blob "$(jq --raw-output .digest <<<"$manifest")")")
    name=$(jq --raw-output '.annotations["org.opencontainers.image.ref.name"]' <<<"$manifest")
    platform=$(jq '{architecture, os}' "$(blob "$config")")
    descriptors+=$(jq --argjson platform "$platform" 'del(.annotations) + {platform: $platform}' <<<"$manifest")
    cp "$work/image/oci-layout" "$work/layout"
    rm -r "${work:?}/image/"*
done

type=application/vnd.oci.image.index.v1+json
jq --slurp --compact-output --arg type $type '{schemaVersion: 2, mediaType: $type, manifests: .}' <<<"$descriptors" >"$work/index"
digest=$(sha256sum "$work/index" | cut -d ' ' -f 1)
jq --null-input --compact-output --arg type $type --arg digest "sha256:$digest" --arg name "$name" \
    --argjson size "$(stat --format %s "$work/index")" '{schemaVersion: 2, manifests: [
        {mediaType: $type, digest: $digest, size: $size, annotations: {"org.opencontainers.image.ref.name": $name}}]}' \
    >"$work/layout/index.json"
mv "$work/index" "$work/layout/blobs/sha256/$digest"
tar --create --sort=name --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --mtime=@0 \
    --directory "$work/layout" --file "$archive" .
