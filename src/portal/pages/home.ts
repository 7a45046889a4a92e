import { metadataDocument } from "../../metadata/documents.ts";
import type { Page, ServiceDescription } from "../../metadata/service.ts";
import { PREFIXES } from "../../http/route.ts";
import { curlLine } from "../curl.ts";
import { html, type Html } from "../html.ts";
import { layOut, shellLines } from "../layout.ts";

/** The front page: what this is, that it runs, how to use it, and where everything stands. */
export function homePage(description: ServiceDescription): Page {
  const { version, surfaces, contracts, metadata } = metadataDocument(description);
  const body = html`
    <h1>Signalbox</h1>
    <p class="lede">
      The control plane of command-line runtimes. They fetch a policy here, decide by themselves,
      and report what they ran.
    </p>
    <dl class="facts">
      <div>
        <dt>Status</dt>
        <dd><span class="lamp"></span>Running</dd>
      </div>
      ${fact("Version", version.version)} ${fact("Up for", duration(version.uptime_seconds))}
      ${fact("Environment", description.environment)} ${fact("Edition", description.edition)}
      ${fact("Credentials", description.requireAuth() ? "Required on /api/v1" : "Not required")}
    </dl>
    <h2>First steps</h2>
    ${firstSteps(description)}
    <h2>Surfaces</h2>
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th scope="col">Prefix</th>
            <th scope="col">For whom</th>
            <th scope="col">Credentials</th>
          </tr>
        </thead>
        <tbody>
          ${surfaces.map(
            ({ prefix, audience, auth }) =>
              html`<tr>
                <td><code>${prefix}</code></td>
                <td>${audience}</td>
                <td>${auth}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
    <h2>Documents</h2>
    <ul>
      <li><a href="/portal/api">Every operation, with a command to try it</a></li>
      ${links({ ...contracts, ...metadata })}
    </ul>
  `;
  return layOut({ path: "/", title: "Signalbox", body });
}

function fact(name: string, value: string): Html {
  return html`<div>
    <dt>${name}</dt>
    <dd>${value}</dd>
  </div>`;
}

function links(targets: Readonly<Record<string, string>>): readonly Html[] {
  const paths = new Set(Object.values(targets).map((url) => new URL(url)));
  const distinct = [...new Set([...paths].map(({ pathname }) => pathname))];
  return distinct.map((path) => html`<li><a href="${path}">${path}</a></li>`);
}

function firstSteps(description: ServiceDescription): readonly Html[] {
  const isPublic = description.publicSurface === "open";
  const base = description.baseUrl() + PREFIXES[isPublic ? "public" : "v1"];
  const needsKey = !isPublic && description.requireAuth();
  const key = needsKey ? ["X-API-Key: <api_key>"] : [];
  const token = needsKey ? ["Authorization: Bearer <token>"] : [];
  const steps = [
    {
      title: "Publish a policy",
      request: {
        method: "POST",
        url: `${base}/policies`,
        headers: token,
        body: { version: "v1", yaml: "default: deny\nrules: []\n" },
      },
    },
    {
      title: "Fetch the active policy, as a runtime does",
      request: { method: "GET", url: `${base}/policies?active=true`, headers: key },
    },
    {
      title: "Report a command",
      request: {
        method: "POST",
        url: `${base}/audit`,
        headers: key,
        body: { command: "git status", executor: "ada", policy_decision: "ALLOWED", policy: "v1" },
      },
    },
    {
      title: "Say that a runtime is alive",
      request: {
        method: "POST",
        url: `${base}/fleet/heartbeat`,
        headers: key,
        body: { name: "build-1", policy_version: "v1" },
      },
    },
  ];
  return steps.map(
    ({ title, request }) =>
      html`<h3>${title}</h3>
        ${shellLines(curlLine(request))}`,
  );
}

/** Writes a number of seconds in its two largest units: `3 d 4 h`, `12 min 5 s`. */
function duration(seconds: number): string {
  const parts = [
    [Math.floor(seconds / 86_400), "d"],
    [Math.floor(seconds / 3_600) % 24, "h"],
    [Math.floor(seconds / 60) % 60, "min"],
    [seconds % 60, "s"],
  ] as const;
  const first = parts.findIndex(([amount]) => amount > 0);
  if (first === -1) return "0 s";
  return parts
    .slice(first, first + 2)
    .map(([amount, unit]) => `${amount} ${unit}`)
    .join(" ");
}
