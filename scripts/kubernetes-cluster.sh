#!/usr/bin/env bash
# Runs a command on a Kubernetes cluster of one node: etcd, API server, controllers, scheduler, containerd and kubelet, which
# kubernetes-build.sh builds. `kubectl` and KUBECONFIG of the command are those of the cluster, and `import IMAGE.tar` gives
# an image to its node.
#
# All is in network, process and mount namespaces of its own, so nothing of it survives the command. kubelet changes settings
# of the whole kernel, which are put back. There is neither a name service nor a proxy: Pods reach each other by address, and
# the machine at 10.78.0.1. Needs root.
# usage: kubernetes-cluster.sh COMMAND [ARGUMENT…]        for example: kubernetes-cluster.sh kubectl get nodes
set -euo pipefail

fail() {
    echo "kubernetes-cluster.sh: $1" >&2
    exit 2
}

# What kubelet sets on the host.
settings=(vm.overcommit_memory vm.panic_on_oom kernel.panic kernel.panic_on_oops kernel.keys.root_maxkeys kernel.keys.root_maxbytes)

[ $# -gt 0 ] || fail "usage: kubernetes-cluster.sh COMMAND [ARGUMENT…]"
if [ -z "${KUBERNETES_CLUSTER_FOLDER:-}" ]; then
    [ "$(id -u)" -eq 0 ] || fail "needs root: run it with sudo"
    PATH=$PATH:/usr/sbin:/sbin
    for program in etcd:etcd-server containerd:containerd runc:runc buildah:buildah busybox:busybox-static openssl:openssl \
        ip:iproute2 unshare:util-linux; do
        command -v "${program%%:*}" >/dev/null || fail "needs ${program%%:*}; install it: apt-get install ${program##*:}"
    done
    [ -x /usr/lib/cni/bridge ] || fail "needs /usr/lib/cni/bridge; install it: apt-get install containernetworking-plugins"
    PATH=$("$(dirname "$0")/kubernetes-build.sh"):$PATH
    KUBERNETES_CLUSTER_FOLDER=$(mktemp -d)
    export PATH KUBERNETES_CLUSTER_FOLDER
    saved=$(sysctl "${settings[@]}")
    # shellcheck disable=SC2317 # the trap calls it
    clean_up() {
        sysctl --quiet --load=- <<<"$saved"
        # The control groups of the containers outlive their processes.
        find /sys/fs/cgroup -depth -type d -path '*/k8s.io*' -exec rmdir {} + 2>/dev/null || true
        rmdir /var/lib/cni 2>/dev/null || true
        rm -rf --one-file-system "$KUBERNETES_CLUSTER_FOLDER"
    }
    trap clean_up EXIT
    # The end of the first process of a process namespace ends all others.
    status=0
    unshare --mount --net --uts --pid --fork --mount-proc --kill-child "$0" "$@" || status=$?
    exit "$status"
fi

folder=$KUBERNETES_CLUSTER_FOLDER
cd "$folder"
mkdir bin cni
# containerd, its network plugins and kubelet write to these folders, which no option changes.
for place in /run /var/log /var/lib/cni; do
    mkdir -p "$place"
    mount -t tmpfs tmpfs "$place"
done
hostname klatch-node
ip link set dev lo up
# The node needs an address and a route, even if nothing is behind it.
ip link add name uplink type bridge
ip address add 10.79.0.1/24 dev uplink
ip link set dev uplink up
ip route add default via 10.79.0.254 dev uplink

wait_for() { # what is waited for, command that succeeds when it is there
    local what=$1 end=$((SECONDS + 90))
    shift
    until "$@" >/dev/null 2>&1; do
        [ "$SECONDS" -lt "$end" ] || { tail -n 5 ./*.log >&2; fail "$what is not there after 90 s"; }
        sleep 0.2
    done
}

openssl genrsa -out service-accounts.key 2048 2>/dev/null
echo "miniature,admin,admin,system:masters" >tokens.csv
export KUBECONFIG=$folder/kubeconfig
cat >"$KUBECONFIG" <<'CONFIG'
apiVersion: v1
kind: Config
current-context: miniature
contexts: [{name: miniature, context: {cluster: miniature, user: admin}}]
clusters: [{name: miniature, cluster: {server: "https://127.0.0.1:6443", insecure-skip-tls-verify: true}}]
users: [{name: admin, user: {token: miniature}}]
CONFIG

etcd --data-dir "$folder/etcd" --unsafe-no-fsync >etcd.log 2>&1 &
kube-apiserver --etcd-servers=http://127.0.0.1:2379 --service-cluster-ip-range=10.80.0.0/24 --secure-port=6443 \
    --bind-address=127.0.0.1 --advertise-address=10.79.0.1 --cert-dir="$folder/certificates" --authorization-mode=AlwaysAllow \
    --token-auth-file=tokens.csv --disable-admission-plugins=ServiceAccount --service-account-issuer=https://klatch.invalid \
    --service-account-key-file=service-accounts.key --service-account-signing-key-file=service-accounts.key \
    --kubelet-preferred-address-types=InternalIP >apiserver.log 2>&1 &
wait_for "the API server" kubectl get --raw /readyz
kube-controller-manager --kubeconfig="$KUBECONFIG" --leader-elect=false --allocate-node-cidrs=false >controllers.log 2>&1 &
kube-scheduler --kubeconfig="$KUBECONFIG" --leader-elect=false >scheduler.log 2>&1 &

cat >containerd.toml <<CONFIG
version = 2
root = "$folder/containerd"
state = "$folder/containerd-state"
[grpc]
  address = "$folder/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "localhost/pause:1"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$folder/cni"
CONFIG
cat >cni/bridge.conflist <<CONFIG
{"cniVersion": "0.4.0", "name": "pods", "plugins": [{"type": "bridge", "bridge": "pods", "isGateway": true,
  "ipam": {"type": "host-local", "subnet": "10.78.0.0/24", "dataDir": "$folder/cni-data"}}]}
CONFIG
containerd --config containerd.toml >containerd.log 2>&1 &
cat >bin/import <<SCRIPT
#!/bin/sh
exec ctr --address "$folder/containerd.sock" --namespace k8s.io images import "\$@"
SCRIPT
chmod +x bin/import
export PATH=$folder/bin:$PATH
wait_for "containerd" ctr --address containerd.sock version

# The process that keeps the namespaces of a Pod. Its usual image is in a registry.
buildah() { command buildah --root "$folder/images" --runroot "$folder/images-state" --storage-driver vfs "$@"; }
pause=$(buildah from scratch)
buildah copy --quiet "$pause" "$(command -v busybox)" /busybox >/dev/null
buildah config --entrypoint '["/busybox", "sleep", "2147483647"]' "$pause"
buildah push --quiet "$(buildah commit --quiet "$pause" localhost/pause:1)" "oci-archive:$folder/pause.tar:localhost/pause:1"
import pause.tar >/dev/null

cat >kubelet.yaml <<CONFIG
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}
authorization: {mode: AlwaysAllow}
containerRuntimeEndpoint: "unix://$folder/containerd.sock"
cgroupDriver: cgroupfs
cgroupsPerQOS: false
enforceNodeAllocatable: []
failCgroupV1: false
failSwapOn: false
localStorageCapacityIsolation: false
oomScoreAdj: 0
resolvConf: ""
evictionHard: {memory.available: "0%", nodefs.available: "0%", imagefs.available: "0%", nodefs.inodesFree: "0%", imagefs.inodesFree: "0%"}
CONFIG
kubelet --kubeconfig="$KUBECONFIG" --config=kubelet.yaml --root-dir="$folder/kubelet" --node-ip=10.79.0.1 \
    --hostname-override=klatch-node >kubelet.log 2>&1 &
wait_for "the node" kubectl wait --for=condition=Ready --timeout=1s node/klatch-node
wait_for "the default namespace" kubectl get namespace default

cd "$OLDPWD"
status=0
"$@" || status=$?
kubectl delete --all pods,jobs,statefulsets --grace-period=0 --force >/dev/null 2>&1 || true
exit "$status"
