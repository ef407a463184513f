// libqrencode (qrencode.h).
#pragma once
#include <qrencode.h>
