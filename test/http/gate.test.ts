import assert from "node:assert/strict";
import type { RequestListener } from "node:http";
import { test } from "node:test";
import { Gate } from "../../src/http/gate.ts";
import { listen } from "../../src/http/server.ts";
import { Connection } from "./connection.ts";
import { until } from "./serve.ts";

test("a request whose client leaves while the service is renewed still reaches the listener, to be recorded", async (t) => {
  const seen: [url: string | undefined, isCut: boolean][] = [];
  const listener: RequestListener = ({ url, socket }, response) => {
    seen.push([url, socket.destroyed]);
    response.end();
  };
  let isDue = true;
  let waiting = 0;
  let renewed = (_: RequestListener): void => {};
  const renewal = new Promise<RequestListener>((resolve) => (renewed = resolve));
  const gate = new Gate(
    {
      isDue: () => isDue,
      endStreams: () => {},
      renew: () => renewal,
      onFailure: (error) => assert.fail(String(error)),
      requestIds: () => "id",
      onAnswered: () => {},
    },
    () => assert.fail("the old service is asked"),
  );
  const left: string[] = [];
  const server = await listen(
    (request, response) => {
      waiting++;
      request.socket.once("close", () => left.push(String(request.url)));
      gate.listener(request, response);
    },
    { host: "127.0.0.1", port: 0 },
    () => "id",
  );
  t.after(() => server.close());
  const [leaving, staying] = [1, 2].map(() => new Connection(server.bound.port)) as [
    Connection,
    Connection,
  ];
  t.after(() => staying.socket.destroy());
  leaving.send("GET /cut HTTP/1.1\r\nHost: a\r\n\r\n");
  await until(() => waiting === 1);
  staying.send("GET /kept HTTP/1.1\r\nHost: a\r\n\r\n");
  await until(() => waiting === 2);
  leaving.socket.destroy();
  await until(() => left.length === 1);
  isDue = false;
  renewed(listener);
  assert.equal((await staying.next()).status, 200);
  assert.deepEqual(seen, [
    ["/cut", true],
    ["/kept", false],
  ]);
});
