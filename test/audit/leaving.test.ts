import assert from "node:assert/strict";
import { test } from "node:test";
import { cursorOf } from "../../src/audit/cursor.ts";
import type { AuditRows, AuditStore } from "../../src/audit/store.ts";
import { createApiKey } from "../../src/auth/api-key.ts";
import { createCallerResolver } from "../../src/auth/caller.ts";
import { createTokenIssuer } from "../../src/auth/tokens.ts";
import type { Awaitable } from "../../src/core/caller.ts";
import { HOUR_MS } from "../../src/core/clock.ts";
import type { Searcher } from "../../src/core/scheduling/fair-share.ts";
import { ClientGone } from "../../src/http/waiting-client.ts";
import type { NeedsOf, Route } from "../../src/http/route.ts";
import { PortalAssets } from "../../src/portal/server/assets.ts";
import { portalRoutes } from "../../src/portal/server/routes.ts";
import { serve, until } from "../http/serve.ts";
import { EventStream } from "../support/event-stream.ts";
import { describeService } from "../support/service-description.ts";
import { MemoryAudit } from "../support/memory-audit.ts";
import { serveAudit } from "./serve-audit.ts";
import { NOON } from "./store-suite.ts";

/** A store whose queries run until their clients have disconnected. */
class EndlessAudit extends MemoryAudit {
  searching = 0;

  override page(...[, , , , searcher]: Parameters<AuditStore["page"]>): never {
    return this.#search(searcher);
  }

  override histogram(...[, , , , , searcher]: Parameters<AuditStore["histogram"]>): never {
    return this.#search(searcher);
  }

  override export(...[, , searcher]: Parameters<AuditStore["export"]>): never {
    return this.#search(searcher);
  }

  #search(searcher: Searcher | undefined): never {
    const signal = searcher?.gone as AbortSignal;
    this.searching++;
    const searching = new Promise((_, reject) => {
      signal.addEventListener("abort", () => {
        this.searching--;
        reject(signal.reason as Error);
      });
    });
    return searching as never;
  }
}

const CURSOR = cursorOf(Buffer.from("[1,1]"), "default", {});

for (const path of ["", `?cursor=${CURSOR}`, "/histogram", "/export", "/export?format=csv"]) {
  test(`a client that disconnects ends the search of /audit${path.slice(0, 12)}`, async (t) => {
    const store = new EndlessAudit();
    const app = await serveAudit(t, {}, store);
    const connection = app.open();
    connection.send(`GET /api/public/audit${path} HTTP/1.1`, "Host: test", "", "");
    await until(() => store.searching === 1);
    connection.socket.destroy();
    await until(() => store.searching === 0 && app.summaries.length === 1);
    const [summary] = app.summaries;
    assert.equal(summary?.status, 499);
    assert.ok(summary.error instanceof ClientGone);
  });
}

test("few texts are searched for at a time, and lists without a text do not wait for them", async (t) => {
  const store = new EndlessAudit();
  const app = await serveAudit(t, {}, store);
  const ask = (path: string) => {
    const connection = app.open();
    connection.send(`GET /api/public/audit${path} HTTP/1.1`, "Host: test", "", "");
    return connection;
  };
  const searches = ["?q=a", "/histogram?q=b", "/export?q=c", "?q=d"].map(ask);
  await until(() => app.requests.length === 4 && store.searching === 2);
  ask("?executor=ada");
  await until(() => store.searching === 3);
  searches[0]?.socket.destroy();
  await until(() => app.summaries.length === 1 && store.searching === 3);
});

for (const path of ["", `?cursor=${CURSOR}`]) {
  test(`a client that disconnects ends the search of the audit page${path.slice(0, 8)}`, async (t) => {
    const audit = new EndlessAudit();
    const rows = portalRoutes.filter(({ path: own }) => own === "/portal/audit");
    const description = describeService(rows);
    const needs = { audit, description, assets: new PortalAssets(new Map()) };
    const app = await serve(t, rows as readonly Route<never>[] as Route<unknown>[], {
      services: needs as Partial<NeedsOf<typeof portalRoutes>>, // all that the page asks first
    });
    const connection = app.open();
    connection.send(`GET /portal/audit${path} HTTP/1.1`, "Host: test", "", "");
    await until(() => audit.searching === 1);
    connection.socket.destroy();
    await until(() => audit.searching === 0 && app.summaries.length === 1);
    assert.ok(app.summaries[0]?.error instanceof ClientGone);
  });
}

/** A store that records the signals of its queries. */
class HeardAudit extends MemoryAudit {
  readonly signals: AbortSignal[] = [];

  override page(
    ...[organization, filter, limit, start, searcher]: Parameters<AuditStore["page"]>
  ): Awaitable<AuditRows> {
    if (searcher?.gone !== undefined) this.signals.push(searcher.gone);
    return super.page(organization, filter, limit, start);
  }
}

test("a client that was answered does not count as disconnected", async (t) => {
  const store = new HeardAudit();
  const app = await serveAudit(t, {}, store);
  for (let answered = 1; answered <= 3; answered++) {
    const response = await fetch(`${app.url}/api/public/audit`);
    assert.equal(response.status, 200);
    await response.text();
  }
  assert.deepEqual(
    store.signals.slice(0, 2).map(({ aborted }) => aborted),
    [false, false],
  );
});

test("a stream ends when its token expires or is ended, or its key is revoked", async (t) => {
  const secret = "a secret of more than thirty-two bytes";
  let time = NOON;
  const now = () => time;
  const { text, hash } = createApiKey();
  const known = { id: "k", name: "agents", scopes: "runtime", organization_id: "default" };
  const key = { ...known, revoked: false };
  const user = {
    ...{ id: "u", email: "u@example.com", role: "admin", active: true },
    ...{ organization_id: "default", credential_version: 1 },
  };
  const resolveCaller = createCallerResolver({
    ...{ requireAuth: () => true, roles: "carried", secret, now },
    users: { findById: () => user },
    keys: { findByHash: (given) => (given === hash ? key : undefined), touch: () => {} },
  });
  const store = new MemoryAudit();
  const app = await serveAudit(t, { keepAliveMs: 2 }, store, { resolveCaller });
  const issuer = createTokenIssuer(secret, 1, now);
  const openWith = async (headers: Readonly<Record<string, string>>): Promise<EventStream> => {
    const stream = await EventStream.open(app.url, "/api/v1/audit/stream", headers);
    t.after(() => stream.close());
    assert.equal(stream.status, 200);
    while ((await stream.block())?.comment === undefined); // checked at least once, and continued
    return stream;
  };
  const token = (): Readonly<Record<string, string>> => ({
    Authorization: `Bearer ${issuer.issue(user).token}`,
  });
  for (const [headers, spoil] of [
    [token(), () => (time += HOUR_MS)],
    [{ "X-API-Key": text }, () => (key.revoked = true)],
    [token, () => user.credential_version++],
    [token, () => (user.active = false)],
  ] as const) {
    const stream = await openWith(typeof headers === "function" ? headers() : headers);
    assert.equal(store.tails, 1);
    spoil();
    while (await stream.block());
    assert.ok(stream.response.complete, "an end, and not a cut");
    assert.equal(store.tails, 0);
  }
});
