import { activityRoutes } from "./activity/routes.ts";
import { auditExportRoutes } from "./audit/export-routes.ts";
import { otlpRoutes } from "./audit/otlp/routes.ts";
import { eventRoutes } from "./audit/event-routes.ts";
import { auditRoutes } from "./audit/routes.ts";
import { auditStreamRoutes } from "./audit/stream-routes.ts";
import { catalogRoutes } from "./catalog/routes.ts";
import { dashboardRoutes } from "./dashboard/routes.ts";
import { fleetRoutes } from "./fleet/routes.ts";
import type { NeedsOf, Route } from "./http/route.ts";
import { keyRoutes } from "./keys/routes.ts";
import { metadataRoutes } from "./metadata/routes.ts";
import { metricsRoutes } from "./metrics/routes.ts";
import { organizationRoutes } from "./organizations/routes.ts";
import { policyRoutes } from "./policies/routes.ts";
import { policySchemaRoutes } from "./policies/schema-routes.ts";
import { draftRoutes } from "./portal/server/draft-routes.ts";
import { ruleRoutes } from "./portal/server/rule-routes.ts";
import { portalRoutes } from "./portal/server/routes.ts";
import { signedLogRoutes } from "./signed-logs/routes.ts";
import { providerRoutes } from "./providers/routes.ts";
import { publishRoutes } from "./replay/publish-routes.ts";
import { replayRoutes } from "./replay/routes.ts";
import { rolloutRoutes } from "./rollouts/routes.ts";
import { settingsRoutes } from "./settings/routes.ts";
import { userRoutes } from "./users/routes.ts";

const rows = [
  ...policyRoutes,
  ...publishRoutes,
  ...replayRoutes,
  ...rolloutRoutes,
  ...draftRoutes,
  ...ruleRoutes,
  ...signedLogRoutes,
  ...auditRoutes,
  ...eventRoutes,
  ...auditExportRoutes,
  ...auditStreamRoutes,
  ...otlpRoutes,
  ...fleetRoutes,
  ...dashboardRoutes,
  ...providerRoutes,
  ...catalogRoutes,
  ...userRoutes,
  ...organizationRoutes,
  ...keyRoutes,
  ...settingsRoutes,
  ...activityRoutes,
  ...policySchemaRoutes,
  ...metadataRoutes,
  ...metricsRoutes,
  ...portalRoutes,
];

/** All services that the rows need; a composition root that forgets one does not compile. */
export type Services = NeedsOf<typeof rows>;

/** THE route table: every endpoint of the service, in the order of the documents. */
export const routes: readonly Route<Services>[] = rows;
