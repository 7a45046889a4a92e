#!/usr/bin/env node
/** The `signalbox` program. The guard is loaded alone, because each command of an agent waits for it. */
import { requireNode } from "./cli/require-node.ts";

requireNode();
await (process.argv[2] === "guard" ? import("./guard/main.ts") : import("./cli/start.ts"));
