/** Real file systems of a few MiB, for tests that may mount one; other tests are skipped with a message. */
import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import type { TestContext } from "node:test";

const BLOCK_BYTES = 4096;
const BLOCK_KIB = BLOCK_BYTES / 1024;
/** The directory of a tmpfs in which an ext4 is mounted. */
const MOUNTED = "mounted";

/** A tmpfs of some MiB, removed when the test ends; `undefined` if mounting is not allowed. */
export async function mountTmpfs(t: TestContext, mebibytes: number): Promise<string | undefined> {
  const path = await mkdtemp(join(tmpdir(), "signalbox-disk-"));
  t.after(async () => {
    for (const mounted of [join(path, MOUNTED), path]) detach(mounted);
    await rm(path, { recursive: true, force: true });
  });
  const done = run(t, "mount", "-t", "tmpfs", "-o", `size=${mebibytes}m`, "tmpfs", path);
  return done === undefined ? undefined : path;
}

/** An ext4 with a journal, in a file on a tmpfs. */
export class Ext4 {
  readonly path: string;
  readonly #below: string;
  readonly #t: TestContext;

  private constructor(t: TestContext, below: string) {
    this.#t = t;
    this.#below = below;
    this.path = join(below, MOUNTED);
  }

  /** Makes and mounts an ext4; `undefined` if that is not allowed. */
  static async make(t: TestContext): Promise<Ext4 | undefined> {
    const below = await mountTmpfs(t, 20);
    if (below === undefined) return undefined;
    const disk = new Ext4(t, below);
    await mkdir(disk.path);
    const image = disk.#image;
    if (run(t, "truncate", "-s", "16M", image) === undefined) return undefined;
    const options = ["-q", "-F", "-b", String(BLOCK_BYTES), "-J", "size=4", "-m", "0"];
    if (run(t, "mkfs.ext4", ...options, image) === undefined) return undefined;
    execFileSync("fallocate", ["--length", "16M", image]);
    return (await disk.mount()) ? disk : undefined;
  }

  get #image(): string {
    return join(this.#below, "image");
  }

  /**
   * Mounts it over a loop device with requests of a single block. When only the beginning of a
   * request fits below, a loop device reports the whole as done (seen on Linux 6.18, with `dd`
   * alone), which would be a disk that lies; a single block fits or fails.
   */
  async mount(): Promise<boolean> {
    const device = run(this.#t, "losetup", "--find", "--show", this.#image)?.trim();
    if (device === undefined) return false;
    try {
      const queue = `/sys/block/${basename(device)}/queue`;
      await writeFile(`${queue}/max_sectors_kb`, String(BLOCK_BYTES / 1024));
      return run(this.#t, "mount", device, this.path) !== undefined;
    } catch (error) {
      this.#t.skip(`${device} cannot be set up here: ${(error as Error).message}`);
      return false;
    } finally {
      execFileSync("losetup", ["--detach", device], { stdio: "pipe" }); // takes effect when it is unmounted
    }
  }

  unmount(): void {
    execFileSync("umount", [this.path], { stdio: "pipe" });
  }

  /**
   * Lets a file grow by some KiB, and fails all that is written to it beyond them. The other blocks of the ext4 have
   * their room below: the kernel writes metadata at any time, and ends the journal of a disk where that fails.
   */
  async takeRoomBelow(leftKib: number, path: string): Promise<void> {
    const { size } = await stat(path);
    const end = Math.ceil(size / BLOCK_BYTES);
    const reserved = ["--keep-size", "--offset", String(end * BLOCK_BYTES), "--length", "2M", path];
    execFileSync("fallocate", reserved);
    await fill(join(this.path, "filler"), 64);
    for (const { first, last, place } of extentsOf(path)) {
      const from = Math.max(first, end + leftKib / BLOCK_KIB);
      if (from > last) continue;
      const offset = String((place + from - first) * BLOCK_BYTES);
      const length = String((last + 1 - from) * BLOCK_BYTES);
      const hole = ["--punch-hole", "--offset", offset, "--length", length, this.#image];
      execFileSync("fallocate", hole);
    }
    await fill(join(this.#below, "filler"), 0);
  }

  async giveRoomBelow(): Promise<void> {
    await rm(join(this.#below, "filler"));
  }

  /** Fills the ext4 itself, except for some KiB. */
  async takeRoom(leftKib: number): Promise<void> {
    await fill(join(this.path, "filler"), leftKib);
  }

  async giveRoom(): Promise<void> {
    await rm(join(this.path, "filler"));
  }
}

/** A part of a file that lies in one piece on its device, in blocks. */
interface Extent {
  readonly first: number;
  readonly last: number;
  /** The block of the device. */
  readonly place: number;
}

function extentsOf(path: string): readonly Extent[] {
  const told = execFileSync("filefrag", ["-s", "-v", `-b${BLOCK_BYTES}`, path]).toString();
  return Array.from(told.matchAll(/^ *\d+: *(\d+)\.\. *(\d+): *(\d+)\.\./gm), (found) => {
    const [first = NaN, last = NaN, place = NaN] = found.slice(1).map(Number);
    return { first, last, place };
  });
}

/** Writes a file that fills its file system, except for some KiB. */
export async function fill(path: string, leftKib: number): Promise<void> {
  const told = execFileSync("df", ["--output=avail", "--block-size=1K", dirname(path)]).toString();
  const free = Number(told.trim().split("\n").at(-1));
  await writeFile(path, Buffer.alloc((free - leftKib) * 1024), { flush: true });
}

/** Unmounts when no file in it is open any more; a failed test may still have one open. */
function detach(path: string): void {
  try {
    execFileSync("umount", ["--lazy", path], { stdio: "pipe" });
  } catch {
    // It was not mounted.
  }
}

/** Runs a command that needs rights or tools; without them the test is skipped with a message. */
function run(t: TestContext, command: string, ...args: string[]): string | undefined {
  try {
    return execFileSync(command, args, { stdio: "pipe" }).toString();
  } catch (error) {
    const [reason] = (error as Error).message.split("\n");
    t.skip(`"${command}" cannot be used here: ${reason}`);
    return undefined;
  }
}
