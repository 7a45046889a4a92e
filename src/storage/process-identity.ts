import { readFile, readlink } from "node:fs/promises";
import { hostname } from "node:os";

/**
 * The identity of a process. The number alone is not unique: the system reuses it, and the server of a
 * container is number 1 every time. What `/proc` says is `null` if the system has none.
 */
export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks from boot to the start of the process. */
  readonly started: string | null;
  /** The kernel's random id of this boot. */
  readonly boot: string | null;
  /** The PID namespace, in which the number counts: each container has its own. */
  readonly namespace: string | null;
  readonly host: string;
}

/** The identity of this process. */
export async function ownIdentity(): Promise<ProcessIdentity> {
  const boot = await readFile("/proc/sys/kernel/random/boot_id", "utf8").catch(() => undefined);
  const namespace = await readlink("/proc/self/ns/pid").catch(() => null);
  const { started } = await startOf(process.pid);
  return { pid: process.pid, started, boot: boot?.trim() ?? null, namespace, host: hostname() };
}

/**
 * Whether a process of this host is still running; `undefined` for one of another PID namespace, or where this
 * process cannot read its own: the number may be another process here. In doubt the answer is true: a lock that is
 * kept too long is a nuisance, but a lock that is taken over too early costs data.
 */
export async function isAlive(
  owner: ProcessIdentity,
  self: ProcessIdentity,
): Promise<boolean | undefined> {
  if (differ(owner.boot, self.boot)) return false;
  if (owner.namespace !== null && owner.namespace !== self.namespace) return undefined;
  if (!processExists(owner.pid)) return false;
  const { started, isZombie } = await startOf(owner.pid);
  if (isZombie) return false;
  return owner.started === null || started === null || owner.started === started;
}

/** Whether two facts are known and differ. */
function differ(one: string | null, other: string | null): boolean {
  return one !== null && other !== null && one !== other;
}

function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0); // signal 0 only checks
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH"; // EPERM: another user's process
  }
}

/** Reads `/proc/<pid>/stat`: field 3 is the state, field 22 the start; see proc_pid_stat(5). */
async function startOf(pid: number): Promise<{ started: string | null; isZombie: boolean }> {
  const stat = await readFile(`/proc/${pid}/stat`, "latin1").catch(() => "");
  // Field 2 is the program's name in parentheses, which may itself contain spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return { started: fields[19] ?? null, isZombie: fields[0] === "Z" };
}
