/* The commented plan that `plan new` writes: it parses as it stands. */
#ifndef COORDINATOR_CTL_STARTER_H
#define COORDINATOR_CTL_STARTER_H

extern const char starter_plan[];

#endif
