/** Loaded before a test file: from here on every property begins with the seed that is given. */
import fc from "fast-check";

const { FUZZ_SEED: seed, FUZZ_SIZE: size } = process.env;
if (seed !== undefined) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(seed) });
// As it is, a list that may be long has ten elements at most: enough for each run of the tests.
if (size === "medium") fc.configureGlobal({ ...fc.readConfigureGlobal(), baseSize: size });
