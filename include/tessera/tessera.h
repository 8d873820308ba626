#pragma once

/// The public interface of Tessera: tiles, kernels, keys, relations and the algebra over them,
/// databases and SQL.

#include "tessera/database.h"
#include "tessera/error.h"
#include "tessera/events.h"
#include "tessera/ia.h"
#include "tessera/kernel.h"
#include "tessera/key.h"
#include "tessera/optimizer.h"
#include "tessera/placement.h"
#include "tessera/plan.h"
#include "tessera/relation.h"
#include "tessera/run.h"
#include "tessera/session.h"
#include "tessera/tile.h"
#include "tessera/trace.h"
#include "tessera/workload.h"
