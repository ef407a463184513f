// libseccomp (seccomp_init(3)). The action that answers with an errno is a macro over a number there.
#pragma once
#include <errno.h>
#include <seccomp.h>

static inline uint32_t portcullis_seccomp_answer(int error) { return SCMP_ACT_ERRNO((uint32_t)error); }
