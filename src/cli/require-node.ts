/** The oldest Node that runs Signalbox: `engines` in package.json. */
const OLDEST = { major: 20, minor: 19 };

/**
 * Ends the process with one sentence if Node is too old. An older Node fails while it links the program's modules, before
 * any of them runs. So the entry files import nothing but this, and load the program after it has returned.
 */
export function requireNode(): void {
  const { node } = process.versions;
  const [major = 0, minor = 0] = node.split(".").map(Number);
  if (major > OLDEST.major || (major === OLDEST.major && minor >= OLDEST.minor)) return;
  const oldest = `${OLDEST.major}.${OLDEST.minor}`;
  process.stderr.write(`Signalbox needs Node ${oldest} or later, this is Node ${node}\n`);
  process.exit(1);
}
