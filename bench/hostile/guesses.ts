/** The effect of password guesses from many networks on sign-ins with the right password. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Started } from "../processes.ts";
import { latencies, requireStatuses, resident, type Finding } from "./finding.ts";
import { ADMIN } from "./measures.ts";
import { timed } from "./wire.ts";

const FLOOD_MS = 20_000;
/** At their first guess all networks are equal, so the measurement begins a little later. */
const HEAD_START_MS = 2_000;
const CLIENTS = 100;

/**
 * 100 clients guess at the victim's email and at others, while the victim signs in from a new address each
 * time.
 *
 * @param networks the number of networks that guess; `Infinity` if each guess comes from a new network. New
 *   networks are equal then, so the victim signs in from an address where it has signed in before
 */
export function guesses(networks: number) {
  const repeats = Number.isFinite(networks);
  return async ({ url, pid }: Started): Promise<readonly Finding[]> => {
    const stop = performance.now() + FLOOD_MS;
    let isStopped = false;
    const isOver = (): boolean => isStopped || performance.now() > stop;
    const signIn = (email: string, password: string, address: string) =>
      timed(`${url}/api/v1/auth/login`, {
        method: "POST",
        body: JSON.stringify({ email, password }),
        headers: { "X-Forwarded-For": address },
      });
    let [tried, guessed] = [0, 0];
    const addressOf = (network: number): string =>
      repeats ? `198.51.${network}.1` : `${11 + (++tried % 180)}.${Math.floor(tried / 180)}.1.1`;
    await signIn(ADMIN.email, ADMIN.password, "203.0.113.0");
    const guess = async (network: number): Promise<void> => {
      for (let i = 0; !isOver(); i++) {
        const email = i % 2 === 0 ? ADMIN.email : `user${i}@example.com`;
        const { status } = await signIn(email, "a guess at it", addressOf(network));
        requireStatuses("A guess", [status], [401, 429]);
        if (status === 401) guessed++;
        else await sleep(500);
      }
    };
    const right: number[] = [];
    const health: number[] = [];
    const flood = Promise.all(Array.from({ length: CLIENTS }, (_, i) => guess(i % networks)));
    try {
      await sleep(HEAD_START_MS);
      while (!isOver()) {
        const host = repeats ? right.length % 250 : 0;
        const login = await signIn(ADMIN.email, ADMIN.password, `203.0.113.${host}`);
        requireStatuses("A right password beside guesses", [login.status], [200]);
        right.push(login.ms);
        for (let i = 0; i < 10; i++) {
          const { status, ms } = await timed(`${url}/health`);
          requireStatuses("/health", [status], [200]);
          health.push(ms);
        }
      }
    } finally {
      isStopped = true;
      await flood;
    }
    const what = `${guessed} guesses from ${repeats ? networks : "ever new"} networks`;
    return [
      latencies(`right logins beside ${what}, all let in`, right, 0.95),
      latencies("/health beside them", health, 0.99, 100),
      resident("the service beside them", pid),
    ];
  };
}
