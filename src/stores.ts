import type { Engine, EngineParts } from "./engine.ts";
import { openFileEngine } from "./storage/files/engine.ts";

/**
 * Opens the storage engine of a deployment: files in the data directory.
 *
 * @throws Error when the directory cannot be used
 */
export function openEngine(parts: EngineParts): Promise<Engine> {
  return openFileEngine(parts);
}
