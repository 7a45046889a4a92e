/** Loaded before a test file: from here on every property begins with the seed that is given. */
import fc from "fast-check";

const seed = process.env["FUZZ_SEED"];
if (seed !== undefined) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(seed) });
