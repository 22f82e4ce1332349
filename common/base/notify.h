/* Telling a service manager how far we are: the protocol of sd_notify(3), one datagram a message. */
#ifndef COMMON_BASE_NOTIFY_H
#define COMMON_BASE_NOTIFY_H

/* A socket connected to the address in NOTIFY_SOCKET, which is taken out of the environment so that
 * no child answers for us; -1 where no one waits. The caller closes it. */
int notify_open(void);
/* "READY=1", "STOPPING=1". Does nothing for -1; never waits; what cannot be told is not. */
void notify_say(int fd, const char *text);

#endif
