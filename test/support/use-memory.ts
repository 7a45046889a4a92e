/** Imported before a journey, it lets that journey run on the engine in memory. */
import { memoryEngine } from "./memory-engine.ts";
import { useEngine } from "./start.ts";

useEngine(memoryEngine);
