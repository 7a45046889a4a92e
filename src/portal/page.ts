import type { Awaitable } from "../core/caller.ts";
import { Yielder } from "../core/yielder.ts";
import type { Work } from "../core/work.ts";
import { text, type Reply } from "../http/reply.ts";
import type { Page } from "../metadata/service.ts";
import { html, type Html } from "./html.ts";
import { layOut, type PortalFrame } from "./layout.ts";
import { modeOf, type PortalMode } from "./mode.ts";
import type { PageContext } from "./pages/parts.ts";

/** A page that shows data: how it is loaded here, and how it is shown anywhere. */
export interface DataPage<Model> {
  readonly path: string;
  readonly title: string;
  /** The entry of `browser/entries/` that loads the same model from the API. */
  readonly module: string;
  /** Reads the model of the default organization from the stores. */
  readonly load: (context: PageContext) => Awaitable<Model>;
  /** What may take long is made part by part. */
  readonly render: (model: Model) => Html | Work<Html>;
  /** How it gets its data, where that is not how most pages do. */
  readonly mode?: PortalMode;
}

/** What every page's row has in common. */
export const PAGE = {
  method: "GET",
  surfaces: ["portal"],
  access: "open",
  tags: ["portal"],
  large: "made",
  replies: { 200: "text/html" },
} as const;

/** Makes a page: with its data where anybody may read that, else as a shell that its module fills. */
export async function makePage<Model>(frame: PortalFrame, page: DataPage<Model>): Promise<Page> {
  const { description } = frame;
  const mode = page.mode ?? modeOf(description);
  const { isOpen, prefix } = mode;
  const now = description.now();
  const { path, title, module } = page;
  const context = { now, apiUrl: description.baseUrl() + prefix, needsCredential: !isOpen };
  const made = isOpen ? page.render(await page.load(context)) : shell(frame, title);
  const body = "next" in made ? await new Yielder().run(made) : made;
  return layOut(frame, { path, title, module, now, body, mode });
}

/** Sends a page that may be another the next time. */
export function sendPage({ html: markup, headers }: Page): Reply {
  return text(200, "text/html; charset=utf-8", markup, headers);
}

function shell({ assets }: PortalFrame, title: string): Html {
  return html`<div class="page-head"><h1>${title}</h1></div>
    ${
      assets.hasModules
        ? html`<p class="loading" role="status">Loading…</p>`
        : html`<p class="notice warn">
            The modules of the portal are not built, and without them nobody can sign in. Run
            <code>npm run build</code> and start the service again.
          </p>`
    }
    <noscript>
      <p class="notice">
        This service asks for credentials, which the portal keeps out of cookies and addresses: it
        needs JavaScript to sign in. The <a href="/portal/api">API reference</a> works without.
      </p>
    </noscript>`;
}
