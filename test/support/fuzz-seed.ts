/** Loaded before a test file: every property then begins with the given seed. */
import fc from "fast-check";

const { FUZZ_SEED: seed, FUZZ_SIZE: size } = process.env;
if (seed !== undefined) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(seed) });
// By default a possibly long list has at most ten elements: enough for an ordinary run of the tests.
if (size === "medium") fc.configureGlobal({ ...fc.readConfigureGlobal(), baseSize: size });
