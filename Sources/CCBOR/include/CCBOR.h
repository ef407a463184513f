// libcbor's streaming decoder (cbor_stream_decode), the only part of it that is used: it allocates nothing.
#pragma once
#include <cbor.h>
