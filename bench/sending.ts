/** Sends audit events to a server, some requests at a time, for measurements of the server's processor time. */
import { Agent, request } from "node:http";

const AT_ONCE = 32;
const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });

/** Posts all bodies to the audit route of a server, in order of their places, 32 at a time. */
export async function sendAll(url: string, bodies: readonly string[]): Promise<void> {
  let next = 0;
  const send = async (): Promise<void> => {
    for (let body = bodies[next++]; body !== undefined; body = bodies[next++])
      await post(url, body);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, send));
}

/** Closes the connections. */
export function stopSending(): void {
  agent.destroy();
}

function post(url: string, body: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
    };
    const sent = request(
      `${url}/api/public/audit`,
      { method: "POST", agent, headers },
      (answer) => {
        answer.resume().once("end", () => {
          if (answer.statusCode === 202) resolve();
          else reject(new Error(`The server answered ${answer.statusCode}`));
        });
      },
    );
    sent.once("error", reject).end(body);
  });
}
