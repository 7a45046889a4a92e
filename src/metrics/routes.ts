import { string } from "../core/schema-parts.ts";
import { NotFound } from "../core/errors.ts";
import { text } from "../http/reply.ts";
import { route } from "../http/route.ts";
import { EXPOSITION_TYPE } from "./exposition.ts";
import { requireToken } from "./token.ts";

interface Needs {
  /** `undefined` if the deployment does not expose its metrics. */
  readonly metrics: MetricsSource | undefined;
}

/** The metrics, and who may read them. */
export interface MetricsSource {
  /** The token that a reader must send; `undefined` if everyone may read. */
  readonly token: string | undefined;
  readonly text: () => Promise<string>;
}

/** The route of the metrics: without a prefix, since they describe the process and not an organization. */
export const metricsRoutes = [
  route({
    method: "GET",
    path: "/metrics",
    large: "made",
    surfaces: ["portal"],
    access: "open",
    summary: "Metrics in the Prometheus text format",
    description:
      "The status is 404 while `METRICS` is `off`. If `METRICS` is a token, requests send it as a bearer token.",
    tags: ["health"],
    headers: {
      authorization: string("The token of `METRICS` as a bearer token."),
    },
    replies: { 200: "text/plain" },
    refuses: [401, 404],
    async handle({ headers }, { metrics }: Needs) {
      if (metrics === undefined) throw new NotFound("There is nothing at this path");
      if (metrics.token !== undefined) requireToken(metrics.token, headers.authorization);
      return text(200, EXPOSITION_TYPE, await metrics.text());
    },
  }),
];
