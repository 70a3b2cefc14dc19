// Everything an application needs. Includes only.
#pragma once

#include <tessera/buffer.h>
#include <tessera/cache.h>
#include <tessera/device.h>
#include <tessera/error.h>
#include <tessera/host_operand.h>
#include <tessera/kernel.h>
#include <tessera/launch_facts.h>
#include <tessera/log.h>
#include <tessera/operators.h>
#include <tessera/own_kernel.h>
#include <tessera/prepared_weights.h>
#include <tessera/queue.h>
#include <tessera/stream.h>
#include <tessera/trace.h>
#include <tessera/tuning.h>
#include <tessera/types.h>
#include <tessera/version.h>
