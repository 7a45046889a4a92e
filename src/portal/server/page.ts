import { Yielder } from "../../core/scheduling/yielder.ts";
import type { QueryOf, QueryParameters } from "../../http/query.ts";
import { text, type Reply } from "../../http/reply.ts";
import type { Asker } from "../../core/scheduling/turns.ts";
import { route } from "../../http/route.ts";
import type { Page } from "../../metadata/service.ts";
import { html, type Html } from "../html.ts";
import { layOut, type PortalFrame } from "./layout.ts";
import { modeOf } from "./mode.ts";
import type { DataPage } from "../pages/source.ts";
import { storeSource, type StoreNeeds } from "./store-source.ts";

/** The common part of the rows of pages. */
export const PAGE = {
  method: "GET",
  surfaces: ["portal"],
  access: "open",
  tags: ["portal"],
  large: "made",
  replies: { 200: "text/html" },
} as const;

/** Declares the row of a page that shows data. */
export function pageRow<const Q extends QueryParameters, Model>(
  page: DataPage<Model, Q>,
  path: string,
  summary: string,
) {
  return route({
    ...PAGE,
    path,
    summary,
    description: "HTML for people. It contains data only where anyone may read that data.",
    query: page.parameters,
    refuses: [500],
    handle: async ({ query, client }, needs: PortalFrame & StoreNeeds) =>
      sendPage(await makePage(page, query, needs, client)),
  });
}

/** Makes a page: with its data where anyone may read it, otherwise as a shell that its module fills. */
export async function makePage<Q extends QueryParameters, Model>(
  page: DataPage<Model, Q>,
  query: QueryOf<Q>,
  needs: PortalFrame & StoreNeeds,
  asker: Asker,
): Promise<Page> {
  const { description } = needs;
  const mode = modeOf(description, page.isManagement);
  const { isOpen, prefix } = mode;
  const now = description.now();
  const { path, module } = page;
  const context = { now, apiUrl: description.baseUrl() + prefix, needsCredential: !isOpen };
  const source = storeSource(needs, now, prefix, asker);
  const model = isOpen ? await page.read(source, context, query) : undefined;
  const made = model ? page.render(model) : shell(needs, page.title, context.apiUrl);
  const body = "next" in made ? await new Yielder().run(made) : made;
  const title = (model && page.titleOf?.(model)) ?? page.title;
  const further = needs.proofs && page.signedModule;
  return layOut(needs, { path, title, module, further, now, body, mode });
}

/** Sends a page that may change with every request. */
export function sendPage({ html: markup, headers }: Page): Reply {
  return text(200, "text/html; charset=utf-8", markup, headers);
}

/** The page without data; `apiUrl` is the address of the API with its prefix. */
function shell({ assets }: PortalFrame, title: string, apiUrl: string): Html {
  const curl = `curl -H 'X-API-Key: <api_key>' '${apiUrl}/audit?limit=20'`;
  return html`<div class="page-head"><h1>${title}</h1></div>
    ${
      assets.hasModules
        ? html`<p class="loading needs-modules" role="status">Loading…</p>`
        : html`<p class="notice warn">
            The modules of the portal are not built, and users cannot sign in without them. Run
            <code>npm run build</code> and start the service again.
          </p>`
    }
    <noscript>
      <div class="notice">
        <p>
          This service asks its readers to sign in, and signing in needs JavaScript. Allow
          JavaScript for this address in the browser's settings, and load the page again.
        </p>
        <p>
          Without JavaScript the same data can be read with an API key, see the
          <a href="/portal/api">API reference</a>:
        </p>
        <pre><code>${curl}</code></pre>
      </div>
    </noscript>`;
}
