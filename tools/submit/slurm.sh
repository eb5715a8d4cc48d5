#!/bin/sh
# An array job of Slurm: a task for each shard. 'warplens sweep --submit' replaces the words between @ signs.
# The variables of sbatch apply, such as SBATCH_PARTITION, SBATCH_ACCOUNT and SBATCH_TIMELIMIT.
# submit: sbatch @SCRIPT@
#SBATCH --job-name=warplens-sweep
#SBATCH --array=1-@SHARDS@
#SBATCH --ntasks=1
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=@SCRIPT@.%a.log
cd @FOLDER@ || exit
exec @COMMAND@ --shard "$SLURM_ARRAY_TASK_ID/@SHARDS@"
