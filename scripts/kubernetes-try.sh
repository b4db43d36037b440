#!/usr/bin/env bash
# Tries both files of contrib/kubernetes on a real cluster of one node, with the image that `make dist` has built. Needs root.
# usage: kubernetes-try.sh IMAGE.tar        for example: scripts/kubernetes-try.sh target/dist/klatch-*.image.tar
set -euo pipefail
scripts=$(dirname "$(realpath "$0")")
files=$scripts/../contrib/kubernetes
image=$(realpath "${1:?usage: kubernetes-try.sh IMAGE.tar}")

if [ -z "${KUBERNETES_CLUSTER_FOLDER:-}" ]; then
    exec "$scripts/kubernetes-cluster.sh" "$(realpath "$0")" "$image"
fi
klatch=$scripts/../target/release/klatch
work=$KUBERNETES_CLUSTER_FOLDER/try
mkdir "$work"
import "$image"
# One node of two CPUs has no room for four Pods that ask for a CPU each.
manifest() { sed 's/cpu: "1"/cpu: 100m/' "$files/$1"; }

echo "kubernetes-try.sh: a crowd of three shards in an Indexed Job" >&2
# The cluster resolves no names, so the shards get the address of the server.
manifest job.yaml | sed '/^apiVersion: batch/,$d' | kubectl apply --filename - >&2
kubectl wait --for=condition=Ready --timeout=60s pod/klatch-server >&2
address=$(kubectl get pod klatch-server --output=jsonpath='{.status.podIP}')
manifest job.yaml | sed "s/--host, klatch-server/--host, $address/" | kubectl apply --filename - >&2
kubectl wait --for=condition=complete --timeout=120s job/klatch-crowd >&2
for i in 0 1 2; do
    kubectl logs --selector="batch.kubernetes.io/job-completion-index=$i" --tail=-1 | grep '^{' >"$work/shard-$i.json"
done
"$klatch" merge "$work"/shard-*.json
kubectl delete --filename "$files/job.yaml" --wait=true >&2

echo "kubernetes-try.sh: reach of two Pods by kubectl exec" >&2
manifest load.yaml | kubectl apply --filename - >&2
kubectl rollout status --timeout=60s statefulset/klatch-load >&2
"$klatch" run --platform native-epoll --host-address 10.78.0.1 --hosts klatch-load-0,klatch-load-1 --reach kubernetes \
    --host-program /usr/bin/klatch --rooms 4 --warmups 1 --trials 3 --out "$work/results"
