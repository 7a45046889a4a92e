/** Real file systems of a few MiB, for tests that may mount one; other tests are skipped with a message. */
import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import type { TestContext } from "node:test";

const MIB = 1 << 20;
const BLOCK_BYTES = 4096;
/** `packed_meta_blocks` puts all metadata of ext4, including the journal, into this part. */
const METADATA_BYTES = 8 * MIB;
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

/** An ext4 with a journal, in a sparse file on a tmpfs. */
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
    const layout = "packed_meta_blocks=1,lazy_itable_init=0,lazy_journal_init=0";
    const options = ["-q", "-F", "-b", String(BLOCK_BYTES), "-J", "size=4", "-E", layout];
    if (run(t, "mkfs.ext4", ...options, image) === undefined) return undefined;
    await occupy(image, METADATA_BYTES);
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

  /** Fills the file system below, except for some KiB, so that writes beyond them fail. */
  async takeRoomBelow(leftKib: number): Promise<void> {
    await fill(join(this.#below, "filler"), leftKib);
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

/** Writes the beginning of a sparse file again unchanged, so that its blocks are allocated. */
async function occupy(path: string, bytes: number): Promise<void> {
  const file = await open(path, "r+");
  try {
    const buffer = Buffer.alloc(bytes);
    await file.read(buffer, 0, bytes, 0);
    await file.write(buffer, 0, bytes, 0);
  } finally {
    await file.close();
  }
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
