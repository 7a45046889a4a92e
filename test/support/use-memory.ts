/** Imported before a journey, it makes the journey run on the engine in memory. */
import { memoryEngine } from "./memory-engine.ts";
import { useEngine } from "./start.ts";

useEngine(memoryEngine);
