#include "CQRencode.h"
