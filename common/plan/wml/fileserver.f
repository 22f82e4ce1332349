# Home folders of many users: write a new file, add to one, read one, delete one, look at one.
set $dir = /volume
set $nfiles = 10000
set $meandirwidth = 20
set $filesize = cvar(type=cvar-gamma, parameters=mean:131072;gamma:1.5)
set $nthreads = 50
set $iosize = 1m
set $meanappendsize = 16k

define fileset name=homes, path=$dir, size=$filesize, entries=$nfiles, dirwidth=$meandirwidth,
	prealloc=80

define process name=server, instances=1
{
	thread name=user, memsize=10m, instances=$nthreads
	{
		flowop createfile     name=new-create, filesetname=homes, fd=1
		flowop writewholefile name=new-write, iosize=$iosize, srcfd=1, fd=1
		flowop closefile      name=new-close, fd=1

		flowop openfile       name=add-open, filesetname=homes, fd=1
		flowop appendfilerand name=add-append, iosize=$meanappendsize, fd=1
		flowop closefile      name=add-close, fd=1

		flowop openfile       name=read-open, filesetname=homes, fd=1
		flowop readwholefile  name=read-read, iosize=$iosize, fd=1
		flowop closefile      name=read-close, fd=1

		flowop deletefile     name=delete, filesetname=homes
		flowop statfile       name=stat, filesetname=homes
	}
}

run 60
