#include "CCBOR.h"
