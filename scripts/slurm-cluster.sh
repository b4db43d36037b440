#!/usr/bin/env bash
# Runs a command on a Slurm cluster in miniature: a controller, where the command runs, and the nodes alpha, beta and gamma.
#
# Each is a network namespace with a name and an address of its own, on one bridge. All processes are in one process namespace, so
# none of them survives the command. The file system is that of this machine, as a shared disk would be. Needs root.
# usage: slurm-cluster.sh COMMAND [ARGUMENT…]        for example: slurm-cluster.sh srun --nodes=3 hostname
set -euo pipefail

fail() {
    echo "slurm-cluster.sh: $1" >&2
    exit 2
}

[ $# -gt 0 ] || fail "usage: slurm-cluster.sh COMMAND [ARGUMENT…]"
if [ -z "${SLURM_CLUSTER_FOLDER:-}" ]; then
    [ "$(id -u)" -eq 0 ] || fail "needs root: run it with sudo"
    PATH=$PATH:/usr/sbin:/sbin
    for program in slurmctld:slurm-wlm slurmd:slurm-wlm ip:iproute2 unshare:util-linux; do
        command -v "${program%%:*}" >/dev/null || fail "needs ${program%%:*}; install it: apt-get install ${program##*:}"
    done
    SLURM_CLUSTER_FOLDER=$(mktemp -d)
    export PATH SLURM_CLUSTER_FOLDER
    trap 'rm -rf "$SLURM_CLUSTER_FOLDER"' EXIT
    # The end of the first process of a process namespace ends all others.
    status=0
    unshare --mount --net --uts --pid --fork --mount-proc --kill-child "$0" "$@" || status=$?
    exit "$status"
fi

folder=$SLURM_CLUSTER_FOLDER
nodes=(alpha beta gamma)
mkdir "$folder/state" "$folder/spool"
{
    echo "127.0.0.1 localhost"
    echo "10.77.0.1 ctl"
    for i in "${!nodes[@]}"; do echo "10.77.0.$((i + 2)) ${nodes[i]}"; done
} >"$folder/hosts"
mount --bind "$folder/hosts" /etc/hosts
hostname ctl

cat >"$folder/slurm.conf" <<CONF
ClusterName=miniature
SlurmctldHost=ctl(10.77.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/none
CredType=cred/none
StateSaveLocation=$folder/state
SlurmctldPidFile=$folder/slurmctld.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdSpoolDir=$folder/spool/%n
SlurmdPidFile=$folder/slurmd-%n.pid
SlurmdLogFile=$folder/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0
MpiDefault=none
ReturnToService=2
KillWait=5
SlurmdTimeout=10
MessageTimeout=5
NodeName=alpha NodeAddr=10.77.0.2 CPUs=2 State=UNKNOWN
NodeName=beta NodeAddr=10.77.0.3 CPUs=2 State=UNKNOWN
NodeName=gamma NodeAddr=10.77.0.4 CPUs=2 State=UNKNOWN
PartitionName=load Nodes=alpha,beta,gamma Default=YES MaxTime=10 State=UP
CONF
export SLURM_CONF=$folder/slurm.conf

ip link set dev lo up
ip link add name bridge type bridge
ip address add 10.77.0.1/24 dev bridge
ip link set dev bridge up
slurmctld
for i in "${!nodes[@]}"; do
    node=${nodes[i]}
    mkdir "$folder/spool/$node"
    # The namespace exists as long as this process, which waits for the end of everything.
    unshare --net --uts sleep infinity &
    holder=$!
    until [ "$(readlink "/proc/$holder/ns/net")" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.01; done
    ip link add name "to-$node" type veth peer name eth0 netns "$holder"
    ip link set dev "to-$node" master bridge up
    within=(nsenter --target "$holder" --net --uts)
    "${within[@]}" ip link set dev lo up
    "${within[@]}" ip address add "10.77.0.$((i + 2))/24" dev eth0
    "${within[@]}" ip link set dev eth0 up
    "${within[@]}" hostname "$node"
    "${within[@]}" slurmd -N "$node"
    echo "$holder" >"$folder/$node.pid"
done
for _ in $(seq 300); do
    [ "$(sinfo --noheader --format=%D --states=idle 2>/dev/null)" = "${#nodes[@]}" ] && break
    sleep 0.1
done
[ "$(sinfo --noheader --format=%D --states=idle)" = "${#nodes[@]}" ] || {
    tail -n 20 "$folder"/*.log >&2
    fail "the nodes did not come up"
}
"$@"
