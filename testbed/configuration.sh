# Writes the configuration of the cluster. Sourced by start.sh, which sets `folder`, `first_port`,
# `me` and `communication`.
#
# The nodes are names, not machines: each slurmd listens on a port of its own at 127.0.0.1 and
# believes what is written here about cores and memory. Jobs over their memory are killed by Slurm's
# own sampling (OverMemoryKill), so no control groups are needed and it runs in a container.

nodes=(n1 n2 n3 big1 gpu1 gpu2)

write_configuration() {
  local database_port=$first_port controller_port=$((first_port + 1)) port=$((first_port + 2)) device
  cat >"$folder/etc/slurm.conf" <<END
ClusterName=testbed
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=$controller_port
SlurmUser=$me
SlurmdUser=$me
$communication
AuthType=auth/munge
AuthInfo=socket=$folder/run/munge.socket
CredType=cred/munge
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool/%n
SlurmctldPidFile=$folder/run/slurmctld.pid
SlurmdPidFile=$folder/run/slurmd.%n.pid
SlurmctldLogFile=$folder/log/slurmctld.log
SlurmdLogFile=$folder/log/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
SlurmdParameters=config_overrides
PropagateResourceLimits=NONE
ReturnToService=2
SlurmctldTimeout=30
SlurmdTimeout=60
# tests are in a hurry
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=2,sched_min_interval=0,bf_interval=2,batch_sched_delay=0
KillWait=2
CompleteWait=0
MinJobAge=300
MaxArraySize=10001
MaxJobCount=20000
JobRequeue=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=500
PriorityType=priority/basic
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
GresTypes=gpu
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort=$database_port
AccountingStoragePass=$folder/run/munge.socket
AccountingStorageTRES=gres/gpu,gres/gpu:a100,gres/gpu:v100
AccountingStoreFlags=job_comment,job_script
JobCompType=jobcomp/none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill
NodeName=DEFAULT State=UNKNOWN Boards=1
NodeName=n1 NodeAddr=127.0.0.1 NodeHostname=n1 Port=$port CPUs=4 SocketsPerBoard=1 CoresPerSocket=4 ThreadsPerCore=1 RealMemory=8000 Feature=small
NodeName=n2 NodeAddr=127.0.0.1 NodeHostname=n2 Port=$((port + 1)) CPUs=4 SocketsPerBoard=1 CoresPerSocket=4 ThreadsPerCore=1 RealMemory=8000 Feature=small
NodeName=n3 NodeAddr=127.0.0.1 NodeHostname=n3 Port=$((port + 2)) CPUs=8 SocketsPerBoard=1 CoresPerSocket=4 ThreadsPerCore=2 RealMemory=16000 Feature=threads
NodeName=big1 NodeAddr=127.0.0.1 NodeHostname=big1 Port=$((port + 3)) CPUs=32 SocketsPerBoard=2 CoresPerSocket=16 ThreadsPerCore=1 RealMemory=512000 Feature=big
NodeName=gpu1 NodeAddr=127.0.0.1 NodeHostname=gpu1 Port=$((port + 4)) CPUs=8 SocketsPerBoard=1 CoresPerSocket=8 ThreadsPerCore=1 RealMemory=64000 Gres=gpu:a100:2 Feature=a100
NodeName=gpu2 NodeAddr=127.0.0.1 NodeHostname=gpu2 Port=$((port + 5)) CPUs=8 SocketsPerBoard=1 CoresPerSocket=8 ThreadsPerCore=1 RealMemory=64000 Gres=gpu:v100:4 Feature=v100
PartitionName=DEFAULT State=UP PriorityTier=10
PartitionName=debug Nodes=n[1-3] Default=YES DefaultTime=5 MaxTime=60 TRESBillingWeights=CPU=1.0,Mem=0.25G
PartitionName=batch Nodes=n[1-3] DefaultTime=60 MaxTime=7-00:00:00 MaxNodes=3 TRESBillingWeights=CPU=1.0,Mem=0.25G
PartitionName=large Nodes=big1 MaxTime=UNLIMITED MaxMemPerNode=400000
PartitionName=gpu Nodes=gpu[1-2] DefaultTime=30 MaxTime=1-00:00:00 DefMemPerCPU=1000 MaxCPUsPerNode=6 TRESBillingWeights=CPU=1.0,Mem=0.1G,GRES/gpu=8.0
PartitionName=spare Nodes=n[1-3],big1 MaxTime=UNLIMITED PriorityTier=1 PreemptMode=REQUEUE
END
  # A GPU must be a device file; it is looked at but never opened, so any will do.
  {
    echo AutoDetect=off
    for device in null zero; do echo "NodeName=gpu1 Name=gpu Type=a100 File=/dev/$device"; done
    for device in null zero full random; do echo "NodeName=gpu2 Name=gpu Type=v100 File=/dev/$device"; done
  } >"$folder/etc/gres.conf"
  # slurmd loads a control-group plugin whether or not it is used; version 1 asks nothing of the system.
  echo CgroupPlugin=cgroup/v1 >"$folder/etc/cgroup.conf"
  (
    umask 077 # slurmdbd refuses a file that others may read
    rm -f "$folder/etc/slurmdbd.conf"
    cat >"$folder/etc/slurmdbd.conf" <<END
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort=$database_port
$communication
SlurmUser=$me
AuthType=auth/munge
AuthInfo=socket=$folder/run/munge.socket
PidFile=$folder/run/slurmdbd.pid
LogFile=$folder/log/slurmdbd.log
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=root
StorageLoc=accounting
END
  )
  # Clients may run where this machine's name is not the loopback address: they need no binding rule.
  grep -v '^CommunicationParameters=' "$folder/etc/slurm.conf" >"$folder/client/slurm.conf"
  echo "export SLURM_CONF='$folder/client/slurm.conf'" >"$folder/environment.sh"
}
