# Films: many readers of the active ones, and one writer that puts a new one in an old one's place
# every `repintval` seconds. `eventrate` bounds the readers together, in MiB a second.
set $dir = /volume
set $eventrate = 96
set $filesize = 10g
set $nthreads = 48
set $numactivevids = 32
set $numpassivevids = 194
set $reuseit = false
set $readiosize = 256k
set $writeiosize = 1m
set $repintval = 10

eventgen rate=$eventrate

define fileset name=active, path=$dir, size=$filesize, entries=$numactivevids, dirwidth=4,
	prealloc, paralloc, reuse=$reuseit
define fileset name=passive, path=$dir, size=$filesize, entries=$numpassivevids, dirwidth=20,
	prealloc=50, paralloc, reuse=$reuseit

define process name=writer, instances=1
{
	thread name=writer, memsize=10m, instances=1
	{
		flowop deletefile     name=old-delete, filesetname=passive
		flowop createfile     name=new-create, filesetname=passive, fd=1
		flowop writewholefile name=new-write, iosize=$writeiosize, fd=1, srcfd=1
		flowop closefile      name=new-close, fd=1
		flowop delay          name=pause, value=$repintval
	}
}

define process name=reader, instances=1
{
	thread name=reader, memsize=10m, instances=$nthreads
	{
		flowop read    name=film-read, filesetname=active, iosize=$readiosize
		flowop bwlimit name=limit, target=film-read
	}
}

run 60
