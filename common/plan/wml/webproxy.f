# A cache of pages: one goes, one comes in, five are served. `eventrate` bounds the operations a
# second (0: no bound).
set $dir = /volume
set $nfiles = 10000
set $meandirwidth = 1000000
set $filesize = 16k
set $nthreads = 100
set $iosize = 1m
set $meanappendsize = 16k
set $eventrate = 0

eventgen rate=$eventrate

define fileset name=cache, path=$dir, size=$filesize, entries=$nfiles, dirwidth=$meandirwidth,
	prealloc=80

# One page served from the cache.
define flowop name=hit
{
	flowop openfile      name=open, filesetname=cache, fd=1
	flowop readwholefile name=read, iosize=$iosize, fd=1
	flowop closefile     name=close, fd=1
}

define process name=proxy, instances=1
{
	thread name=visitor, memsize=10m, instances=$nthreads
	{
		flowop deletefile     name=evict, filesetname=cache
		flowop createfile     name=store-create, filesetname=cache, fd=1
		flowop appendfilerand name=store-append, iosize=$meanappendsize, fd=1
		flowop closefile      name=store-close, fd=1
		flowop hit            name=hit, iters=5
		flowop opslimit       name=limit
	}
}

run 60
