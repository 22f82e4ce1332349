/* The agent's own verb `give-folder`: hands a folder that was just made to another account. */
#ifndef AGENT_VOLUME_FOLDER_H
#define AGENT_VOLUME_FOLDER_H

/*
 * give-folder --owner UID:GID -- PATH
 *
 * PATH is absolute. Unlike chown, which goes by names, it follows no symlink in any part of PATH and
 * gives away only an empty folder of our own: whoever may write in the folder above can put something
 * else under the name at any moment. argv[0] is the verb. Returns the exit status: 0, 1 (failed,
 * nothing was changed), 2 (usage).
 */
int folder_main(int argc, char **argv);

#endif
