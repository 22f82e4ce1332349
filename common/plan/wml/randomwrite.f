# One file, writes of blocks at random places.
set $dir = /volume
set $filesize = 5g
set $iosize = 8k
set $nthreads = 1
set $workingset = 0
set $directio = 0

define file name=large, path=$dir, size=$filesize, prealloc, reuse, paralloc

define process name=random-io, instances=1
{
	thread name=random-io, memsize=5m, instances=$nthreads
	{
		flowop write name=random-write, filename=large, iosize=$iosize, random,
			workingset=$workingset, directio=$directio
	}
}

run 60
