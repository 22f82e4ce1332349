# Pages that are read, ten for each line added to the one log.
set $dir = /volume
set $nfiles = 1000
set $meandirwidth = 20
set $filesize = cvar(type=cvar-gamma, parameters=mean:16384;gamma:1.5)
set $nthreads = 100
set $iosize = 1m
set $meanappendsize = 16k

define fileset name=pages, path=$dir, size=$filesize, entries=$nfiles, dirwidth=$meandirwidth,
	prealloc=100, readonly
define fileset name=log, path=$dir, size=$filesize, entries=1, dirwidth=$meandirwidth, prealloc

# One page.
define flowop name=page
{
	flowop openfile      name=open, filesetname=pages, fd=1
	flowop readwholefile name=read, iosize=$iosize, fd=1
	flowop closefile     name=close, fd=1
}

define process name=server, instances=1
{
	thread name=visitor, memsize=10m, instances=$nthreads
	{
		flowop page           name=page, iters=10
		flowop appendfilerand name=log-append, filesetname=log, iosize=$meanappendsize, fd=2
	}
}

run 60
