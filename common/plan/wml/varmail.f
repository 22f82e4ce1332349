# A mail spool with one file a message: delete one, deliver one, read and answer one, read one.
# Each delivery and each answer is on the disk (fsync) before the loop goes on.
set $dir = /volume
set $nfiles = 1000
set $meandirwidth = 1000000
set $filesize = cvar(type=cvar-gamma, parameters=mean:16384;gamma:1.5)
set $nthreads = 16
set $iosize = 1m
set $meanappendsize = 16k

define fileset name=spool, path=$dir, size=$filesize, entries=$nfiles, dirwidth=$meandirwidth,
	prealloc=80

define process name=mail, instances=1
{
	thread name=mailbox, memsize=10m, instances=$nthreads
	{
		flowop deletefile     name=delete, filesetname=spool

		flowop createfile     name=deliver-create, filesetname=spool, fd=1
		flowop appendfilerand name=deliver-append, iosize=$meanappendsize, fd=1
		flowop fsync          name=deliver-fsync, fd=1
		flowop closefile      name=deliver-close, fd=1

		flowop openfile       name=answer-open, filesetname=spool, fd=1
		flowop readwholefile  name=answer-read, iosize=$iosize, fd=1
		flowop appendfilerand name=answer-append, iosize=$meanappendsize, fd=1
		flowop fsync          name=answer-fsync, fd=1
		flowop closefile      name=answer-close, fd=1

		flowop openfile       name=read-open, filesetname=spool, fd=1
		flowop readwholefile  name=read-read, iosize=$iosize, fd=1
		flowop closefile      name=read-close, fd=1
	}
}

run 60
