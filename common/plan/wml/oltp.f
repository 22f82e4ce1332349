# A database: many readers of random blocks, some writers of dirty blocks, one writer of the log.
# `eventrate` bounds the reads a second (0: no bound); `usermode` is how long a reader computes.
set $dir = /volume
set $eventrate = 0
set $iosize = 2k
set $nshadows = 200
set $ndbwriters = 10
set $usermode = 200000
set $filesize = 10m
set $nfiles = 10
set $logfilesize = 10m
set $nlogfiles = 1
set $logiosize = 256k
set $memperthread = 1m
set $workingset = 0
set $directio = 0

eventgen rate=$eventrate

define fileset name=tables, path=$dir, size=$filesize, entries=$nfiles, dirwidth=1024,
	prealloc=100, reuse
define fileset name=log, path=$dir, size=$logfilesize, entries=$nlogfiles, dirwidth=1024,
	prealloc=100, reuse

define process name=log-writer, instances=1
{
	thread name=log-writer, memsize=$memperthread, useism
	{
		flowop aiowrite name=log-write, filesetname=log, iosize=$logiosize, random,
			directio=$directio, dsync
		flowop aiowait  name=log-wait
		flowop semblock name=log-block, value=3200, highwater=1000
	}
}

define process name=writer, instances=$ndbwriters
{
	thread name=writer, memsize=$memperthread, useism
	{
		flowop aiowrite name=block-write, filesetname=tables, iosize=$iosize,
			workingset=$workingset, random, iters=100, opennext, directio=$directio, dsync
		flowop hog      name=writer-compute, value=10000
		flowop semblock name=writer-block, value=1000, highwater=2000
		flowop aiowait  name=block-wait
	}
}

define process name=reader, instances=$nshadows
{
	thread name=reader, memsize=$memperthread, useism
	{
		flowop read       name=block-read, filesetname=tables, iosize=$iosize,
			workingset=$workingset, random, opennext, directio=$directio
		flowop hog        name=reader-compute, value=$usermode
		flowop sempost    name=wake-log, value=1, target=log-block, blocking
		flowop sempost    name=wake-writer, value=1, target=writer-block, blocking
		flowop eventlimit name=read-rate
	}
}

run 60
