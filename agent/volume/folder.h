/*
 * The agent's own verbs `give-folder` and `empty-folder`: a folder in somebody's directory is handed
 * to the workers' account, and emptied again.
 */
#ifndef AGENT_VOLUME_FOLDER_H
#define AGENT_VOLUME_FOLDER_H

/*
 * give-folder --owner UID:GID -- PATH
 *     Unlike chown, which goes by names, it follows no symlink in any part of PATH and gives away only
 *     an empty folder of our own: whoever may write in the folder above can put something else under
 *     the name at any moment.
 * empty-folder --owner UID:GID -- PATH
 *     Removes what is in PATH as that user: whatever somebody moved there, nothing goes that the
 *     owner's own rights would not let go. PATH itself stays. As an ordinary user: as ourselves.
 *
 * PATH is absolute. argv[0] is the verb. Returns the exit status: 0, 1 (failed), 2 (usage).
 */
int folder_main(int argc, char **argv);

#endif
